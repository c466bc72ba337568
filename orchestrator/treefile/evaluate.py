"""Expressions at run time: closures over a field reader and a store of names, with three-valued logic."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.treefile.expression import NOT_CONSTANT, Expr, calculate

# None stands for unknown: a field without a fresh sample, a name nobody saved.
Read = Callable[[str], Any]
Store = Mapping[str, Any]
Compiled = Callable[[Read, Store], Any]

_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def compiled(made: Expr) -> Compiled:
    """The expression as one function; what is constant is not looked at again."""
    if made.const is not NOT_CONSTANT:
        return _constant(made.const)
    return _MAKERS[made.op](made)


def _constant(value: Any) -> Compiled:
    return lambda read, store: value


def _field(made: Expr) -> Compiled:
    name = made.value
    return lambda read, store: read(name)


def _name(made: Expr) -> Compiled:
    key = made.value
    return lambda read, store: store.get(key)


def _tag(made: Expr) -> Compiled:
    numbers, word = made.value, compiled(made.args[0])
    return lambda read, store: numbers.get(word(read, store))


def _not(made: Expr) -> Compiled:
    inner = compiled(made.args[0])

    def negated(read: Read, store: Store) -> bool | None:
        value = inner(read, store)
        return None if value is None else not value

    return negated


def _logical(decisive: bool) -> Callable[[Expr], Compiled]:
    def make(made: Expr) -> Compiled:
        first, second = (compiled(part) for part in made.args)

        def logical(read: Read, store: Store) -> Any:
            left = first(read, store)
            if left is decisive:
                return decisive
            right = second(read, store)
            if right is decisive:
                return decisive
            return None if left is None or right is None else not decisive

        return logical

    return make


def _compare(made: Expr) -> Compiled:
    if len(made.args) == 2:
        return _pair(made.value[0], *made.args)
    pairs = [_pair(sign, *two) for sign, two in zip(made.value, zip(made.args, made.args[1:]))]

    def chain(read: Read, store: Store) -> bool | None:
        unknown = False
        for pair in pairs:
            value = pair(read, store)
            if value is False:
                return False
            unknown = unknown or value is None
        return None if unknown else True

    return chain


def _pair(sign: str, left: Expr, right: Expr) -> Compiled:
    holds, first, second = _SIGNS[sign], compiled(left), compiled(right)

    def pair(read: Read, store: Store) -> bool | None:
        one = first(read, store)
        two = second(read, store)
        return None if one is None or two is None else holds(one, two)

    return pair


def _arithmetic(made: Expr) -> Compiled:
    op, first, second = made.op, compiled(made.args[0]), compiled(made.args[1])

    def arithmetic(read: Read, store: Store) -> float | None:
        left = first(read, store)
        right = second(read, store)
        return None if left is None or right is None else calculate(op, left, right)

    return arithmetic


def _negative(made: Expr) -> Compiled:
    inner = compiled(made.args[0])

    def negative(read: Read, store: Store) -> float | None:
        value = inner(read, store)
        return None if value is None else -value

    return negative


_MAKERS: dict[str, Callable[[Expr], Compiled]] = {
    "const": lambda made: _constant(made.value),
    "field": _field,
    "name": _name,
    "tag": _tag,
    "not": _not,
    "and": _logical(False),
    "or": _logical(True),
    "compare": _compare,
    "neg": _negative,
    **dict.fromkeys("+-*/", _arithmetic),
}
