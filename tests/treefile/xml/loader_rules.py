"""What BehaviorTree.CPP v4 demands of a file when it loads it, and Groot2 when it opens it, in our own words.

A document is taken if `broken_rules` finds nothing: one root of format 4, every element a built-in node or one with a
model, as many children as its kind takes, no attribute that is not a port, and no forbidden character in a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, fromstring

# Kind, and its ports: n for a number or a blackboard entry, t for any text.
BUILT_IN: dict[str, tuple[str, dict[str, str]]] = {
    **{
        name: ("Control", {})
        for name in ("Sequence", "Fallback", "ReactiveSequence", "ReactiveFallback", "IfThenElse", "WhileDoElse")
    },
    "Parallel": ("Control", {"success_count": "n", "failure_count": "n"}),
    **{name: ("Decorator", {}) for name in ("Inverter", "ForceSuccess", "ForceFailure", "KeepRunningUntilFailure")},
    "Repeat": ("Decorator", {"num_cycles": "n"}),
    "RetryUntilSuccessful": ("Decorator", {"num_attempts": "n"}),
    "Timeout": ("Decorator", {"msec": "n"}),
    "Delay": ("Decorator", {"delay_msec": "n"}),
    "AlwaysSuccess": ("Action", {}),
    "AlwaysFailure": ("Action", {}),
    "Script": ("Action", {"code": "t"}),
    "ScriptCondition": ("Condition", {"code": "t"}),
}
KINDS = ("Action", "Condition", "Control", "Decorator", "SubTree")
CONDITIONS = {"_skipIf", "_failureIf", "_successIf", "_while", "_onSuccess", "_onFailure", "_onHalted", "_post"}
NOT_PORTS = {"name", "ID", "_autoremap", *CONDITIONS}
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f<>&\"'/\\:*?|.]")
_NUMBER = re.compile(r"-?\d+|\{\w+\}")


def broken_rules(xml: str) -> list[str]:
    return list(_Document(fromstring(xml)).broken())


class _Document:
    def __init__(self, root: Element) -> None:
        self._root = root
        self._trees = root.findall("BehaviorTree")
        self._names = [tree.get("ID", "") for tree in self._trees]
        self._models = {model.get("ID", ""): model for model in root.iterfind("TreeNodesModel/*")}
        self._nodes = {
            **BUILT_IN,
            **{name: (m.tag, _ports(m)) for name, m in self._models.items() if m.tag != "SubTree"},
        }

    def broken(self) -> Iterator[str]:
        root = self._root
        if root.tag != "root" or root.get("BTCPP_format") != "4":
            yield "the root is no <root BTCPP_format='4'>"
        if len(root.findall("TreeNodesModel")) != 1 or root.get("main_tree_to_execute") not in self._names:
            yield "not one TreeNodesModel, or the main tree is not there"
        if len(set(self._names)) != len(self._names):
            yield "two trees of one name"
        yield from self._broken_models()
        for tree in self._trees:
            name = tree.get("ID", "")
            if name in self._nodes or name in ("root", "Root") or not name or _FORBIDDEN.search(name):
                yield f"a tree may not be called {name!r}"
            if len(tree) != 1:
                yield f"the tree {name} has {len(tree)} children, not one"
            for element in tree:
                yield from self._broken_node(element)

    def _broken_models(self) -> Iterator[str]:
        models = self._root.findall("TreeNodesModel/*")
        if len({model.get("ID") for model in models}) != len(models):
            yield "two models of one name"
        for model in models:
            name = model.get("ID", "")
            if model.tag not in KINDS or not name or _FORBIDDEN.search(name) or name in BUILT_IN:
                yield f"a model may not be <{model.tag} ID={name!r}>"
            for port in model:
                if port.tag not in ("input_port", "output_port", "inout_port") or not _is_port(port.get("name", "")):
                    yield f"{name}: a port may not be <{port.tag} name={port.get('name')!r}>"

    def _broken_node(self, element: Element) -> Iterator[str]:
        if element.tag == "SubTree":
            yield from self._broken_subtree(element)
            return
        if element.tag not in self._nodes:
            yield f"<{element.tag}> is not known"
            return
        kind, ports = self._nodes[element.tag]
        least, most = {"Control": (1, 10_000), "Decorator": (1, 1)}.get(kind, (0, 0))
        if element.tag == "IfThenElse":
            least, most = 2, 3
        if not least <= len(element) <= most:
            yield f"<{element.tag}> has {len(element)} children"
        if "ID" in element.attrib:
            yield f"<{element.tag}> may not have an ID"
        yield from _broken_attributes(element, ports)
        for child in element:
            yield from self._broken_node(child)

    def _broken_subtree(self, element: Element) -> Iterator[str]:
        name = element.get("ID", "")
        if name not in self._names or len(element):
            yield f"<SubTree ID={name!r}> has children, or there is no such tree"
        model = self._models.get(name)
        if model is None or model.tag != "SubTree":
            yield f"there is no model of the tree {name}"
        else:
            yield from _broken_attributes(element, _ports(model))


def _ports(model: Element) -> dict[str, str]:
    return {port.get("name", ""): "t" for port in model}


def _is_port(name: str) -> bool:
    return name[:1].isascii() and name[:1].isalpha() and not _FORBIDDEN.search(name) and name not in NOT_PORTS


def _broken_attributes(element: Element, ports: dict[str, str]) -> Iterator[str]:
    for name, value in element.attrib.items():
        if name in NOT_PORTS:
            continue
        if not _is_port(name) or name not in ports:
            yield f"<{element.tag}> has no port {name!r}"
        elif ports[name] == "n" and not _NUMBER.fullmatch(value):
            yield f"<{element.tag} {name}={value!r}>: a number is wanted"
