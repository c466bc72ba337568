"""Every way to edit a list of children is noticed."""

from collections.abc import Callable

import pytest
from py_trees.behaviours import Success
from py_trees.composites import Sequence

from orchestrator.engine.children import Children, watched_children

EDITS: dict[str, Callable[[Children], object]] = {
    "append": lambda children: children.append(Success("new")),
    "extend": lambda children: children.extend([Success("new")]),
    "insert": lambda children: children.insert(0, Success("new")),
    "remove": lambda children: children.remove(children[0]),
    "pop": lambda children: children.pop(),
    "clear": lambda children: children.clear(),
    "sort": lambda children: children.sort(key=lambda child: child.name),
    "reverse": lambda children: children.reverse(),
    "item": lambda children: children.__setitem__(0, Success("new")),
    "slice": lambda children: children.__setitem__(slice(None), []),
    "delete": lambda children: children.__delitem__(slice(None)),
    "+=": lambda children: children.__iadd__([Success("new")]),
    "*=": lambda children: children.__imul__(2),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_takes_the_list_from_its_holders_and_is_what_it_is_for_a_list(edit: str) -> None:
    children = watched_children(Sequence("root", False, [Success("b"), Success("a")]))
    plain = list(children)
    names: dict[str, object] = {"mine": children, "edits": []}
    exec("def holder(): pass", names)
    children.held_by(names["holder"], "mine")  # type: ignore[arg-type]
    EDITS[edit](children)
    assert names["mine"] is None
    assert names["edits"]
    EDITS[edit](plain)  # type: ignore[arg-type]
    assert [child.name for child in children] == [child.name for child in plain]


def test_reading_is_no_edit_and_a_list_is_watched_once() -> None:
    root = Sequence("root", False, [Success("a")])
    children = watched_children(root)
    assert watched_children(root) is children
    assert children == root.children
    assert [*children, children.index(children[0]), children.copy()]
