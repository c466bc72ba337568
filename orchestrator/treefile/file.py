"""One file of a mission: its head, its parameters, its root, and the files it uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.leaf import Catalogue, ParamType
from orchestrator.leaf.words import MODIFIERS
from orchestrator.robots.facts import FieldTable, RobotFacts
from orchestrator.robots.profiles import ProfileError
from orchestrator.treefile.build import Builder
from orchestrator.treefile.expression import NOT_CONSTANT, World
from orchestrator.treefile.limits import Effort, TooMuch
from orchestrator.treefile.model import Expression, Template, Tree, TreeNode, TreeParam
from orchestrator.treefile.paths import Paths
from orchestrator.treefile.scope import NOTHING, Scope
from orchestrator.treefile.values import MOST_VALUES, Known, Reader
from orchestrator.yamlfile import UNREAD, Document, Findings, Node, Place, Scalar, Sequence, nearest, read_text
from orchestrator.yamlfile import Mapping as MappingNode
from orchestrator.yamlfile.opening import text_of
from orchestrator.yamlfile.units import DIMENSIONS

HEAD = ("tree", "description", "robot", "params", "require", "pause", "root")
SETTING = "--set {}"
_LATER = ("parts", "returns")
_TREE_NAME = re.compile(r"[A-Za-z_][\w-]{0,63}")
_ONE_OF = re.compile(r"one of \[(.*)\]")
PLAIN_TYPES = ("int", "number", "bool", "text", "tag", "hand", "fsm_state", "pose", *list(DIMENSIONS)[:6])
_REQUIRE_HOLDS = 'with "for" this would fail at the start: begin the tree with wait_for, and require it without "for"'


@dataclass(slots=True)
class Surroundings:
    """What a tree is checked against. A `robot` given here goes before the one the file names.

    The field table holds the fields of every robot there is, so that `robot.has.hands and hands.left.holding` can be
    checked against a robot without hands, too.
    """

    catalogue: Catalogue
    fields: FieldTable
    robot: RobotFacts | None = None
    robot_named: Callable[[str], RobotFacts | None] = lambda name: None
    robot_names: Iterable[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict)  # --set name=value
    setting: str = SETTING  # what a person calls one of them


class Shared:
    """What all files of one check have in common."""

    def __init__(self, surroundings: Surroundings, folder: Path, findings: Findings) -> None:
        self.surroundings = surroundings
        self.folder = folder
        self.findings = findings
        self.robot = surroundings.robot
        self.effort = Effort(findings)
        self.documents: dict[Path, Document] = {}
        self.types: dict[str, ParamType | None] = {}
        self.known = Known()
        self.uses = 0
        self._sizes: dict[Path, int] = {}
        self.capabilities = frozenset(need for declared in surroundings.catalogue for need in declared.needs)

    def count_use(self, used: Path, at: Scalar) -> None:
        """One more use of a file: a small one may be used very often."""
        first = next(iter(self.documents))
        for path in (used,) if self._sizes else (first, used):
            if path not in self._sizes:
                self._sizes[path] = _size(self.documents[path].root)
            self.effort.values(at, self._sizes[path])


def _size(root: Node | None) -> int:
    """How many texts stand in a file: words, values and expressions."""
    waiting, found = [root], 0
    while waiting:
        node = waiting.pop()
        if type(node) is MappingNode:
            found += len(node.entries)
            waiting.extend(value for _, value in node.entries.values())
        elif type(node) is Sequence:
            waiting.extend(node.items)
        else:
            found += 1
    return found


class FileCheck:
    """One use of one file."""

    def __init__(self, shared: Shared, path: Path, shown: Path, above: tuple[Path, ...]) -> None:
        self._shared = shared
        self._path = path
        self._above = above
        self._findings = shared.findings
        self._document = shared.documents[path]
        self._paths = Paths(shown, shared.folder, shared.findings)
        self._file = self._document.file
        prefix = "" if not above else f"{shared.uses}/"
        self._scope = Scope(prefix, self._file, self._findings, shared.effort)
        self._entries = self._head()
        if not above:
            shared.robot = self._own_robot()
        self.robot = shared.robot
        world = World(shared.surroundings.fields, self.robot, self._capabilities())
        self._reader = Reader(world, self._scope, self._findings, self._paths, shared.known, shared.effort)
        self._builder = Builder(
            self, shared.surroundings.catalogue, self._scope, self._reader, self._findings, shared.effort
        )
        self.params = self._params()

    def _capabilities(self) -> frozenset[str]:
        return self._shared.capabilities | (self.robot.capabilities if self.robot else frozenset())

    def _head(self) -> dict[str, tuple[Scalar, Node]]:
        root = self._document.root
        if root is None:
            return {}
        if type(root) is not MappingNode:
            message = 'a tree file begins with "tree: NAME" and has "root:"'
            self._findings.error(root, "not-a-tree", message)
            return {}
        for word, (key, _) in root.entries.items():
            if word in _LATER:
                self._findings.error(key, "reserved", f'"{word}" is reserved for later')
            elif word not in HEAD:
                place = ": it belongs to a node" if word in MODIFIERS else ""
                message = f'a tree file has no "{word}"{place}'
                self._findings.unknown(key, "unknown-key", message, word, HEAD)
        missing = [word for word in ("tree", "root") if word not in root.entries]
        if missing:
            wanted = " and ".join(f'"{word}:"' for word in missing)
            self._findings.missing(root, "missing-key", f"a tree file needs {wanted}")
        return root.entries

    def _own_robot(self) -> RobotFacts | None:
        surroundings = self._shared.surroundings
        entry = self._entries.get("robot")
        if entry is None:
            return surroundings.robot
        name = self._plain_text("robot")
        try:
            found = surroundings.robot_named(name) if name else None
        except ProfileError as error:
            message = f'the profile of "{name}" has mistakes ({len(error.findings)}): `orchestrator robots {name}`'
            self._findings.error(entry[1], "bad-profile", message)
            return surroundings.robot
        if name and found is None and surroundings.robot_names:
            message = f'there is no robot "{name}"'
            self._findings.unknown(entry[1], "unknown-robot", message, name, surroundings.robot_names)
        return surroundings.robot or found

    def _plain_text(self, word: str) -> str:
        entry = self._entries.get(word)
        if entry is None:
            return ""
        key, value = entry
        if type(value) is not Scalar:
            self._findings.error(value, "wrong-kind", f'"{word}" is a text, not a {value.kind}')
            return ""
        if value.empty:
            self._findings.missing(key, "missing-value", f'"{word}" needs a value')
        return value.text

    # Parameters

    def _params(self) -> dict[str, TreeParam]:
        entry = self._entries.get("params")
        if entry is None or _is_empty(entry[1]):
            return {}
        if type(entry[1]) is not MappingNode:
            message = "params needs names, each with {type: ..., default: ...}"
            self._findings.error(entry[1], "wrong-kind", message)
            return {}
        found = {}
        for name, (key, written) in entry[1].entries.items():
            good = self._scope.good_name(key, name)
            param = self._param(name, key, written) if good else None
            if param is None:
                self._scope.add_param(name, "any", (), None, NOT_CONSTANT)
            else:
                found[name] = param
        return found

    def _param(self, name: str, key: Scalar, written: Node) -> TreeParam | None:
        if type(written) is not MappingNode:
            message = f"a parameter is written as {name}: {{type: TYPE, default: VALUE}}"
            self._findings.error(written, "wrong-kind", message)
            return None
        valid = ("type", "default", "help")
        unknown = [(word, at) for word, (at, _) in written.entries.items() if word not in valid]
        for word, at in unknown:
            self._findings.unknown(at, "unknown-key", f'a parameter has no "{word}"', word, valid)
        type_written = written.get("type")
        if type_written is None:
            if any(nearest(word, valid) == "type" for word, _ in unknown):
                return None
            self._findings.missing(key, "missing-type", f'the parameter "{name}" needs a type')
            return None
        type_ = self._type(type_written)
        if type_ is None:
            return None
        default: Any = NOT_CONSTANT
        default_written = written.get("default")
        if default_written is not None:
            default = self._constant(default_written, type_)
            if default is UNREAD:
                return None
        help_written = written.get("help")
        help_text = help_written.text if type(help_written) is Scalar else ""
        return TreeParam(name, type_, default, help_text)

    def _type(self, written: Node) -> ParamType | None:
        if type(written) is not Scalar:
            self._findings.error(written, "wrong-kind", f"a type is wanted here, not a {written.kind}")
            return None
        types = self._shared.types
        if written.text not in types:
            types[written.text] = parse_type(written.text)
        found = types[written.text]
        if found is None:
            valid = (*PLAIN_TYPES, "one of [a, b]", "list of TYPE")
            message = f'there is no type "{written.text}": write {", ".join(valid)}'
            self._findings.unknown(written, "unknown-type", message, written.text, valid)
        return found

    def _constant(self, written: Node, type_: ParamType) -> Any:
        value = self._reader.value(written, type_)
        if isinstance(value, Expression | Template):
            self._findings.error(written, "not-constant", "a default must be known before the run")
            return UNREAD
        return value

    def _define(self, given: Mapping[str, Any], at: Node | None) -> None:
        """Give every parameter its value: what is passed, else its default. UNREAD stands for what was misspelt."""
        missing = []
        for name, param in self.params.items():
            value = given.get(name, param.default)
            if value is NOT_CONSTANT and name not in given and at is not None:
                missing.append(f'"{name}" ({param.type.name})')
            of = param.type.of.kind if param.type.of else None
            choices = param.type.of.choices if param.type.of else param.type.choices
            dynamic = isinstance(value, Expression | Template) or value is UNREAD
            self._scope.add_param(name, param.type.kind, choices, of, NOT_CONSTANT if dynamic else value)
        if missing and at is not None:
            self._findings.missing(at, "missing-parameter", f"{self._path.name} needs {' and '.join(missing)}")

    # The whole file

    def tree(self) -> Tree:
        """The checked tree of the file a mission begins with."""
        given = self._settings()
        self._define(given, None)
        unset = tuple(p.name for p in self.params.values() if p.default is NOT_CONSTANT and p.name not in given)
        name = self._plain_text("tree")
        if name and not _TREE_NAME.fullmatch(name):
            value = self._entries["tree"][1]
            self._findings.error(value, "bad-name", "a tree is called by letters, digits, _ and - only")
        description = self._plain_text("description")
        require, pause = self._require(), self._pause()
        try:
            root = self.root()
        except TooMuch:
            root = None
        self._scope.finish()
        nodes = self._shared.effort.nodes
        return Tree(name, self._file, description, self.params, require, pause, root, self.robot, nodes, unset)

    def _settings(self) -> dict[str, Any]:
        """Values given on the command line; a parameter that has none and no default is reported."""
        found: dict[str, Any] = {}
        for name, text in self._shared.surroundings.settings.items():
            source = self._shared.surroundings.setting.format(name)
            place = Place(source, 1, 1)
            param = self.params.get(name)
            if param is None:
                if not self._may_have(name):
                    message = f'the tree has no parameter "{name}"'
                    self._findings.unknown(place, "unknown-parameter", message, name, self._declared_names())
                continue
            self._findings.add_source(source, [text])
            written = self._written(text, source, param.type)
            value = UNREAD if written is None else self._reader.value(written, param.type)
            if value is not UNREAD:
                found[name] = value
        return found

    def _written(self, text: str, source: str, wanted: ParamType) -> Node | None:
        """What stands on the command line: a list as YAML, all else as it is, without any quoting."""
        if wanted.kind == "list" and text.lstrip().startswith("["):
            return read_text(text, source, self._findings).root
        return Scalar(text, False, _Mark(source))

    def _require(self) -> list[Expression]:
        entry = self._entries.get("require")
        if entry is None:
            return []
        written = entry[1].items if type(entry[1]) is Sequence else [entry[1]]
        conditions = [self._reader.condition(item, no_hold=_REQUIRE_HOLDS) for item in written]
        return [condition for condition in conditions if condition is not None]

    def _pause(self) -> tuple[Expression, Expression] | None:
        entry = self._entries.get("pause")
        if entry is None:
            return None
        key, written = entry
        if type(written) is not MappingNode:
            self._findings.error(written, "wrong-kind", "pause needs {when: EXPR, until: EXPR}")
            return None
        for word, (at, _) in written.entries.items():
            if word not in ("when", "until"):
                self._findings.unknown(at, "unknown-key", f'pause has no "{word}"', word, ("when", "until"))
        when, until = written.get("when"), written.get("until")
        if when is None or until is None:
            self._findings.missing(key, "missing-value", 'pause needs "when" and "until"')
            return None
        first, second = self._reader.condition(when, no_hold=None), self._reader.condition(until, no_hold=None)
        return (first, second) if first and second else None

    def root(self) -> TreeNode | None:
        entry = self._entries.get("root")
        if entry is None:
            return None
        key, written = entry
        if type(written) is Scalar and written.empty:
            self._findings.missing(key, "missing-value", '"root" needs a node or a list of nodes')
            return None
        self._scope.saved = NOTHING
        return self._builder.node(written)[0]

    # Files it uses

    def use(self, made: TreeNode, written: Node, passed: tuple[Scalar, Node] | None, builder: Builder) -> None:
        """Another file's root becomes the child of the node."""
        if type(written) is not Scalar or written.empty:
            self._findings.missing(written, "missing-value", "the path of a file is wanted here")
            return
        path = self._paths.resolved(written, written.text)
        if path is None:
            return
        chain = (*self._above, self._path)
        if path in chain:
            names = " uses ".join(part.name for part in (*chain[chain.index(path) :], path))
            self._findings.error(written, "subtree-cycle", f"a tree may not contain itself: {names}")
            return
        self._shared.uses += 1
        shown = self._paths.shown(written.text, path)
        made.file = str(shown)
        if not self._readable(path, shown, written):
            return
        made.file = self._shared.documents[path].file
        self._shared.count_use(path, written)
        inner = FileCheck(self._shared, path, shown, chain)
        inner._reader.active = self._reader.active
        inner._builder.depth = builder.depth
        inner._builder.in_finally = builder.in_finally
        given = self._passed(inner, passed)
        inner._define(given, written)
        dynamic = {name: value for name, value in given.items() if isinstance(value, Expression | Template)}
        made.passed = {inner._scope.key(name): value for name, value in dynamic.items()}
        made.require = inner._require()
        if "pause" in inner._entries:
            message = "pause has no effect in a file that is used by another"
            self._findings.warning(inner._entries["pause"][0], "pause-unused", message)
        root = inner.root()
        inner._scope.finish()
        if root is not None:
            made.children = [root]

    def _readable(self, path: Path, shown: Path, written: Scalar) -> bool:
        """Whether the file can be opened at all; said at the place of use, not in the file that is not there."""
        if path in self._shared.documents:
            return self._shared.documents[path].root is not None
        opening = Findings()
        text = text_of(path, opening)
        if text is None:
            self._paths.refuse(written, written.text, opening.sorted()[0])
            return False
        document = self._shared.documents[path] = read_text(text, str(shown), self._findings)
        return document.root is not None

    def _passed(self, inner: FileCheck, passed: tuple[Scalar, Node] | None) -> dict[str, Any]:
        if passed is None:
            return {}
        written = passed[1]
        if type(written) is not MappingNode:
            self._findings.error(written, "wrong-kind", f"with needs {{name: value}}, not a {written.kind}")
            return dict.fromkeys(inner.params, UNREAD)
        given: dict[str, Any] = {}
        for name, (key, value) in written.entries.items():
            param = inner.params.get(name)
            if param is not None:
                given[name] = self._reader.value(value, param.type)
            elif not inner._may_have(name):
                declared = inner._declared_names()
                message = f'{inner._path.name} has no parameter "{name}"'
                self._findings.unknown(key, "unknown-parameter", message, name, declared)
                given[nearest(name, tuple(declared)) or ""] = UNREAD
        return given

    def _declared_names(self) -> list[str]:
        """All names under params, those with mistakes included."""
        entry = self._entries.get("params")
        return list(entry[1].entries) if entry and type(entry[1]) is MappingNode else []

    def _may_have(self, name: str) -> bool:
        """Whether this is a parameter, as far as params can be read: the mistakes in there are told already."""
        entry = self._entries.get("params")
        unread = entry is not None and type(entry[1]) is not MappingNode and not _is_empty(entry[1])
        return unread or self._findings.is_incomplete(self._file) or name in self._declared_names()


def _is_empty(written: Node) -> bool:
    return type(written) is Scalar and written.empty


class _Mark:
    """The place of a value that stands on the command line."""

    index = line = column = 0

    def __init__(self, name: str) -> None:
        self.name = name


def parse_type(text: str) -> ParamType | None:
    """The type of a parameter from what is written after `type:`."""
    if text in PLAIN_TYPES:
        lower = 0 if text in ("duration", "percent") else None
        return ParamType(text, lower=lower, upper=100 if text == "percent" else None)
    if match := _ONE_OF.fullmatch(text):
        choices = tuple(choice.strip() for choice in match[1].split(","))
        return ParamType("choice", choices=choices) if all(choices) and len(choices) <= MOST_VALUES else None
    if text.startswith("list of "):
        inner = parse_type(text.removeprefix("list of "))
        return ParamType("list", of=inner) if inner is not None and inner.kind != "list" else None
    return None
