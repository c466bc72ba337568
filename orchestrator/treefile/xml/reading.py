"""From XML of BehaviorTree.CPP v4 to tree files.

What we do not have is written as it stands, so that the check refuses the tree until a person has decided what it is to
be: a guard's condition that is left out would let the robot go on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from orchestrator.leaf import Catalogue, ParamType
from orchestrator.leaf.words import MODIFIERS
from orchestrator.treefile.file import parse_type
from orchestrator.treefile.xml.document import Element, XmlError, comments, parsed
from orchestrator.treefile.xml.plain import Plain, to_yaml
from orchestrator.treefile.xml.values import condition_in, duration_of, value_in
from orchestrator.treefile.xml.writing import CONDITION_NODES, RESULTS

_LISTS = {
    "Sequence": ("sequence", ""),
    "SequenceWithMemory": ("sequence", ""),
    "AsyncSequence": ("sequence", ""),
    "ReactiveSequence": ("sequence", "false"),
    "Fallback": ("selector", ""),
    "AsyncFallback": ("selector", ""),
    "ReactiveFallback": ("selector", "false"),
}
_RANK = {word: rank for rank, word in enumerate(MODIFIERS)}
_METADATA = ("_uid", "_fullpath", "_description")
_EXPLICIT = ("Action", "Condition", "Control", "Decorator")
_MOST_ATTEMPTS = 1_000_000
_ASSIGNMENT = re.compile(r"\s*([A-Za-z_]\w*)\s*:?=(?!=)(.*)", re.DOTALL)


@dataclass
class XmlTrees:
    """Tree files by name, as YAML; the first is the one that is run. `lost` is what could not be carried over."""

    files: dict[str, str]
    lost: list[str]


def trees_of(raw: bytes, catalogue: Catalogue) -> XmlTrees:
    """All trees of a document; raises XmlError where it is none."""
    root = parsed(raw)
    if root.tag != "root" or root.attributes.get("BTCPP_format") != "4":
        raise XmlError(
            f'line {root.line}: this is not a tree of BehaviorTree.CPP v4: <root BTCPP_format="4"> is missing'
        )
    trees = [element for element in root.elements if element.tag == "BehaviorTree"]
    if not trees:
        raise XmlError(f"line {root.line}: there is no BehaviorTree in it")
    main = root.attributes.get("main_tree_to_execute")
    trees.sort(key=lambda tree: tree.attributes.get("ID") != main)
    reading = _Import(catalogue, _ports(root))
    for element in root.elements:
        if element.tag not in ("BehaviorTree", "TreeNodesModel"):
            reading.lose(element, f"<{element.tag}> {element.attributes}")
    files = {_name(tree): reading.file(tree) for tree in trees}
    return XmlTrees(files, reading.lost)


def _name(tree: Element) -> str:
    return re.sub(r"[^\w-]", "_", tree.attributes.get("ID", "tree"))


def _ports(root: Element) -> dict[str, list[Element]]:
    models = [model for element in root.elements if element.tag == "TreeNodesModel" for model in element.elements]
    return {model.attributes.get("ID", ""): model.elements for model in models if model.tag == "SubTree"}


@dataclass
class _Import:
    catalogue: Catalogue
    ports: dict[str, list[Element]]
    lost: list[str] = field(default_factory=list)

    def lose(self, element: Element, what: str) -> None:
        self.lost.append(f"line {element.line}: {what}")

    def file(self, tree: Element) -> str:
        before = len(self.lost)
        made: dict[str, Plain] = {"tree": _name(tree)}
        params = {
            port.attributes["name"]: self._param(port) for port in self.ports.get(tree.attributes.get("ID", ""), [])
        }
        if params:
            made["params"] = params
        if len(tree.elements) != 1:
            raise XmlError(f"line {tree.line}: a BehaviorTree has exactly one node")
        made["root"] = self._node(tree.elements[0])
        remarks = [*comments(tree), *(f"not carried over: {what}" for what in self.lost[before:])]
        return to_yaml(made, remarks)

    def _param(self, port: Element) -> dict[str, Plain]:
        """A port as a parameter; a type of C++ that is none of ours becomes text."""
        named = port.attributes.get("type", "text")
        wanted = parse_type(named)
        if wanted is None:
            self.lose(port, f"the type {named} of the port {port.attributes.get('name')}: it is a text now")
        found: dict[str, Plain] = {"type": named if wanted else "text"}
        if "default" in port.attributes:
            found["default"] = _unpacked(port.attributes["default"], wanted)
        if port.text.strip():
            found["help"] = port.text.strip()
        return found

    # Nodes

    def _node(self, element: Element) -> Plain:
        element = _compact(element)
        self._check_ports(element)
        made = self._kind(element) | self._conditions(element)
        if "name" in element.attributes:
            made["name"] = element.attributes["name"]
        return next(iter(made)) if len(made) == 1 and next(iter(made.values())) == "" else made

    def _check_ports(self, element: Element) -> None:
        """Attributes of nodes both know; a leaf's are its own matter."""
        known = _PORTS.get(element.tag)
        for word, value in element.attributes.items():
            if known is not None and word != "name" and word not in known and not word.startswith("_"):
                self.lose(element, f"{word}={value!r} of <{element.tag}>")

    def _kind(self, element: Element) -> dict[str, Plain]:
        tag = element.tag
        if tag in _LISTS:
            return self._list(element)
        if tag in _DECORATORS or tag in RESULTS.values():
            return self._decorated(element)
        special = _SPECIAL.get(tag)
        if special is not None:
            return special(self, element)
        if not element.elements:
            return self._leaf(element)
        return self._foreign(element, "we have no such node")

    def _foreign(self, element: Element, why: str) -> dict[str, Plain]:
        given = "".join(f" {word}={value!r}" for word, value in element.attributes.items() if word[0] != "_")
        self.lose(element, f"<{element.tag}{given}>: {why}; it is written as it stands")
        return {element.tag: [self._node(child) for child in element.elements]}

    def _list(self, element: Element) -> dict[str, Plain]:
        kind, memory = _LISTS[element.tag]
        if element.tag.startswith(("Async", "SequenceWith")):
            self.lose(element, f"<{element.tag}>: it is an ordinary {kind} now")
        made: dict[str, Plain] = {kind: [self._node(child) for child in element.elements]}
        return made | {"memory": memory} if memory else made

    def _parallel(self, element: Element) -> dict[str, Plain]:
        children = [self._node(child) for child in element.elements]
        count = len(children)
        succeed = _count(element.attributes.get("success_count", "-1"), count)
        fail = _count(element.attributes.get("failure_count", "1"), count)
        made: dict[str, Plain] = {"parallel": children}
        if succeed is None or fail is None:
            self.lose(element, f"the thresholds {element.attributes}")
            words = {"succeed": "success_count", "fail": "failure_count"}
            return made | {ours: value_in(element.attributes.get(theirs, "")) for ours, theirs in words.items()}
        if succeed != count:
            made["succeed"] = "any" if succeed == 1 else str(succeed)
        if fail != count - succeed + 1:
            made["fail"] = "any" if fail == 1 else "all" if fail == count else str(fail)
        return made

    def _if(self, element: Element) -> dict[str, Plain]:
        children = element.elements
        condition = self._node(children[0]) if children else None
        if not isinstance(condition, dict) or list(condition) != ["check"] or len(children) not in (2, 3):
            return self._foreign(element, "its first child is more than a condition, or a branch is missing")
        made: dict[str, Plain] = {"if": condition["check"], "then": self._branch(children[1])}
        if len(children) == 2:
            made["else"] = [{"check": "false"}]
        elif children[2].tag != "AlwaysSuccess":
            made["else"] = self._branch(children[2])
        return made

    def _branch(self, element: Element) -> list[Plain]:
        if element.tag == "Sequence" and not element.attributes:
            return [self._node(child) for child in element.elements]
        return [self._node(element)]

    def _use(self, element: Element) -> dict[str, Plain]:
        name = element.attributes.get("ID", "")
        types = {
            port.attributes.get("name"): parse_type(port.attributes.get("type", ""))
            for port in self.ports.get(name, [])
        }
        given = {
            word: _unpacked(value, types.get(word))
            for word, value in element.attributes.items()
            if word not in ("ID", "name") and not word.startswith("_")
        }
        made: dict[str, Plain] = {"use": f"{_name(element)}.yaml"}
        return made | {"with": given} if given else made

    def _script(self, element: Element) -> dict[str, Plain]:
        values = {}
        for statement in filter(str.strip, element.attributes.get("code", "").split(";")):
            match = _ASSIGNMENT.fullmatch(statement)
            expression = condition_in(match[2]) if match else None
            if match is None or expression is None:
                self.lose(element, f"the script {statement.strip()}")
                return {element.tag: {**element.attributes}}
            values[match[1]] = expression
        return {"Set": values} if values else {"check": "true"}

    def _script_condition(self, element: Element) -> dict[str, Plain]:
        code = element.attributes.get("code", "")
        condition = condition_in(code)
        if condition is None:
            self.lose(element, f"the condition {code}")
            return {element.tag: {**element.attributes}}
        return {"check": condition}

    def _own_condition(self, element: Element) -> dict[str, Plain]:
        kind = next(kind for kind, tag in CONDITION_NODES.items() if tag == element.tag)
        return {kind: element.attributes.get("condition", "false")}

    def _sleep(self, element: Element) -> dict[str, Plain]:
        return {"Wait": {"time": self._duration(element, "msec")}}

    def _always(self, element: Element) -> dict[str, Plain]:
        return {"check": "true" if element.tag == "AlwaysSuccess" else "false"}

    def _leaf(self, element: Element) -> dict[str, Plain]:
        leaf = self.catalogue.get(element.tag)
        if leaf is None:
            self.lose(element, f"<{element.tag}> is not a leaf of ours: it is written as it stands")
        params = leaf.params if leaf else {}
        values = {
            word: _unpacked(value, params[word].type if word in params else None)
            for word, value in element.attributes.items()
            if word != "name" and not word.startswith("_")
        }
        return {element.tag: values or ""}

    # Decorators and conditions

    def _decorated(self, element: Element) -> dict[str, Plain]:
        """The modifier joins the node below it, unless that has one that must stay inside of it."""
        if len(element.elements) != 1:
            raise XmlError(f"line {element.line}: <{element.tag}> needs exactly one node below it")
        child = self._node(element.elements[0])
        below: dict[str, Plain] = {child: ""} if isinstance(child, str) else child
        word, value = self._modifier(element)
        if value is None:
            return below
        outermost = min((_RANK[known] for known in below if known in _RANK), default=len(_RANK))
        named_twice = "name" in element.attributes and "name" in below
        if _RANK[word] < outermost and not named_twice:
            return below | {word: value}
        return {"sequence": [child], word: value}

    def _modifier(self, element: Element) -> tuple[str, str | None]:
        if element.tag in RESULTS.values():
            return "result", next(result for result, tag in RESULTS.items() if tag == element.tag)
        word, port = _DECORATORS[element.tag]
        if word in ("timeout", "delay"):
            return word, self._duration(element, port)
        return word, self._rounds(element, word, element.attributes.get(port, "1"))

    def _duration(self, element: Element, port: str) -> str:
        text = element.attributes.get(port, "")
        found = duration_of(text)
        if found is None:
            self.lose(element, f"{port}={text!r} of <{element.tag}>: a number of milliseconds is wanted")
        return found or value_in(text)

    def _rounds(self, element: Element, word: str, text: str) -> str | None:
        """How many; None for a single attempt, which needs no word."""
        if text == "-1" and word == "retry":
            self.lose(element, f"attempts without end: {_MOST_ATTEMPTS} now")
            return str(_MOST_ATTEMPTS)
        if text == "-1":
            return "forever"
        if word == "repeat" and text.startswith("{"):
            return value_in(text)
        if not text.isdigit() or int(text) < 1:
            self.lose(element, f"<{element.tag}> {element.attributes}")
            return value_in(text)
        attempts = int(text) - 1 if word == "retry" else int(text)
        return str(attempts) if attempts else None

    def _conditions(self, element: Element) -> dict[str, Plain]:
        """Attributes that begin with an underscore: when to skip, and what we do not know."""
        found = {}
        for word, text in element.attributes.items():
            if not word.startswith("_"):
                continue
            negated = (
                text.removeprefix("!(").removesuffix(")") if text.startswith("!(") and text.endswith(")") else None
            )
            condition = condition_in(negated or text) if word == "_skipIf" else None
            if condition is not None:
                found["unless" if negated is None else "when"] = condition
                continue
            self.lose(element, f"{word}={text!r} of <{element.tag}>")
            if word not in _METADATA:
                found[word] = text
        return found


def _compact(element: Element) -> Element:
    """`<Action ID="SetFsm" .../>` is `<SetFsm .../>`."""
    if element.tag not in _EXPLICIT or "ID" not in element.attributes:
        return element
    attributes = {name: value for name, value in element.attributes.items() if name != "ID"}
    return Element(element.attributes["ID"], attributes, element.children, element.text, element.line)


def _count(text: str, children: int) -> int | None:
    if text == "-1":
        return children
    return int(text) if text.isdigit() and 1 <= int(text) <= children else None


def _unpacked(text: str, wanted: ParamType | None) -> Plain:
    value = value_in(text)
    if wanted is None or value != text:
        return value
    if wanted.kind == "list":
        return [item for item in text.split(";") if item]
    if wanted.kind == "joint_angles":
        pairs = (item.partition("=") for item in text.split(";"))
        return {joint: angle for joint, _, angle in pairs}
    return value


_DECORATORS = {
    "Timeout": ("timeout", "msec"),
    "Delay": ("delay", "delay_msec"),
    "RetryUntilSuccessful": ("retry", "num_attempts"),
    "Repeat": ("repeat", "num_cycles"),
}
_SPECIAL: dict[str, Callable[[_Import, Element], dict[str, Plain]]] = {
    "Parallel": _Import._parallel,
    "IfThenElse": _Import._if,
    "SubTree": _Import._use,
    "Script": _Import._script,
    "ScriptCondition": _Import._script_condition,
    "Sleep": _Import._sleep,
    **dict.fromkeys(("AlwaysSuccess", "AlwaysFailure"), _Import._always),
    **dict.fromkeys(CONDITION_NODES.values(), _Import._own_condition),
}
_PORTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((*_LISTS, *RESULTS.values(), "IfThenElse", "AlwaysSuccess", "AlwaysFailure"), ()),
    **{tag: (port,) for tag, (_, port) in _DECORATORS.items()},
    **dict.fromkeys(CONDITION_NODES.values(), ("condition",)),
    "Parallel": ("success_count", "failure_count"),
    "Script": ("code",),
    "ScriptCondition": ("code",),
    "Sleep": ("msec",),
}
