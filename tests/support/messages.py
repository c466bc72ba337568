"""Random messages of any type, and comparison of messages whatever their arrays are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from cyclonedds.idl import IdlStruct
from hypothesis import strategies as st

from orchestrator.wire.shape import Char, Enumeration, Many, Number, Shape, Struct, Text, struct_of

_INTEGERS = {"B": (0, 2**8), "h": (-(2**15), 2**15), "H": (0, 2**16), "i": (-(2**31), 2**31), "I": (0, 2**32)}
_INTEGERS |= {"q": (-(2**63), 2**63), "Q": (0, 2**64)}
_LETTERS = st.characters(codec="utf-8", exclude_characters="\0")


def messages(cls: type[IdlStruct]) -> st.SearchStrategy[Any]:
    """Any message of this type."""
    return _values(struct_of(cls))


def _values(shape: Shape) -> st.SearchStrategy[Any]:
    match shape:
        case Number("?", _):
            return st.booleans()
        case Number("f", _):
            return st.floats(width=32)
        case Number("d", _):
            return st.floats()
        case Number(code, _):
            low, end = _INTEGERS[code]
            return st.integers(low, end - 1)
        case Char():
            return st.characters(min_codepoint=1, max_codepoint=127)
        case Enumeration(members):
            return st.sampled_from(list(members))
        case Text(bound):
            return st.text(_LETTERS, max_size=min(bound or 12, 12))
        case Many(Char(), int() as length, _):
            return st.text(st.characters(min_codepoint=1, max_codepoint=127), min_size=length, max_size=length)
        case Many(element, int() as length, _):
            return st.lists(_values(element), min_size=length, max_size=length)
        case Many(element, _, bound):
            return st.lists(_values(element), max_size=min(bound or 4, 4))
        case Struct(cls, _, fields, _):
            parts = {name: _values(part) for name, part in fields}
            return st.fixed_dictionaries(parts).map(lambda values: cls(**values))
    raise AssertionError(shape)


def plain(value: Any) -> Any:
    """A message as dicts, lists and plain numbers; NaN made comparable."""
    if isinstance(value, IdlStruct):
        return {name: plain(getattr(value, name)) for name, _ in struct_of(type(value)).fields}
    if isinstance(value, np.ndarray | bytes):
        return [plain(item) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, list | tuple):
        items = [plain(item) for item in value]
        return "".join(items) if items and all(isinstance(x, str) and len(x) == 1 for x in items) else items
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    return value
