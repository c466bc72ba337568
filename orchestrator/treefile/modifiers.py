"""Modifiers: what stands beside a node's kind, read in the order in which they are nested."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from orchestrator.leaf import ParamType
from orchestrator.leaf.words import MODIFIERS
from orchestrator.treefile.expression import NOT_CONSTANT, Expr, Name
from orchestrator.treefile.model import Expression, Modifiers, TreeNode, Value
from orchestrator.treefile.scope import Saved, Scope, on_either
from orchestrator.treefile.values import Reader
from orchestrator.yamlfile import UNREAD, Findings, Mapping, Mistake, Node, Scalar, Sequence, nearest
from orchestrator.yamlfile.values import INT

_RANK = {word: rank for rank, word in enumerate(MODIFIERS)}
_DURATION = ParamType("duration", lower=0)
_TEXT = ParamType("text")
_COUNT = ParamType("int")
# It is looked at before the start, when nothing has held for any time yet.
_WHILE_HOLDS = 'with "for" this would fail at the start: write wait_for with it before this node, and while without it'
_RESULT = ParamType("choice", choices=("success", "failure", "inverted"))

Outcome = tuple[Saved, Saved]  # what is saved after success and after failure
Entry = tuple[Scalar, Node]
Entered = list[tuple[str, "Name | None"]]  # names made known inside a node, with what each hid


class ModifierReader:
    """Reads the modifiers of one file's nodes."""

    def __init__(self, scope: Scope, reader: Reader, findings: Findings) -> None:
        self._scope = scope
        self._reader = reader
        self._findings = findings
        self._entered: Entered = []
        self._number = 0
        self.in_finally = False

    def read(self, words: dict[str, Entry], number: int) -> tuple[Modifiers, Entered]:
        """All but `save` and `finally`, and the names that are known inside. `number` is the node's own."""
        entered: Entered = []
        self._entered = entered
        self._number = number
        modifiers = Modifiers()
        for word in sorted(words, key=_RANK.__getitem__):
            key, written = words[word]
            if type(written) is Scalar and written.empty:
                self._findings.missing(key, "missing-value", f'"{word}" needs a value')
                continue
            reading = _READINGS.get(word)
            if reading is not None:
                reading(self, modifiers, key, written)
        return modifiers, entered

    def _when(self, modifiers: Modifiers, key: Scalar, written: Node) -> None:
        modifiers.when = self._reader.condition(written)

    def _unless(self, modifiers: Modifiers, key: Scalar, written: Node) -> None:
        modifiers.unless = self._reader.condition(written)

    def _while(self, modifiers: Modifiers, key: Scalar, written: Node) -> None:
        modifiers.while_ = self._reader.condition(written, no_hold=_WHILE_HOLDS)

    def _until(self, modifiers: Modifiers, key: Scalar, written: Node) -> None:
        modifiers.until = self._reader.condition(written, no_hold=None)

    def _duration(self, key: Scalar, written: Node) -> Value:
        value = self._reader.value(written, _DURATION)
        if value == 0:
            self._findings.error(written, "out-of-range", f"{key.text} must be longer than 0 s")
            return None
        return None if value is UNREAD else value

    def _cooldown(self, modifiers: Modifiers, key: Scalar, written: Node) -> None:
        modifiers.cooldown = self._duration(key, written)

    def _delay(self, modifiers: Modifiers, key: Scalar, written: Node) -> None:
        modifiers.delay = self._duration(key, written)

    def _timeout(self, modifiers: Modifiers, key: Scalar, written: Node) -> None:
        modifiers.timeout = self._duration(key, written)

    def _confirm(self, modifiers: Modifiers, key: Scalar, written: Node) -> None:
        if self.in_finally:
            self._findings.error(key, "not-in-finally", "confirm waits for a person: it may not stand in finally")
        modifiers.confirm = self._text(written)

    def _name(self, modifiers: Modifiers, key: Scalar, written: Node) -> None:
        modifiers.name = self._text(written)

    def _text(self, written: Node) -> Value:
        value = self._reader.value(written, _TEXT)
        return None if value is UNREAD else value

    def _note(self, modifiers: Modifiers, key: Scalar, written: Node) -> None:
        if type(written) is not Scalar:
            self._findings.error(written, "wrong-kind", f"a text is wanted here, not a {written.kind}")
            return
        modifiers.note = written.text

    def _result(self, modifiers: Modifiers, key: Scalar, written: Node) -> None:
        value = self._reader.value(written, _RESULT)
        modifiers.result = value if isinstance(value, str) else None

    def _repeat(self, modifiers: Modifiers, key: Scalar, written: Node) -> None:
        if type(written) is Mapping:
            return  # its condition is read after the node, whose saved names it may use
        if type(written) is Scalar and written.text == "forever":
            modifiers.repeat = "forever"
            if self.in_finally:
                self._findings.error(key, "not-in-finally", "finally must end: repeat forever may not stand in it")
            return
        modifiers.repeat = self._rounds(written, 'N, "forever" or {until: EXPR}', 1)

    def _rounds(self, written: Node, wanted: str, lowest: int) -> int | None:
        if type(written) is not Scalar:
            self._findings.error(written, "wrong-kind", f"{wanted} is wanted here, not a {written.kind}")
            return None
        count = self._reader.value(written, _COUNT) if written.text[:1] == "$" else self._count(written, wanted)
        if isinstance(count, Expression):
            self._findings.error(written, "not-constant", "this number must be known before the run")
        if not isinstance(count, int):
            return None
        if not lowest <= count <= 1_000_000:
            self._findings.error(written, "out-of-range", f"{count} is out of range: from {lowest} to 1000000")
            return None
        return count

    def _count(self, written: Scalar, wanted: str) -> int | None:
        try:
            return INT.parse(written.text)
        except Mistake as mistake:
            message = f"{mistake.message}: {wanted} is wanted here"
            self._findings.error(written, mistake.code, message, mistake.suggestion)
            return None

    def repeat_until(self, modifiers: Modifiers, written: Node) -> None:
        if type(written) is not Mapping:
            return
        entry = written.entries.get("until")
        for word, (key, _) in written.entries.items():
            if word != "until":
                self._findings.unknown(key, "unknown-key", f'repeat has no "{word}"', word, ["until"])
        if entry is None:
            self._findings.missing(written, "missing-value", 'repeat needs a number, "forever" or {until: EXPR}')
            return
        modifiers.repeat = self._reader.condition(entry[1])

    def _for_each(self, modifiers: Modifiers, key: Scalar, written: Node) -> None:
        if type(written) is not Mapping or len(written.entries) != 1:
            message = "for_each needs one name with a list: {name: [a, b]}"
            self._findings.error(written, "wrong-kind", message)
            return
        [(name, (at, values))] = written.entries.items()
        if not self._scope.good_name(at, name):
            return
        if self._scope.look_up(name) is not None:
            self._findings.error(at, "name-taken", f'"{name}" is already in use: choose another name')
            return
        known, found = self._loop_values(name, values)
        if known is None:
            known = Name(self._scope.key(name), "any")
        else:
            modifiers.for_each = (known.key, found)
        self._entered.append((name, self._scope.enter(name, known)))

    def _loop_values(self, name: str, written: Node) -> tuple[Name | None, Value]:
        key = self._scope.key(name)
        if type(written) is Scalar and written.text.startswith("$"):
            listed = self._scope.look_up(written.text[1:])
            if listed is None:
                self._scope.reading = written
                self._scope.report_unknown(written.text[1:], 0)
                return None, None
            if listed.kind == "list" and listed.of is not None:
                if listed.const is NOT_CONSTANT:
                    return Name(key, listed.of, listed.choices), _listed_at_run_time(written, listed)
                return Name(key, listed.of, listed.choices, None, NOT_CONSTANT, _each_once(listed.const)), listed.const
        if type(written) is not Sequence or not written.items:
            self._findings.error(written, "wrong-kind", "a list with at least one value is wanted here")
            return None, None
        return self._literal_values(key, written)

    def _literal_values(self, key: str, written: Sequence) -> tuple[Name | None, Value]:
        if self._reader.too_many(written):
            return None, None
        values: list[Any] = []
        kinds: set[str] = set()
        for item in written.items:
            if type(item) is not Scalar:
                self._findings.error(item, "wrong-kind", f"a value is wanted here, not a {item.kind}")
                return None, None
            if item.quoted:
                values.append(item.text)
                kinds.add("text")
                continue
            made = self._reader.expression(item)
            if made is None or made.kind == "any":
                return None, None
            if made.kind == "list":
                self._findings.error(item, "wrong-kind", f"{item.text} is a list itself: write it without the brackets")
                return None, None
            if made.kind == "word":
                values.append(item.text)
                kinds.add("choice")
            elif made.const is NOT_CONSTANT:
                self._findings.error(item, "not-constant", "the values of for_each must be known before the run")
                return None, None
            else:
                values.append(made.const)
                kinds.add(made.kind)
        if kinds == {"int", "number"}:
            kinds = {"number"}
        if len(kinds) != 1:
            listed = " and ".join(sorted("word" if kind == "choice" else kind for kind in kinds))
            self._findings.error(written, "two-types", f"the values of for_each must be of one type, not {listed}")
            return None, None
        kind = kinds.pop()
        possible = _each_once(values)
        return Name(key, kind, possible if kind == "choice" else (), None, NOT_CONSTANT, possible), values

    def _retry(self, modifiers: Modifiers, key: Scalar, written: Node) -> None:
        times, wait = written, None
        if type(written) is Mapping:
            for word, (at, _) in written.entries.items():
                if word not in ("times", "wait"):
                    self._findings.unknown(at, "unknown-key", f'retry has no "{word}"', word, ["times", "wait"])
            entry = written.entries.get("times")
            wait = written.entries.get("wait")
            if entry is None:
                if not any(nearest(word, ("times", "wait")) == "times" for word in written.entries):
                    self._findings.missing(written, "missing-value", 'retry needs "times"')
                return
            times = entry[1]
        modifiers.retry = self._rounds(times, "a number of further attempts", 1)
        if wait is not None:
            modifiers.retry_wait = self._duration(*wait)
        modifiers.attempt_key = self._scope.key(f"attempt@{self._number}")
        known = Name(modifiers.attempt_key, "int")
        self._entered.append(("attempt", self._scope.enter("attempt", known)))

    def save(self, made: TreeNode, key: Scalar, written: Node, outcome: Outcome) -> Outcome:
        if type(written) is not Scalar:
            self._findings.error(written, "wrong-kind", f"a name is wanted here, not a {written.kind}")
            return outcome
        if written.empty:
            return outcome
        declared = made.leaf
        if declared is None or not (declared.result or declared.result_params):
            what = declared.name if declared else f"a {made.kind}"
            self._findings.error(key, "no-result", f"{what} has no result that could be saved")
            return outcome
        choices = [*declared.result]
        kind = "choice"
        for param in declared.result_params:
            listed = made.values.get(param)
            if isinstance(listed, list):
                choices += [choice for choice in listed if isinstance(choice, str)]
            else:
                kind = "any"
        made.modifiers.save = self._scope.save(written, written.text, kind, tuple(dict.fromkeys(choices)))
        name = frozenset((written.text,))
        success, failure = outcome
        return (success or frozenset()) | name, (failure or frozenset()) | name


def _each_once(values: list[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))


def _listed_at_run_time(written: Scalar, listed: Name) -> Expression:
    return Expression(written.text, Expr("name", "list", 0, listed.key), None, written.place)


def never_runs(modifiers: Modifiers) -> bool:
    when, unless = modifiers.when, modifiers.unless
    return (when is not None and when.const is False) or (unless is not None and unless.const is True)


def after_modifiers(made: TreeNode, before: Saved, success: Saved, failure: Saved) -> Outcome:
    """What is saved after the modifiers had their say: whatever may end the node early has saved nothing."""
    modifiers = made.modifiers
    if modifiers.repeat == "forever":
        success = None
    if modifiers.for_each is not None and (isinstance(modifiers.for_each[1], Expression) or not modifiers.for_each[1]):
        success, failure = before, on_either(failure, before)  # there may be no round at all
    if isinstance(modifiers.repeat, Expression):
        failure = on_either(failure, success)
    if modifiers.timeout is not None and made.kind != "leaf":
        failure = on_either(failure, before)
    if modifiers.confirm is not None or modifiers.cooldown is not None or modifiers.while_ is not None:
        failure = on_either(failure, before)
    if modifiers.until is not None:
        success, failure = on_either(success, before), on_either(failure, before)
    if modifiers.result == "success":
        success, failure = on_either(success, failure), None
    elif modifiers.result == "failure":
        success, failure = None, on_either(success, failure)
    elif modifiers.result == "inverted":
        success, failure = failure, success
    if modifiers.when is not None or modifiers.unless is not None:
        success, failure = on_either(success, before), on_either(failure, before)
    return success, failure


_READINGS: dict[str, Callable[[ModifierReader, Modifiers, Scalar, Node], None]] = {
    "when": ModifierReader._when,
    "unless": ModifierReader._unless,
    "result": ModifierReader._result,
    "while": ModifierReader._while,
    "until": ModifierReader._until,
    "cooldown": ModifierReader._cooldown,
    "confirm": ModifierReader._confirm,
    "delay": ModifierReader._delay,
    "repeat": ModifierReader._repeat,
    "for_each": ModifierReader._for_each,
    "retry": ModifierReader._retry,
    "timeout": ModifierReader._timeout,
    "name": ModifierReader._name,
    "note": ModifierReader._note,
}
