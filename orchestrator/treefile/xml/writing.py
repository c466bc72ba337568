"""From tree files to XML of BehaviorTree.CPP v4."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.leaf import Catalogue, Declaration
from orchestrator.leaf.words import KINDS, MODIFIERS
from orchestrator.treefile.leaf_facts import default_text, type_text
from orchestrator.treefile.xml.document import Element, comment, written
from orchestrator.treefile.xml.plain import Plain, flow, plain
from orchestrator.treefile.xml.values import condition_out, milliseconds, value_out
from orchestrator.yamlfile import Findings, read_file

RESULTS = {"inverted": "Inverter", "success": "ForceSuccess", "failure": "ForceFailure"}
CONDITION_NODES = {"check": "Check", "wait_for": "WaitFor"}
"""Our own nodes for conditions that a script cannot express."""
# A tree may not be called like a node: those of BehaviorTree.CPP and the words it keeps for itself.
_RESERVED = frozenset((
    "root", "Root", "Action", "Condition", "Control", "Decorator", "SubTree", "Sequence", "SequenceWithMemory",
    "AsyncSequence", "ReactiveSequence", "Fallback", "AsyncFallback", "ReactiveFallback", "Parallel", "ParallelAll",
    "IfThenElse", "WhileDoElse", "ManualSelector", "Switch2", "Switch3", "Switch4", "Switch5", "Switch6", "Inverter",
    "Repeat", "RetryUntilSuccessful", "RetryUntilSuccesful", "KeepRunningUntilFailure", "Delay", "RunOnce",
    "ForceSuccess", "ForceFailure", "Timeout", "Precondition", "LoopInt", "LoopBool", "LoopDouble", "LoopString",
    "ConsumeQueue", "AlwaysSuccess", "AlwaysFailure", "Script", "ScriptCondition", "SetBlackboard", "UnsetBlackboard",
    "Sleep", "TestNode", "WasEntryUpdated", "SkipUnlessUpdated", "WaitValueUpdate",
))  # fmt: skip
_PORT = re.compile(r"(?!(?:name|ID)$)[A-Za-z]\w*")
_CARRIED_HEAD = ("tree", "params", "root")


@dataclass
class Exported:
    """The document, and what could not be carried over."""

    xml: str
    lost: list[str]


def export(path: Path, catalogue: Catalogue) -> Exported:
    """A tree that has been checked, with every file it uses."""
    return _Export(catalogue).document(path)


@dataclass
class _Export:
    catalogue: Catalogue
    lost: list[str] = field(default_factory=list)
    _trees: dict[Path, tuple[str, Element]] = field(default_factory=dict)
    _models: dict[str, Element] = field(default_factory=dict)
    _file: Path = Path()
    _remarks: list[str] = field(default_factory=list)  # about the node being written

    def document(self, path: Path) -> Exported:
        name = self._tree(path)
        root = Element("root", {"BTCPP_format": "4", "main_tree_to_execute": name})
        root.children = [tree for _, tree in self._trees.values()]
        root.children.append(Element("TreeNodesModel", children=list(self._models.values())))
        return Exported(written(root), self.lost)

    def _tree(self, path: Path) -> str:
        """Adds a file and returns the name of its tree."""
        path = path.resolve()
        if path in self._trees:
            return self._trees[path][0]
        root = read_file(path, Findings()).root
        assert root is not None, "checked before"
        head = plain(root)
        name = self._unique(head["tree"])
        tree = Element("BehaviorTree", {"ID": name})
        self._trees[path] = name, tree
        before, self._file = self._file, path
        params = head.get("params") or {}
        self._models[f"tree {name}"] = _model_of_tree(name, params)
        lost = [f"{word}: {_short(head[word])}" for word in head if word not in _CARRIED_HEAD]
        lost += [f"the parameter {param}, which cannot be a port" for param in params if not _PORT.fullmatch(param)]
        lost += [f"its name {head['tree']}"] if name != head["tree"] else []
        tree.children += [self._lose(f"{name}: {what}") for what in lost]
        tree.children += self._node(head["root"])
        self._file = before
        return name

    def _unique(self, name: str) -> str:
        taken = {*_RESERVED, *self.catalogue.leaves, *CONDITION_NODES.values()}
        taken |= {known for known, _ in self._trees.values()}
        number = 2
        found = name
        while found in taken:
            found, number = f"{name}_{number}", number + 1
        return found

    def _lose(self, what: str) -> Element:
        self.lost.append(what)
        return comment(f"not carried over: {what}")

    # Nodes

    def _node(self, node: Plain) -> list[Element]:
        """The element of a node, after comments about what is missing in it."""
        outer, self._remarks = self._remarks, []
        words = _as_mapping(node)
        kind = next(word for word in words if word in KINDS or word in self.catalogue.leaves)
        element = self._of_kind(kind, words)
        if "name" in words:
            element.attributes = {"name": words["name"], **element.attributes}
        for word in reversed(MODIFIERS):
            if word in words and word != "name":
                element = self._modified(element, word, words[word])
        comments = [self._lose(f"{kind}{_named(words)}: {remark}") for remark in self._remarks]
        self._remarks = outer
        return [*comments, element]

    def _of_kind(self, kind: str, words: dict[str, Plain]) -> Element:
        leaf = self.catalogue.get(kind)
        if leaf is not None:
            return self._leaf(leaf, words[kind])
        return _KINDS[kind](self, words)

    def _nodes(self, nodes: Plain) -> list[Element]:
        listed = nodes if isinstance(nodes, list) else [nodes]
        return [element for node in listed for element in self._node(node)]

    def _list(self, words: dict[str, Plain]) -> Element:
        kind = "sequence" if "sequence" in words else "selector"
        tag = {"sequence": "Sequence", "selector": "Fallback"}[kind]
        reactive = "Reactive" if words.get("memory") == "false" else ""
        return Element(reactive + tag, children=self._nodes(words[kind]))

    def _parallel(self, words: dict[str, Plain]) -> Element:
        children = self._nodes(words["parallel"])
        count = sum(child.tag != "#" for child in children)
        succeed = _how_many(words.get("succeed", "all"), count)
        fail = _how_many(words["fail"], count) if "fail" in words else count - succeed + 1
        return Element("Parallel", {"success_count": str(succeed), "failure_count": str(fail)}, children)

    def _if(self, words: dict[str, Plain]) -> Element:
        children = [self._condition("check", words["if"]), self._branch(words["then"])]
        children.append(self._branch(words["else"]) if "else" in words else Element("AlwaysSuccess"))
        return Element("IfThenElse", children=children)

    def _branch(self, nodes: Plain) -> Element:
        return Element("Sequence", children=self._nodes(nodes))

    def _use(self, words: dict[str, Plain]) -> Element:
        name = self._tree(self._file.parent / words["use"])
        return Element("SubTree", {"ID": name, **self._attributes(words.get("with") or {})})

    def _check(self, words: dict[str, Plain]) -> Element:
        return self._condition("check", words["check"])

    def _wait_for(self, words: dict[str, Plain]) -> Element:
        return self._condition("wait_for", words["wait_for"])

    def _condition(self, kind: str, text: str) -> Element:
        script = condition_out(text) if kind == "check" else None
        if script is not None:
            return Element("ScriptCondition", {"code": script})
        name = CONDITION_NODES[kind]
        port = Element("input_port", {"name": "condition"}, text="An expression of the tree language.")
        tag = "Condition" if kind == "check" else "Action"
        self._models[name] = Element(tag, {"ID": name}, [port])
        return Element(name, {"condition": text})

    # Leaves

    def _leaf(self, leaf: Declaration, given: Plain) -> Element:
        values = given if isinstance(given, dict) else {}
        if leaf.name == "Set":
            scripts = {name: condition_out(text) for name, text in values.items()}
            if all(script is not None for script in scripts.values()):
                return Element("Script", {"code": "; ".join(f"{name} := {text}" for name, text in scripts.items())})
        model = self._models.setdefault(leaf.name, _model_of_leaf(leaf))
        element = Element(leaf.name, self._attributes(values))
        known = {port.attributes["name"] for port in model.children}
        # Set takes any name: each that the trees use becomes a port.
        model.children += [Element("input_port", {"name": name}) for name in element.attributes if name not in known]
        return element

    def _attributes(self, values: dict[str, Plain]) -> dict[str, str]:
        found = {}
        for name, value in values.items():
            text = _packed(value)
            text = None if text is None else value_out(text)
            if text is None or not _PORT.fullmatch(name):
                self._remarks.append(f"{name}: {_short(value)}")
                continue
            found[name] = text
        return found

    # Modifiers

    def _modified(self, element: Element, word: str, value: Plain) -> Element:
        made = _DECORATORS.get(word, lambda value: None)(value)
        if made is not None:
            made.children = [element]
            return made
        if word in ("when", "unless") and "_skipIf" not in element.attributes:
            script = condition_out(value)
            if script is not None:
                element.attributes["_skipIf"] = script if word == "unless" else f"!({script})"
                return element
        if word == "retry" and isinstance(value, dict):
            self._remarks.append(f"the wait of retry: {_short(value)}")
            return self._modified(element, "retry", value["times"])
        self._remarks.append(f"{word}: {_short(value)}")
        return element


def _as_mapping(node: Plain) -> dict[str, Plain]:
    if isinstance(node, str):
        return {node: ""}
    return {"sequence": node} if isinstance(node, list) else node


def _named(words: dict[str, Plain]) -> str:
    return f" ({words['name']})" if "name" in words else ""


def _short(value: Plain) -> str:
    text = value if isinstance(value, str) else flow(value)
    return text if len(text) <= 100 else text[:97] + "..."


def _how_many(text: str, count: int) -> int:
    return {"all": count, "any": 1}.get(text) or int(text)


def _packed(value: Plain) -> str | None:
    """Lists with semicolons, as BehaviorTree.CPP writes them; joints as name=angle."""
    if isinstance(value, str):
        return value
    items = [f"{name}={item}" for name, item in value.items()] if isinstance(value, dict) else value
    return None if any(not isinstance(item, str) or ";" in item for item in items) else ";".join(items)


def _timeout(value: Plain) -> Element | None:
    text = milliseconds(value)
    return None if text is None else Element("Timeout", {"msec": text})


def _delay(value: Plain) -> Element | None:
    text = milliseconds(value)
    return None if text is None else Element("Delay", {"delay_msec": text})


def _retry(value: Plain) -> Element | None:
    if not isinstance(value, str) or not value.isdigit():
        return None
    return Element("RetryUntilSuccessful", {"num_attempts": str(int(value) + 1)})


def _repeat(value: Plain) -> Element | None:
    if not isinstance(value, str):
        return None
    return Element("Repeat", {"num_cycles": "-1" if value == "forever" else value_out(value) or value})


_DECORATORS: dict[str, Callable[[Plain], Element | None]] = {
    "timeout": _timeout,
    "delay": _delay,
    "retry": _retry,
    "repeat": _repeat,
    "result": lambda value: Element(RESULTS[value]),
}
_KINDS: dict[str, Callable[[_Export, dict[str, Plain]], Element]] = {
    "sequence": _Export._list,
    "selector": _Export._list,
    "parallel": _Export._parallel,
    "if": _Export._if,
    "use": _Export._use,
    "check": _Export._check,
    "wait_for": _Export._wait_for,
}


def _model_of_leaf(leaf: Declaration) -> Element:
    """What Groot2 needs to know to offer the node."""
    ports = [
        Element(
            "input_port",
            {"name": param.name, **({"default": default} if (default := default_text(param)) else {})},
            text=type_text(param.type),
        )
        for param in leaf.params.values()
    ]
    return Element("Condition" if leaf.looks and leaf.instant else "Action", {"ID": leaf.name}, ports)


def _model_of_tree(name: str, params: dict[str, Plain]) -> Element:
    """The parameters of a tree as ports; type, default and help come back with import."""
    ports = []
    for port, param in params.items():
        if not _PORT.fullmatch(port):
            continue
        default = _packed(param["default"]) if "default" in param else None
        attributes = {"name": port, "type": param["type"], **({"default": default} if default is not None else {})}
        ports.append(Element("input_port", attributes, text=param.get("help", "")))
    return Element("SubTree", {"ID": name, "editable": "true"}, ports)
