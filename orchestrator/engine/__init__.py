"""A checked tree to a running one, with py_trees' nodes and semantics."""

from orchestrator.engine.builder import BuiltTree, build
from orchestrator.engine.compile import compile_tree
from orchestrator.engine.prompts import NoAnswer, Prompts, Question
from orchestrator.engine.run import FieldSource, StopRun
from orchestrator.engine.runner import Outcome, Runner
from orchestrator.engine.substitution import Substitutes, load_substitutes

__all__ = [
    "BuiltTree",
    "FieldSource",
    "NoAnswer",
    "Outcome",
    "Prompts",
    "Question",
    "Runner",
    "StopRun",
    "Substitutes",
    "build",
    "compile_tree",
    "load_substitutes",
]
