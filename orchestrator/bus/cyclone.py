"""The parts of CycloneDDS that its Python package keeps to itself: raw samples, waiting for many readers, plain types.

Everything private is used here and nowhere else; the package is pinned to the version this was written for.
"""

from __future__ import annotations

import ctypes as ct
import threading
from collections.abc import Callable
from typing import Any

from cyclonedds._clayer import ddspy_take, ddspy_write, ddspy_write_ts
from cyclonedds.core import Entity, ReadCondition
from cyclonedds.domain import DomainParticipant
from cyclonedds.internal import DDS
from cyclonedds.topic import Topic

from orchestrator.bus.contract import BusError

QOS = threading.Lock()
"""Held while the package reads qualities of service, as it also does when it makes a writer: all threads share its
variables for that, and one thread would look at memory that another one has given back."""
_dll = DDS._dll_handle
_ANY_STATE = 0x7F
_BATCH = 32

# Own prototypes: setting argtypes on the shared library handle would break the package's calls.
_create_waitset = ct.CFUNCTYPE(ct.c_int32, ct.c_int32)(("dds_create_waitset", _dll))
_attach = ct.CFUNCTYPE(ct.c_int32, ct.c_int32, ct.c_int32, ct.c_ssize_t)(("dds_waitset_attach", _dll))
_wait = ct.CFUNCTYPE(ct.c_int32, ct.c_int32, ct.c_void_p, ct.c_size_t, ct.c_int64)(("dds_waitset_wait", _dll))
_set_trigger = ct.CFUNCTYPE(ct.c_int32, ct.c_int32, ct.c_bool)(("dds_waitset_set_trigger", _dll))
_dds_time = ct.CFUNCTYPE(ct.c_int64)(("dds_time", _dll))
_delete = ct.CFUNCTYPE(ct.c_int32, ct.c_int32)(("dds_delete", _dll))
_set_status_mask = ct.CFUNCTYPE(ct.c_int32, ct.c_int32, ct.c_uint32)(("dds_set_status_mask", _dll))
_ref_sertype = ct.CFUNCTYPE(ct.c_void_p, ct.c_void_p)(("ddsi_sertype_ref", _dll))
_get_sertype = ct.CFUNCTYPE(ct.c_int32, ct.c_int32, ct.c_void_p)(("dds_get_entity_sertype", _dll))
_usable_size = ct.CDLL(None).malloc_usable_size
_usable_size.restype, _usable_size.argtypes = ct.c_size_t, [ct.c_void_p]


def take(reader: int) -> list[tuple[bytes, Any]]:
    """Everything a reader holds, as (bytes with encapsulation header, sample info)."""
    samples = ddspy_take(reader, _ANY_STATE, _BATCH)
    if samples.__class__ is int:
        raise BusError(f"CycloneDDS refused to hand out samples (code {samples})")
    if len(samples) == _BATCH:
        samples += take(reader)
    return samples  # type: ignore[no-any-return]


def write(writer: int, data: bytes, age: float = 0.0) -> None:
    """Send now; with an age, as if it had been written that many seconds ago."""
    code = ddspy_write_ts(writer, data, _dds_time() - round(age * 1e9)) if age else ddspy_write(writer, data)
    if code:
        raise BusError(f"CycloneDDS refused to write {len(data)} bytes (code {code})")


class WaitSet:
    """Waits for any of many conditions and calls what belongs to those that fired; one of them is a bell.

    The bell is the wait set's own trigger, which wakes sooner than a condition of its own. It is put back when the next
    wait begins, because whoever was woken has something better to do; until then only the mark tells that it rang.
    """

    def __init__(self, participant: DomainParticipant) -> None:
        self._ref = _create_waitset(participant._ref)
        self._conditions: list[Entity] = []
        self._actions: list[Callable[[], None]] = []
        self._fired = (ct.c_ssize_t * 0)()
        self._rung = False
        self._bell_is_up = False
        self._attach(self._ref, self._hear)

    def ring(self) -> None:
        """End the current or next wait; from any thread."""
        self._hear()
        _set_trigger(self._ref, True)

    def _hear(self) -> None:
        self._rung = self._bell_is_up = True

    def on_data(self, reader: Entity, action: Callable[[], None]) -> None:
        """Call when the reader has samples."""
        self._add(ReadCondition(reader, _ANY_STATE), action)

    def on_status(self, entity: Entity, mask: int, action: Callable[[], None]) -> None:
        """Call when one of these statuses of the entity changes."""
        _set_status_mask(entity._ref, mask)
        self._add(entity, action)

    def _add(self, condition: Entity, action: Callable[[], None]) -> None:
        self._attach(condition._ref, action)
        self._conditions.append(condition)

    def _attach(self, condition: int, action: Callable[[], None]) -> None:
        code = _attach(self._ref, condition, len(self._actions))
        if code:
            raise BusError(f"CycloneDDS refused to wait for a condition (code {code})")
        self._actions.append(action)
        self._fired = (ct.c_ssize_t * len(self._actions))()

    def wait(self, seconds: float) -> bool:
        """Says whether somebody rang."""
        if self._bell_is_up:
            self._bell_is_up = False
            _set_trigger(self._ref, False)
        fired = self._fired
        count = _wait(self._ref, fired, len(fired), 0 if self._rung else int(seconds * 1e9))
        if count < 0:
            raise BusError(f"waiting for CycloneDDS failed (code {count})")
        for index in fired[: min(count, len(fired))]:
            self._actions[index]()
        if not self._rung:
            return False
        self._rung = False
        return True


def delete(participant: DomainParticipant, entities: list[Entity]) -> None:
    """End a participant and everything of it at once: peers learn it now and not when a lease runs out."""
    for entity in [*entities, participant]:
        Entity._entities.pop(entity._ref, None)  # or it is deleted a second time when Python collects it
    _delete(participant._ref)


class _TypeInformation:
    """The announcement of one type in one domain of this process, found in memory so that it can be hidden."""

    def __init__(self, topic: Topic[Any], sertype: int) -> None:
        self.sertype = sertype
        information: bytes = topic.data_type.__idl__._xt_bytedata[0]
        self._words = (ct.c_uint64 * (_usable_size(sertype) // 8)).from_address(sertype)
        self._index = self._find(information)
        if self._index < 0:
            raise BusError(f"the type information of topic {topic.name} was not found: not CycloneDDS 11.0.1?")
        self._pointer, self._size = self._words[self._index], self._words[self._index + 1]
        _ref_sertype(sertype)  # it must stay where it is as long as we may write to it

    def _find(self, information: bytes) -> int:
        """Where the pointer to these very bytes and their size are; -1 if they are not there."""
        for index in range(len(self._words) - 1):
            pointer, size = self._words[index], self._words[index + 1] & 0xFFFFFFFF
            plausible = size == len(information) and pointer and pointer % 16 == 0
            if plausible and ct.string_at(pointer, size) == information:
                return index
        return -1

    def hide(self) -> None:
        self._words[self._index] = 0
        self._words[self._index + 1] = self._size & ~0xFFFFFFFF

    def show(self) -> None:
        self._words[self._index], self._words[self._index + 1] = self._pointer, self._size


_hidden: dict[tuple[int, type], list[_TypeInformation]] = {}


def topic_without_type(participant: DomainParticipant, name: str, cls: type) -> Topic[Any]:
    """A topic whose type structure is not announced to others.

    Fast DDS and CycloneDDS cannot read each other's type information and then refuse to match. The Python package has
    no switch for it, so the pointer to the serialised information in its type object is cleared, after making sure that
    it is that pointer. CycloneDDS shares the type object between topics of a type and wants to see the information
    whenever another one is made.
    """
    known = _hidden.setdefault((participant.domain_id, cls), [])
    for information in known:
        information.show()
    topic: Topic[Any] = Topic(participant, name, cls)
    sertype = ct.c_void_p()
    if _get_sertype(topic._ref, ct.byref(sertype)) or not sertype.value:
        raise BusError(f"the type object of topic {name} is not accessible in this version of CycloneDDS")
    if all(information.sertype != sertype.value for information in known):
        known.append(_TypeInformation(topic, sertype.value))
    for information in known:
        information.hide()
    return topic


def forget_types(domain: int) -> None:
    """The domain has ended, and its type objects with it."""
    for key in [key for key in _hidden if key[0] == domain]:
        del _hidden[key]
