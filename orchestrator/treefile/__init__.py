"""The tree language: a file to a checked tree.

    checked = check_file(Path("trees/deliver.yaml"), Surroundings(installed(), fields, robot=atom_w))
    print(checked.findings.render())
    if checked.ok:
        engine.build(checked.tree)

Catalogue, field table and robot are passed in. `Tree` and `TreeNode` are what the engine builds from; an `Expression`
is evaluated with `expression.evaluate(read, store)`: `read` gives a field by name, `store` the saved names by key, and
None stands for unknown.
"""

from orchestrator.treefile.check import Checked, check_file
from orchestrator.treefile.file import Surroundings
from orchestrator.treefile.model import (
    NOT_CONSTANT,
    Expression,
    Modifiers,
    Template,
    Tree,
    TreeNode,
    TreeParam,
)

__all__ = [
    "NOT_CONSTANT",
    "Checked",
    "Expression",
    "Modifiers",
    "Surroundings",
    "Template",
    "Tree",
    "TreeNode",
    "TreeParam",
    "check_file",
]
