"""A checked tree as a drawing wants it: titles, details and modifiers in a few words each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from orchestrator.treefile.model import Expression, Modifiers, Template, Tree, TreeNode, text_of
from orchestrator.yamlfile.characters import one_line

_DURATION = "duration"


@dataclass(frozen=True, slots=True)
class Drawn:
    """One box. `kind` is a node's kind, or a part of a node: then, else, finally."""

    kind: str
    title: str
    details: str
    modifiers: tuple[str, ...]
    children: tuple[Drawn, ...]


def outline(tree: Tree) -> Drawn:
    """The whole tree, used files included."""
    root = (_node(tree.root),) if tree.root is not None else ()
    words = [f"require {condition.text}" for condition in tree.require]
    if tree.pause is not None:
        words.append(f"pause when {tree.pause[0].text} until {tree.pause[1].text}")
    robot = f"for {tree.robot.name}" if tree.robot else ""
    return Drawn("tree", tree.name, robot, tuple(map(one_line, words)), root)


def _node(node: TreeNode) -> Drawn:
    modifiers = tuple(map(one_line, _modifiers(node.modifiers)))
    return Drawn(node.kind, _title(node), one_line(_details(node)), modifiers, tuple(_children(node)))


def _title(node: TreeNode) -> str:
    what = node.leaf.name if node.leaf else node.kind
    name = node.modifiers.name
    return what if name is None else f"{_text(name, 'text')} ({what})"


def _details(node: TreeNode) -> str:
    if node.leaf is not None:
        given = [(name, value) for name, value in node.values.items() if value != node.leaf.params[name].default]
        types = {name: param.type.of or param.type for name, param in node.leaf.params.items()}
        parts = [f"{name}: {_text(value, types[name].kind)}" for name, value in given]
        parts += [f"{_name(key)}: {expression.text}" for key, expression in node.sets.items()]
        return ", ".join(parts)
    if node.condition is not None:
        return node.condition.text
    return _details_of_kind(node)


def _details_of_kind(node: TreeNode) -> str:
    words = []
    if node.file is not None:
        words.append(node.file)
        words += [f"{_name(key)}: {_text(value, 'text')}" for key, value in node.passed.items()]
        words += [f"require {condition.text}" for condition in node.require]
    if not node.memory:
        words.append("every tick from the start")
    if node.kind == "parallel" and (node.succeed != "all" or node.fail is not None):
        words.append(f"succeed {node.succeed}" + (f", fail {node.fail}" if node.fail is not None else ""))
    return ", ".join(words)


def _children(node: TreeNode) -> Iterator[Drawn]:
    if node.kind == "if":
        yield Drawn("then", "then", "", (), tuple(map(_node, node.children)))
        if node.otherwise is not None:
            yield Drawn("else", "else", "", (), tuple(map(_node, node.otherwise)))
    else:
        yield from map(_node, node.children)
    if node.modifiers.finally_:
        yield Drawn("finally", "finally", "", (), tuple(map(_node, node.modifiers.finally_)))


def _modifiers(modifiers: Modifiers) -> Iterator[str]:
    """In the order of their nesting; `finally` is drawn as a box."""
    for word in ("when", "unless"):
        if (condition := getattr(modifiers, word)) is not None:
            yield f"{word} {condition.text}"
    if modifiers.save is not None:
        yield f"save {_name(modifiers.save)}"
    if modifiers.result is not None:
        yield f"result {modifiers.result}"
    for word, condition in (("while", modifiers.while_), ("until", modifiers.until)):
        if condition is not None:
            yield f"{word} {condition.text}"
    if modifiers.cooldown is not None:
        yield f"cooldown {_text(modifiers.cooldown, _DURATION)}"
    if modifiers.confirm is not None:
        yield f"confirm “{_text(modifiers.confirm, 'text')}”"
    if modifiers.delay is not None:
        yield f"delay {_text(modifiers.delay, _DURATION)}"
    yield from _rounds(modifiers)
    if modifiers.timeout is not None:
        yield f"timeout {_text(modifiers.timeout, _DURATION)}"


def _rounds(modifiers: Modifiers) -> Iterator[str]:
    if isinstance(modifiers.repeat, Expression):
        yield f"repeat until {modifiers.repeat.text}"
    elif modifiers.repeat is not None:
        yield f"repeat {modifiers.repeat}"
    if modifiers.for_each is not None:
        key, values = modifiers.for_each
        yield f"for_each {_name(key)} in {_text(values, '')}"
    if modifiers.retry is not None:
        wait = "" if modifiers.retry_wait is None else f" (wait {_text(modifiers.retry_wait, _DURATION)})"
        yield f"retry {modifiers.retry}{wait}"


def _name(key: str) -> str:
    """A name as it is written: without the use of the file and the node it belongs to."""
    return key.rpartition("/")[2].partition("@")[0]


def _text(value: Any, kind: str) -> str:
    if isinstance(value, Expression):
        return value.text
    if isinstance(value, Template):
        return one_line("".join(part if isinstance(part, str) else f"${_name(part[0])}" for part in value.parts))
    if isinstance(value, dict):
        return ", ".join(f"{joint} {_text(angle, 'angle')}" for joint, angle in value.items())
    if isinstance(value, list):
        return f"[{', '.join(_text(item, kind) for item in value)}]"
    return one_line(text_of(value, kind))
