"""From the nodes of a file to the nodes of a tree: kinds, parameters and modifiers, each checked where it stands."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.leaf import Catalogue, Declaration, Leaf, ParamType, own_line
from orchestrator.leaf.words import KINDS, LATER, MODIFIERS, OF_KIND
from orchestrator.treefile.durations import own_time
from orchestrator.treefile.expression import NOT_CONSTANT, Name
from orchestrator.treefile.limits import DEPTH, Effort
from orchestrator.treefile.model import Expression, Modifiers, Template, TreeNode
from orchestrator.treefile.modifiers import Entry, ModifierReader, Outcome, after_modifiers, never_runs
from orchestrator.treefile.scope import Saved, Scope, on_either
from orchestrator.treefile.values import Reader
from orchestrator.yamlfile import UNREAD, Findings, Mapping, Node, Scalar, Sequence, nearest
from orchestrator.yamlfile.units import shown

if TYPE_CHECKING:
    from orchestrator.treefile.file import FileCheck

_ROLE = {**dict.fromkeys(KINDS, "kind"), **dict.fromkeys(MODIFIERS, "modifier"), **dict.fromkeys(OF_KIND, "of kind")}
_LOOKS_LIKE_A_LEAF = re.compile(r"[A-Z]\w*")
_COUNT = re.compile(r"[1-9][0-9]{0,8}")
_ASKED = ("__init__", "mistake", "takes")  # of a leaf, before the run
_STUCK = re.compile(r"(\w+):([^\s].*)", re.DOTALL)


class Builder:
    """Builds the nodes of one file. `saved` of the scope is kept up to date while the tree is walked."""

    def __init__(
        self, check: FileCheck, catalogue: Catalogue, scope: Scope, reader: Reader, findings: Findings, effort: Effort
    ) -> None:
        self._check = check
        self._leaves = catalogue.leaves
        self._scope = scope
        self._reader = reader
        self._findings = findings
        self._effort = effort
        self._here = 0
        self._outside: set[str] = set()  # parameters of the leaf being read that stand among its modifiers
        self._modifiers = ModifierReader(scope, reader, findings)
        self.depth = 0

    @property
    def in_finally(self) -> bool:
        return self._modifiers.in_finally

    @in_finally.setter
    def in_finally(self, inside: bool) -> None:
        self._modifiers.in_finally = inside

    # Nodes

    def nodes(self, at: Node, written: Node, what: str) -> list[TreeNode]:
        """A list of nodes, run as a sequence as far as saved names are concerned."""
        found, _ = self._sequence(self._items(at, written, what))
        return found

    def _items(self, at: Node, written: Node, what: str) -> list[Node]:
        if type(written) is Sequence:
            if not written.items:
                self._findings.missing(written, "no-children", f"{what} needs at least one node")
            return written.items
        if type(written) is Scalar and written.empty:
            self._findings.missing(at, "no-children", f"{what} needs a list of nodes below it")
            return []
        if type(written) is Mapping:
            message = f"{what} needs a list: write a dash before each of its nodes"
            self._findings.error(written, "missing-dash", message)
            return [written]
        self._findings.error(written, "wrong-kind", f"{what} needs a list of nodes, not a {written.kind}")
        return []

    def node(self, written: Node) -> tuple[TreeNode, Outcome]:
        """One node with what it saves."""
        self.depth += 1
        if self.depth > DEPTH:
            self._effort.refuse(written, "too-deep", f"nodes are nested deeper than {DEPTH} levels")
        try:
            if type(written) is Mapping:
                return self._mapping(written)
            if type(written) is Scalar:
                return self._bare(written)
            return self._list_as_node(written)
        finally:
            self.depth -= 1

    def _new(self, kind: str, source: Node) -> TreeNode:
        self._here += 1
        self._effort.node(source, self._here)
        made = TreeNode(kind, source)
        made.dead = not self._reader.active
        return made

    def _list_as_node(self, written: Node) -> tuple[TreeNode, Outcome]:
        made = self._new("sequence", written)
        made.children, outcome = self._sequence(self._items(written, written, "a sequence"))
        return made, outcome

    def _bare(self, written: Scalar) -> tuple[TreeNode, Outcome]:
        """A leaf without parameters, written as its bare name."""
        declared = self._leaves.get(written.text)
        if declared is None:
            self._report_not_a_node(written)
            return self._new("mistake", written), self._unchanged()
        made = self._new("leaf", written)
        return made, self._leaf(made, declared, written, None)

    def _report_not_a_node(self, written: Scalar) -> None:
        text = written.text
        stuck = _STUCK.fullmatch(text)
        if written.empty:
            self._findings.missing(written, "empty-node", "a node is missing after this dash")
        elif stuck and (stuck[1] in _ROLE or stuck[1] in self._leaves):
            suggestion = f"{stuck[1]}: {stuck[2]}"
            self._findings.error(written, "missing-space", "a space is missing after the colon", suggestion)
        elif (first := text.partition(" - ")[0]) != text and (first in _ROLE or first in self._leaves):
            self._findings.error(written, "missing-colon", f"a colon is missing: write {first}:", f"{first}:")
        elif text in _ROLE:
            self._findings.error(written, "missing-value", f'"{text}" needs a colon and what belongs to it')
        else:
            self._report_unknown_node(written)

    def _report_unknown_node(self, written: Scalar) -> None:
        if written.text in LATER:
            self._findings.error(written, "reserved", f'"{written.text}" is reserved for later')
            return
        valid = (*self._leaves, *KINDS)
        message = f'there is no node "{written.text}"'
        otherwise = "; `orchestrator nodes` lists the leaves"
        self._findings.unknown(written, "unknown-node", message, written.text, valid, otherwise)

    def _mapping(self, written: Mapping) -> tuple[TreeNode, Outcome]:
        kind: Entry | None = None
        declared: Declaration | None = None
        modifiers: dict[str, Entry] | None = None
        of_kind: dict[str, Entry] | None = None
        unknown: list[Entry] | None = None
        leaves = self._leaves
        for word, entry in written.entries.items():
            role = _ROLE.get(word)
            if role == "modifier":
                if modifiers is None:
                    modifiers = {}
                modifiers[word] = entry
            elif role == "of kind":
                if of_kind is None:
                    of_kind = {}
                of_kind[word] = entry
            elif role == "kind" or word in leaves:
                if kind is None:
                    kind = entry
                    declared = leaves.get(word)
                else:
                    self._report_two_kinds(kind[0], entry[0])
            else:
                if unknown is None:
                    unknown = []
                unknown.append(entry)
        if unknown is not None:
            self._report_unknown_words(unknown, kind, declared)
        if kind is None:
            if unknown is None:
                self._report_no_kind(written, of_kind)
            return self._new("mistake", written), self._unchanged()
        if of_kind is not None:
            self._check_of_kind(kind[0], of_kind)
        made = self._new("leaf" if declared else kind[0].text, kind[0])
        if modifiers is None:
            return made, self._of_kind(made, declared, kind, of_kind)
        return made, self._modified(made, declared, kind, of_kind, modifiers)

    def _report_no_kind(self, written: Mapping, of_kind: dict[str, Entry] | None) -> None:
        if of_kind is None:
            message = "this node has no kind: add sequence, selector, ... or the name of a leaf"
            self._findings.missing(written, "no-kind", message)
            return
        word, (key, _) = next(iter(of_kind.items()))
        message = f'"{word}" belongs to {" or ".join(OF_KIND[word])}: write it there, without a dash'
        self._findings.error(key, "no-kind", message)

    def _report_two_kinds(self, first: Scalar, second: Scalar) -> None:
        message = f'"{second.text}" is a second kind in the node that begins with "{first.text}": is a dash missing?'
        self._findings.error(second, "two-kinds", message)

    def _report_unknown_words(self, unknown: list[Entry], kind: Entry | None, leaf: Declaration | None) -> None:
        for key, _ in unknown:
            word = key.text
            stuck = _STUCK.fullmatch(word)
            if stuck and (stuck[1] in _ROLE or stuck[1] in self._leaves):
                message = f'a space is missing after the colon of "{stuck[1]}"'
                cut_off = stuck[2][0] in "{["  # at the next colon, inside the brackets
                suggestion = None if cut_off else f"{stuck[1]}: {stuck[2]}"
                self._findings.error(key, "missing-space", message, suggestion)
            elif leaf is not None and word in leaf.params:
                message = f'"{word}" is a parameter of {leaf.name}: indent it deeper than {leaf.name}'
                self._findings.error(key, "parameter-outside", message)
                self._outside.add(word)
            elif kind is None or _LOOKS_LIKE_A_LEAF.fullmatch(word):
                self._report_unknown_node(key)
            else:
                valid = (*MODIFIERS, *(word for word, kinds in OF_KIND.items() if kind[0].text in kinds))
                message = f'there is no modifier "{word}"'
                self._findings.unknown(key, "unknown-modifier", message, word, valid)

    def _check_of_kind(self, kind: Scalar, words: dict[str, Entry]) -> None:
        for word, (key, _) in words.items():
            if kind.text not in OF_KIND[word]:
                allowed = " and ".join(OF_KIND[word])
                self._findings.error(key, "not-of-this-kind", f'"{word}" belongs to {allowed}, not to {kind.text}')

    def _of_kind(
        self, made: TreeNode, declared: Declaration | None, kind: Entry, words: dict[str, Entry] | None
    ) -> Outcome:
        if declared is not None:
            return self._leaf(made, declared, kind[0], kind[1])
        return _KINDS[made.kind](self, made, kind[0], kind[1], words or {})

    # Kinds

    def _unchanged(self) -> Outcome:
        return self._scope.saved, self._scope.saved

    def _sequence(self, items: list[Node]) -> tuple[list[TreeNode], Outcome]:
        made: list[TreeNode] = []
        scope = self._scope
        failed: Saved = None
        for item in items:
            node, (success, failure) = self.node(item)
            scope.saved = success
            failed = on_either(failed, failure)
            made.append(node)
        return made, (scope.saved, failed)

    def _sequence_kind(self, made: TreeNode, key: Scalar, written: Node, words: dict[str, Entry]) -> Outcome:
        made.children, outcome = self._sequence(self._items(key, written, "a sequence"))
        self._memory(made, words)
        return outcome

    def _selector_kind(self, made: TreeNode, key: Scalar, written: Node, words: dict[str, Entry]) -> Outcome:
        scope = self._scope
        succeeded: Saved = None
        for item in self._items(key, written, "a selector"):
            node, (success, failure) = self.node(item)
            scope.saved = failure
            succeeded = on_either(succeeded, success)
            made.children.append(node)
        self._memory(made, words)
        return succeeded, scope.saved

    def _memory(self, made: TreeNode, words: dict[str, Entry]) -> None:
        entry = words.get("memory")
        if entry is None:
            return
        value = self._reader.value(entry[1], _BOOL)
        if not isinstance(value, bool):
            if value is not UNREAD:
                self._findings.error(entry[1], "wrong-type", "memory is true or false, not an expression")
            return
        made.memory = value
        if value:
            return
        for child in made.children[:-1]:
            started = [child]
            if made.kind == "selector" and child.kind == "sequence" and child.children:
                started.append(child.children[0])
            if not started[-1].only_looks:
                wanted = "a look" if made.kind == "sequence" else "a look, or a sequence that begins with one"
                message = (
                    f"without memory every child but the last must be {wanted}: this would be started on every tick"
                )
                self._findings.error(child, "not-a-look", message)
            for node in started:
                for word in _does_more(node.modifiers):
                    message = f'without memory this is started on every tick, and "{word}" does more than look'
                    self._findings.error(node, "not-a-look", message)

    def _parallel_kind(self, made: TreeNode, key: Scalar, written: Node, words: dict[str, Entry]) -> Outcome:
        scope = self._scope
        before = scope.saved
        everything: set[str] = set()
        saved_by: dict[str, int] = {}
        for number, item in enumerate(self._items(key, written, "a parallel")):
            scope.saved = before
            start = len(scope.log)
            node, (success, _) = self.node(item)
            everything |= success or frozenset()
            for name, at in scope.log[start:]:
                if saved_by.setdefault(name, number) != number:
                    message = f'"{name}" is saved in two branches of the parallel on line {key.line}'
                    self._findings.error(at, "saved-twice", message)
            made.children.append(node)
        scope.saved = before
        made.succeed = self._how_many("succeed", words, made, "all") or "all"
        made.fail = self._how_many("fail", words, made, None)
        success = (before or frozenset()) | everything if made.succeed == "all" else before
        return success, before

    def _how_many(self, word: str, words: dict[str, Entry], made: TreeNode, default: str | None) -> str | int | None:
        entry = words.get(word)
        if entry is None:
            return default
        written = entry[1]
        text = written.text if type(written) is Scalar else ""
        if text in ("all", "any"):
            return text
        count = len(made.children)
        if _COUNT.fullmatch(text) and int(text) <= count:
            return int(text)
        message = f'"{word}" is all, any, or a number from 1 to {count}'
        self._findings.error(written, "bad-policy", message)
        return default

    def _if_kind(self, made: TreeNode, key: Scalar, written: Node, words: dict[str, Entry]) -> Outcome:
        made.condition = self._reader.condition(written)
        before = self._scope.saved
        const = made.condition.const if made.condition else NOT_CONSTANT
        then = words.get("then")
        success, failure = before, None
        if then is None:
            self._findings.missing(key, "missing-then", '"if" needs "then" with a list of nodes')
        else:
            made.children, (success, failure) = self._branch(then, "then", const is not False)
        self._scope.saved = before
        otherwise = words.get("else")
        other: Outcome = (before, None)
        if otherwise is not None:
            made.otherwise, other = self._branch(otherwise, "else", const is not True)
        self._scope.saved = before
        return on_either(success, other[0]), on_either(on_either(failure, other[1]), before)

    def _branch(self, entry: Entry, word: str, possible: bool) -> tuple[list[TreeNode], Outcome]:
        active = self._reader.active
        self._reader.active = active and possible
        found = self._sequence(self._items(entry[0], entry[1], f'"{word}"'))
        self._reader.active = active
        return found

    def _check_kind(self, made: TreeNode, key: Scalar, written: Node, words: dict[str, Entry]) -> Outcome:
        made.condition = self._reader.condition(written)
        return self._unchanged()

    def _wait_for_kind(self, made: TreeNode, key: Scalar, written: Node, words: dict[str, Entry]) -> Outcome:
        made.condition = self._reader.condition(written, no_hold=None)
        return self._unchanged()

    def _use_kind(self, made: TreeNode, key: Scalar, written: Node, words: dict[str, Entry]) -> Outcome:
        saved = self._scope.saved
        self._check.use(made, written, words.get("with"), self)
        self._scope.saved = saved
        return self._unchanged()

    # Leaves

    def _leaf(self, made: TreeNode, declared: Declaration, key: Scalar, written: Node | None) -> Outcome:
        made.leaf = declared
        active = self._reader.active
        if active and not self._can(declared, key):
            self._reader.active = False  # its names and limits would only be reported again
        outcome = self._leaf_values(made, declared, key, written)
        self._reader.active = active
        return outcome

    def _leaf_values(self, made: TreeNode, declared: Declaration, key: Scalar, written: Node | None) -> Outcome:
        if self.in_finally and declared.asks:
            self._findings.error(
                key, "not-in-finally", f"{declared.name} waits for a person: it may not stand in finally"
            )
        if declared.name == "Set":
            return self._set(made, key, written)
        if written is None or (type(written) is Scalar and written.empty):
            entries: dict[str, Entry] = {}
        elif type(written) is Mapping:
            entries = written.entries
        else:
            self._report_no_parameters(declared, written)
            return self._unchanged()
        self._params(made, declared, key, entries)
        self._check_reported(made, declared, entries)
        self._check_said_once(declared, entries)
        return self._unchanged()

    def _check_reported(self, made: TreeNode, declared: Declaration, entries: dict[str, Entry]) -> None:
        """What a leaf watches must be something that the robot reports."""
        robot = self._check.robot
        if robot is None or not robot.fields or not self._reader.active:
            return
        for param, field in declared.reads.items():
            value = made.values.get(param)
            values = value.possible if isinstance(value, Expression) and "{}" in field else [value]
            for name in [field.format(each) for each in values if param in entries and value is not None]:
                if name not in robot.fields:
                    message = f"{robot.name} does not report {name}, without which {declared.name} has no {param}"
                    self._findings.error(entries[param][1], "lacks-field", message)

    def _check_said_once(self, declared: Declaration, entries: dict[str, Entry]) -> None:
        """Two answers that are the same are one."""
        for param in declared.result_params:
            written = entries[param][1] if param in entries else None
            texts: set[str] = set()
            for item in written.items if type(written) is Sequence else ():
                if type(item) is Scalar and item.text in texts:
                    self._findings.error(item, "said-twice", f'"{item.text}" stands here twice')
                texts.add(item.text if type(item) is Scalar else "")

    def _report_no_parameters(self, declared: Declaration, written: Node) -> None:
        names = list(declared.params)
        if not names:
            self._findings.error(written, "no-parameters", f"{declared.name} has no parameters")
            return
        text = written.text if type(written) is Scalar else "..."
        suggestion = f"{declared.name}: {{{names[0]}: {text}}}"
        message = f"{declared.name} needs its parameters by name"
        self._findings.error(written, "wrong-kind", message, suggestion)

    def _params(self, made: TreeNode, declared: Declaration, key: Scalar, entries: dict[str, Entry]) -> None:
        params = declared.params
        values = made.values
        read = self._reader.value
        meant: set[str | None] = {*self._outside}
        self._outside.clear()
        for word, (written, value) in entries.items():
            param = params.get(word)
            if param is None:
                meant.add(self._report_unknown_param(declared, written, entries))
                continue
            found = read(value, param.type)
            if found is not UNREAD:
                values[word] = found
        if len(values) < len(params):
            missing = []
            for param in params.values():
                if param.name not in entries:
                    values[param.name] = param.default
                    if param.required and param.name not in meant:
                        missing.append(f'"{param.name}" ({param.type.name})')
            if missing:
                self._findings.missing(key, "missing-parameter", f"{declared.name} needs {' and '.join(missing)}")
        if declared.one_of:
            self._check_one_of(declared, key, entries, meant)
        if any(getattr(declared.leaf, name) is not getattr(Leaf, name) for name in _ASKED) and len(values) == len(
            params
        ):
            self._check_together(made, declared, key, entries)
        if self._reader.active and any(param.type.kind == "group" for param in params.values()):
            self._check_group(made, declared, entries)

    def _report_unknown_param(self, declared: Declaration, key: Scalar, entries: dict[str, Entry]) -> str | None:
        """Says what is wrong with a parameter and returns the one that was probably meant."""
        word = key.text
        if word in MODIFIERS:
            message = f'"{word}" is a modifier, not a parameter: indent it like {declared.name}'
            self._findings.error(key, "modifier-inside", message)
            return None
        stuck = _STUCK.fullmatch(word)
        if stuck and stuck[1] in declared.params:
            suggestion = f"{stuck[1]}: {stuck[2]}"
            self._findings.error(key, "missing-space", "a space is missing after the colon", suggestion)
            return stuck[1]
        valid = tuple(name for name in declared.params if name not in entries)
        message = f'{declared.name} has no parameter "{word}"'
        self._findings.unknown(key, "unknown-parameter", message, word, valid)
        return None if self._findings.full else nearest(word, valid)

    def _check_one_of(
        self, declared: Declaration, key: Scalar, entries: dict[str, Entry], meant: set[str | None]
    ) -> None:
        given = [word for word in declared.one_of if word in entries]
        names = ", ".join(declared.one_of)
        if not given and meant.isdisjoint(declared.one_of):
            self._findings.missing(key, "missing-parameter", f"{declared.name} needs one of {names}")
        for word in given[1:]:
            message = f"{declared.name} takes only one of {names}; {given[0]} is given already"
            self._findings.error(entries[word][0], "one-of", message)

    def _check_together(self, made: TreeNode, declared: Declaration, key: Scalar, entries: dict[str, Entry]) -> None:
        """What only the leaf knows about its values, as far as all of them are known before the run."""
        if any(isinstance(value, (Expression, Template)) for value in made.values.values()):
            return
        try:
            leaf = declared.leaf(None, made.values, Path(made.place.file).parent)
            mistake = leaf.mistake()
            leaf.takes()
        except Exception as error:  # of whoever wrote the leaf: the operator gets to know who must mend it
            what = f"{type(error).__name__}: {error}"[:200]
            line = own_line(error)
            message = f"{declared.name} cannot be checked, its own code raised {what}{f' ({line})' if line else ''}"
            self._findings.error(key, "broken-leaf", message)
            return
        if mistake is not None:
            at = entries[mistake[0]][1] if mistake[0] in entries else key
            self._findings.error(at, "contradiction", f"{declared.name}: {mistake[1]}")

    def _check_group(self, made: TreeNode, declared: Declaration, entries: dict[str, Entry]) -> None:
        """Angles and poses beside a group must be of that group."""
        by_kind = {param.type.kind: param.name for param in declared.params.values()}
        group = made.values.get(by_kind["group"])
        robot = self._check.robot
        if robot is None or not isinstance(group, str):
            return
        joints = robot.groups[group].joints
        angles = made.values.get(by_kind.get("joint_angles", ""))
        for joint in angles if isinstance(angles, dict) else ():
            if joint not in joints:
                written = entries[by_kind["joint_angles"]][1]
                assert type(written) is Mapping
                message = f"{joint} is not a joint of {group}, which this node is to move"
                self._findings.unknown(written.entries[joint][0], "not-of-group", message, joint, joints)
        pose = made.values.get(by_kind.get("pose", ""))
        if isinstance(pose, str) and robot.poses[pose].angles.keys().isdisjoint(joints):
            message = f"the pose {pose} says nothing about the joints of {group}"
            self._findings.error(entries[by_kind["pose"]][1], "not-of-group", message)

    def _can(self, declared: Declaration, key: Scalar) -> bool:
        """Whether the robot can do what a leaf does; if not, that is said."""
        if not declared.implemented:
            message = f"{declared.name} is only declared: nothing is known yet about how to do it"
            self._findings.error(key, "not-implemented", message)
            return False
        robot = self._check.robot
        if robot is None:
            return True
        lacking = [need for need in declared.needs if need not in robot.capabilities]
        if lacking:
            remedies = "".join(f" ({robot.remedies[need]})" for need in lacking if need in robot.remedies)
            message = f"{robot.name} has no {' and no '.join(lacking)}, which {declared.name} needs{remedies}"
            self._findings.error(key, "lacks-capability", message)
            return False
        if robot.family not in declared.families:
            families = " and ".join(declared.families)
            message = f"{declared.name} exists on {families}; {robot.name} is of the family {robot.family}"
            self._findings.error(key, "wrong-family", message)
            return False
        return True

    def _set(self, made: TreeNode, key: Scalar, written: Node | None) -> Outcome:
        if type(written) is not Mapping or not written.entries:
            message = "Set needs names with expressions"
            self._findings.missing(key, "missing-parameter", message, "Set: {name: expression}")
            return self._unchanged()
        names: set[str] = set()
        for name, (at, value) in written.entries.items():
            if type(value) is not Scalar:
                self._findings.error(value, "wrong-kind", f"an expression is wanted here, not a {value.kind}")
                continue
            made_expression = self._reader.expression(value)
            if made_expression is None:
                names.add(name)
                self._scope.save(at, name, "any", ())
                continue
            kind = made_expression.kind
            if kind == "word":
                message = (
                    f'"{value.text}" is a word that means nothing here: a field contains a dot, a name begins with $'
                )
                self._findings.error(value, "unknown-word", message)
                kind = "any"
            stored = self._scope.save(at, name, kind, made_expression.made.choices)
            if stored is not None:
                made.sets[stored] = made_expression
                names.add(name)
        return (self._scope.saved or frozenset()) | names, self._scope.saved

    # Modifiers

    def _modified(
        self,
        made: TreeNode,
        declared: Declaration | None,
        kind: Entry,
        of_kind: dict[str, Entry] | None,
        words: dict[str, Entry],
    ) -> Outcome:
        scope, reader = self._scope, self._reader
        before, active = scope.saved, reader.active
        modifiers, entered = self._modifiers.read(words, self._effort.nodes)
        made.modifiers = modifiers
        if never_runs(modifiers):
            reader.active = False
            made.dead = True
        success, failure = self._of_kind(made, declared, kind, of_kind)
        if "repeat" in words:
            scope.saved = success
            self._modifiers.repeat_until(modifiers, words["repeat"][1])
        for name, hidden in reversed(entered):
            scope.leave(name, hidden)
        if "save" in words:
            success, failure = self._modifiers.save(made, *words["save"], (success, failure))
        if "timeout" in words:
            self._check_long_enough(made, words["timeout"][1])
        outcome = after_modifiers(made, before, success, failure)
        scope.saved = before
        if "finally" in words:
            self._finally(modifiers, *words["finally"])
            scope.saved = before
        reader.active = active
        return outcome

    def _check_long_enough(self, made: TreeNode, written: Node) -> None:
        """A timeout that ends before what the leaf itself is told to take."""
        timeout = made.modifiers.timeout
        if isinstance(timeout, float | int) and timeout <= (takes := own_time(made)):
            took, limit = shown(takes, "duration"), shown(timeout, "duration")
            message = f"{made.title} takes {took} by itself: a timeout of {limit} does not let it end"
            self._findings.warning(written, "timeout-too-short", message)

    def _finally(self, modifiers: Modifiers, key: Scalar, written: Node) -> None:
        outer = self.in_finally
        self.in_finally = True
        modifiers.outcome_key = self._scope.key(f"outcome@{self._effort.nodes}")
        known = Name(modifiers.outcome_key, "choice", ("success", "failure", "interrupted"))
        hidden = self._scope.enter("outcome", known)
        modifiers.finally_ = self.nodes(key, written, '"finally"')
        self._scope.leave("outcome", hidden)
        self.in_finally = outer
        if not outer:
            for node in modifiers.finally_:
                self._check_ends(node)

    def _check_ends(self, node: TreeNode) -> None:
        if node.modifiers.timeout is not None:
            return
        if node.kind == "wait_for":
            message = "finally must end: wait_for needs a timeout in it"
            self._findings.error(node, "not-in-finally", message)
        for child in (*node.children, *(node.otherwise or ())):
            self._check_ends(child)


def _does_more(modifiers: Modifiers) -> list[str]:
    """The modifiers that wait, ask, start anew or send something: no part of a look."""
    found = [word for word in _NOT_LOOKING if getattr(modifiers, word) is not None]
    return ["finally", *found] if modifiers.finally_ else found


_NOT_LOOKING = ("save", "cooldown", "confirm", "delay", "repeat", "for_each", "retry")
_BOOL = ParamType("bool")

_KINDS: dict[str, Callable[[Builder, TreeNode, Scalar, Node, dict[str, Entry]], Outcome]] = {
    "sequence": Builder._sequence_kind,
    "selector": Builder._selector_kind,
    "parallel": Builder._parallel_kind,
    "if": Builder._if_kind,
    "use": Builder._use_kind,
    "check": Builder._check_kind,
    "wait_for": Builder._wait_for_kind,
}
