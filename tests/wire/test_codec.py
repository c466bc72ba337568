"""The codec against the library's own serialiser, the vendors' own bytes, and bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cyclonedds.idl import IdlStruct, make_idl_struct
from cyclonedds.idl.types import float64, sequence, uint16
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.wire import dobot_atom, fourier_msgs, pnd_adam
from orchestrator.wire.codec import WireError, codec
from orchestrator.wire.example import example
from orchestrator.wire.fields import FieldReader
from orchestrator.wire.registry import message_types
from orchestrator.wire.shape import Enumeration, Many, Shape, Struct, struct_of
from tests.support.messages import messages, plain

TYPES = message_types()
CAPTURES = [
    row for file in sorted(Path(__file__).parent.glob("captures/*.json")) for row in json.loads(file.read_text())
]
every_type = pytest.mark.parametrize("cls", TYPES.values(), ids=TYPES.keys())
versions = pytest.mark.parametrize("version", [1, 2], ids=["xcdr1", "xcdr2"])
some_examples = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


def unpadded(data: bytes) -> bytes:
    """Without the padding at the end, which the header counts."""
    return data[:2] + b"\0\0" + data[4 : len(data) - (data[3] & 3)]


# Equal to the library.


@every_type
@versions
@some_examples
@given(data=st.data())
def test_encodes_the_librarys_bytes_and_decodes_them_to_the_same_values(
    data: st.DataObject, cls: type[IdlStruct], version: int
) -> None:
    message = data.draw(messages(cls))
    theirs = message.serialize(use_version_2=version == 2)
    ours = codec(cls).encode(message, version)
    assert unpadded(ours) == theirs
    assert len(ours) % 4 == 0
    decoded = codec(cls).decode(ours)
    assert isinstance(decoded, cls)
    assert plain(decoded) == plain(message) == plain(cls.deserialize(theirs))


@every_type
@versions
def test_a_decoded_message_encodes_again(cls: type[IdlStruct], version: int) -> None:
    data = codec(cls).encode(example(cls), version)
    assert codec(cls).encode(codec(cls).decode(data), version) == data


@every_type
def test_big_endian_messages_are_understood(cls: type[IdlStruct]) -> None:
    from cyclonedds.idl._support import Endianness

    message = example(cls)
    for version_2 in (False, True):
        data = message.serialize(endianness=Endianness.Big, use_version_2=version_2)
        assert plain(codec(cls).decode(data)) == plain(message)


# The vendors' own bytes.


def captured_type(row: dict[str, Any]) -> type[IdlStruct]:
    package, *_, name = row["type"].split("::")
    return TYPES[f"{package}:{name}"]


def with_numbers_for_enumerations(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: with_numbers_for_enumerations(item) for key, item in value.items()}
    if isinstance(value, list):
        return [with_numbers_for_enumerations(item) for item in value]
    return getattr(value, "value", value)


def build(shape: Shape, value: Any) -> Any:
    match shape:
        case Struct(cls, _, fields, _):
            return cls(**{name: build(part, value[name]) for name, part in fields})
        case Many(element, _, _):
            return [build(element, item) for item in value]
        case Enumeration(members):
            return members(value)
        case _:
            return value


@pytest.mark.parametrize("row", CAPTURES, ids=[f"{row['topic']}-{n}" for n, row in enumerate(CAPTURES)])
def test_bytes_written_by_the_vendors_own_software(row: dict[str, Any]) -> None:
    cls, data = captured_type(row), bytes.fromhex(row["cdr_hex"])
    assert with_numbers_for_enumerations(plain(codec(cls).decode(data))) == row["values"]
    ours = codec(cls).encode(build(struct_of(cls), row["values"]))
    assert ours[:3] + ours[4:] == data[:3] + data[4:]  # byte 3 counts the padding; Fast DDS leaves it 0


def test_there_are_captures_of_every_vendor() -> None:
    assert {row["type"].split("::")[0] for row in CAPTURES} == {"fourier_msgs", "dobot_atom", "pnd_adam"}
    assert len(CAPTURES) >= 25


# Single fields.


def all_paths(shape: Shape, value: Any, path: str = "") -> list[tuple[str, Any]]:
    """Every path into a message, with the value it leads to."""
    paths = [(path, value)] if path else []
    match shape:
        case Struct(_, _, fields, _):
            for name, part in fields:
                paths += all_paths(part, getattr(value, name), f"{path}.{name}".removeprefix("."))
        case Many(element, _, _) if not isinstance(value, str):
            for index, item in enumerate(value):
                paths += all_paths(element, item, f"{path}[{index}]")
    return paths


@every_type
@versions
def test_every_field_reads_straight_from_the_bytes(cls: type[IdlStruct], version: int) -> None:
    message = example(cls)
    data = codec(cls).encode(message, version)
    for path, value in all_paths(struct_of(cls), message):
        assert plain(codec(cls).field(path)(data)) == plain(value), path
        assert plain(codec(cls).field(path, plain=True)(data)) == plain(value), path


@every_type
@some_examples
@given(data=st.data())
def test_fields_stay_right_when_the_layout_changes(data: st.DataObject, cls: type[IdlStruct]) -> None:
    readers = {path: codec(cls).field(path) for path, _ in all_paths(struct_of(cls), example(cls, count=1))}
    for _ in range(3):
        message = data.draw(messages(cls))
        encoded = codec(cls).encode(message, data.draw(st.sampled_from([1, 2])))
        present = dict(all_paths(struct_of(cls), message))
        for path, read in readers.items():
            if path in present:
                assert plain(read(encoded)) == plain(present[path])
            else:
                with pytest.raises(WireError, match="no element"):
                    read(encoded)


def test_one_field_of_every_element() -> None:
    message = example(dobot_atom.MainNodesState_)
    read = codec(dobot_atom.MainNodesState_).field("left_leg[*].error_code")
    values = read(codec(dobot_atom.MainNodesState_).encode(message))
    assert isinstance(values, np.ndarray)
    assert values.dtype == np.uint16
    assert values.tolist() == [axis.error_code for axis in message.left_leg]


def test_every_element_of_a_sequence_however_many_there_are() -> None:
    cdr = codec(fourier_msgs.RobotControlGroupState)
    read = cdr.field("group_state[*].joint_position[*]", plain=True)
    for count in (0, 2, 0, 1, 3):
        message = example(fourier_msgs.RobotControlGroupState, count)
        message.header.frame_id = "x" * (600 - 180 * count)  # so that different layouts have lengths in common
        expected = [value for group in message.group_state for value in group.joint_position]
        assert list(read(cdr.encode(message))) == expected


@versions
def test_an_empty_sequence_of_long_numbers_is_followed_by_no_padding(version: int) -> None:
    cls = make_idl_struct(
        "Gap", "test.Gap", {"a": sequence[float64], "b": float64, "c": uint16, "d": sequence[float64]}
    )
    for a, d in (([], []), ([1.5], []), ([], [2.5]), ([1.5, 3.5], [2.5])):
        message = cls(a=a, b=4.5, c=7, d=d)
        data = codec(cls).encode(message, version)
        assert unpadded(data) == message.serialize(use_version_2=version == 2)
        assert plain(codec(cls).decode(data)) == plain(message)
        assert codec(cls).field("b")(data) == 4.5


def test_the_padding_count_of_the_header_does_not_decide() -> None:
    cdr = codec(dobot_atom.ClearErrors_)
    data = bytearray(cdr.encode(dobot_atom.ClearErrors_(5)))
    data[3] = 3
    assert cdr.decode(bytes(data)).msg_id == 5
    assert FieldReader(cdr.shape, "msg_id")(bytes(data)) == 5


def test_an_integer_too_large_for_any_float_is_refused() -> None:
    velocity = example(fourier_msgs.VelocityCmd)
    velocity.vx = 10**400
    with pytest.raises(WireError, match=r"VelocityCmd\.vx"):
        codec(fourier_msgs.VelocityCmd).encode(velocity, finite=True)


def test_numbers_come_as_numpy_arrays_or_as_tuples_when_asked() -> None:
    data = codec(fourier_msgs.BaseData).encode(example(fourier_msgs.BaseData))
    array = codec(fourier_msgs.BaseData).field("rpy")(data)
    assert isinstance(array, np.ndarray)
    assert array.dtype == np.float64
    assert codec(fourier_msgs.BaseData).field("rpy", plain=True)(data) == tuple(array.tolist())
    assert isinstance(codec(fourier_msgs.BaseData).decode(data).rpy, np.ndarray)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("motor_stat[3].q", "there is no field 'motor_stat'; there are fsm_id, imu_state, motor_state"),
        ("motor_state[12].q", r"the last element of the array is \[11\]"),
        ("fsm_id[0]", "asks for an element of something that has none"),
        ("motor_state[*]", r"\[\*\] reads numbers only"),
        ("motor_state[-1].q", "is not a field path"),
        ("motor_state[3]q", "is not a field path"),
        (".fsm_id", "is not a field path"),
        ("", "is not a field path"),
    ],
)
def test_a_wrong_path_is_refused_when_the_reader_is_made(path: str, problem: str) -> None:
    with pytest.raises(WireError, match=problem):
        codec(dobot_atom.LowerState_).field(path)


# Bad input.


@every_type
@versions
def test_truncated_bytes(cls: type[IdlStruct], version: int) -> None:
    data = codec(cls).encode(example(cls), version)
    end = len(data) - (data[3] & 3)
    for size in {0, 1, 3, 4, end // 2, end - 1}:
        cut = data[:3] + b"\0" + data[4:size] if size > 4 else data[:size]
        with pytest.raises(WireError) as caught:
            codec(cls).decode(cut)
        assert caught.value.type_name == struct_of(cls).name
        assert caught.value.offset is not None


@every_type
def test_bytes_of_a_longer_version_of_the_type(cls: type[IdlStruct]) -> None:
    data = codec(cls).encode(example(cls))
    with pytest.raises(WireError, match="left over"):
        codec(cls).decode(data + b"\0\0\0\0")
    first = struct_of(cls).fields[0][0]
    with pytest.raises(WireError, match="left over"):
        FieldReader(struct_of(cls), first)(data + b"\0\0\0\0")


@pytest.mark.parametrize("kind", [b"\x00\x02", b"\x00\x03", b"\x00\x08", b"\x01\x01", b"\xff\xff"])
def test_a_wrong_encapsulation_header(kind: bytes) -> None:
    data = kind + codec(dobot_atom.ClearErrors_).encode(dobot_atom.ClearErrors_(1))[2:]
    with pytest.raises(
        WireError, match=f"encapsulation {int.from_bytes(kind, 'big'):#06x} is not one of 0x0000, 0x0001"
    ):
        codec(dobot_atom.ClearErrors_).decode(data)
    with pytest.raises(WireError, match="encapsulation"):
        codec(dobot_atom.ClearErrors_).field("msg_id")(data)


def test_a_sequence_longer_than_the_buffer() -> None:
    data = bytearray(codec(pnd_adam.LowCmd_).encode(example(pnd_adam.LowCmd_)))
    data[8:12] = (0xFFFFFFFF).to_bytes(4, "little")
    with pytest.raises(WireError, match=r"LowCmd_.motor_cmd at byte 8: a sequence of 4294967295 elements"):
        codec(pnd_adam.LowCmd_).decode(bytes(data))
    with pytest.raises(WireError, match="a sequence of 4294967295 elements"):
        codec(pnd_adam.LowCmd_).field("motor_cmd[0].q")(bytes(data))


def fsm_id_with(text: bytes) -> bytes:
    body = (301).to_bytes(2, "little") + b"\0\0" + len(text).to_bytes(4, "little") + text
    return b"\0\x01\0\0" + body + bytes(-len(body) % 4)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "a string without terminator"),
        (b"wave", "a string without terminator"),
        (b"a\xff\xfe\0", "not valid UTF-8"),
    ],
)
def test_bad_strings(text: bytes, problem: str) -> None:
    cdr = codec(dobot_atom.SetFsmId_)
    for read in (cdr.decode, cdr.field("current_action")):
        with pytest.raises(WireError, match=f"SetFsmId_.current_action at byte .*{problem}"):
            read(fsm_id_with(text))


def test_an_unknown_enumeration_value_is_an_error_of_that_field_only() -> None:
    cdr = codec(dobot_atom.AMRState_)
    data = bytearray(cdr.encode(example(dobot_atom.AMRState_)))
    data[8:12] = (77).to_bytes(4, "little")
    with pytest.raises(
        WireError, match=r"AMRState_.navigation_status at byte 8: 77 is not a value of NavigationStatus_"
    ):
        cdr.decode(bytes(data))
    with pytest.raises(WireError, match="77 is not a value of NavigationStatus_"):
        cdr.field("navigation_status")(bytes(data))
    assert isinstance(cdr.field("device_status")(bytes(data)), dobot_atom.DeviceStatus_)


def test_the_error_names_the_topic_where_it_is_known() -> None:
    with pytest.raises(WireError) as caught:
        codec(dobot_atom.ClearErrors_).decode(b"\0\x01\0\0")
    assert str(caught.value.on("rt/clear/errors")) == (
        "rt/clear/errors: dobot_atom::msg::dds_::ClearErrors_.msg_id at byte 4: "
        "needs 4 bytes, 0 are left: the message is cut short"
    )


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (dobot_atom.UpperCmd_([]), "UpperCmd_.motor_cmd: 0 values, the array takes exactly 17"),
        (dobot_atom.SetFsmId_(70_000, ""), "SetFsmId_.id: 70000 does not fit"),
        (dobot_atom.SetFsmId_(1, None), "SetFsmId_.current_action: None is not text"),
        (dobot_atom.SwitchUpperControl_("false"), "SwitchUpperControl_.flag: 'false' is not True or False"),
        (dobot_atom.SwitchUpperControl_(1), "SwitchUpperControl_.flag: 1 is not True or False"),
        (dobot_atom.EnableMotors_([1] * 29), r"EnableMotors_.flag\[0\]: 1 is not True or False"),
        (pnd_adam.HandCmd_([1] * 11, 0), "HandCmd_.position: 11 values, the array takes exactly 12"),
        (pnd_adam.LowCmd_(0, 5, 0), "LowCmd_.motor_cmd: 5 is not a list of values"),
        (pnd_adam.LowCmd_(0, [dobot_atom.ClearErrors_(1)], 0), r"LowCmd_.motor_cmd\[0\].mode: missing"),
        (
            dobot_atom.AMRCommand_(3, 1, 0.0, 0.0, 1, 1, 0.0),
            "AMRCommand_.command_type: 3 is not a AMRCommandType: CANCEL",
        ),
        (dobot_atom.SetFsmId_(1, "\ud800"), "SetFsmId_.current_action: .* is not text that UTF-8 can carry"),
        (dobot_atom.SetFsmId_(1, "a\0b"), "SetFsmId_.current_action: .* has a zero inside"),
        (dobot_atom.RemoteControl_(dobot_atom.JoystickValue_(1e39, 0.0), None), "btn_move.x: 1e.39 does not fit"),
    ],
)
def test_a_value_that_does_not_fit_its_field(message: Any, problem: str) -> None:
    with pytest.raises(WireError, match=problem):
        codec(type(message)).encode(message)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, np.float32("nan"), np.float64("inf")])
def test_not_finite_is_refused_where_asked(bad: float) -> None:
    velocity = example(fourier_msgs.VelocityCmd)
    velocity.yaw = bad
    assert codec(fourier_msgs.VelocityCmd).encode(velocity)
    with pytest.raises(WireError, match=f"VelocityCmd.yaw: {bad} is not a finite number"):
        codec(fourier_msgs.VelocityCmd).encode(velocity, finite=True)
    base = example(fourier_msgs.BaseData)
    base.rpy[1] = bad
    with pytest.raises(WireError, match=r"BaseData.rpy\[1\]"):
        codec(fourier_msgs.BaseData).encode(base, finite=True)


def test_not_finite_is_refused_in_arrays_of_any_kind() -> None:
    base = example(fourier_msgs.BaseData)
    for kind in (np.float32, np.float64):
        base.rpy = np.array([0.0, np.nan, 0.0], kind)
        with pytest.raises(WireError, match=r"BaseData.rpy\[1\]: nan is not a finite number"):
            codec(fourier_msgs.BaseData).encode(base, finite=True)


def test_huge_but_finite_numbers_pass_the_finite_check() -> None:
    base = example(fourier_msgs.BaseData)
    base.rpy = [1.7e308, 1.7e308, 0.0]
    assert codec(fourier_msgs.BaseData).encode(base, finite=True) == codec(fourier_msgs.BaseData).encode(base)


@every_type
def test_finite_messages_pass_the_finite_check(cls: type[IdlStruct]) -> None:
    assert codec(cls).encode(example(cls), finite=True) == codec(cls).encode(example(cls))


@every_type
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_bytes_give_a_message_or_a_wire_error(data: st.DataObject, cls: type[IdlStruct]) -> None:
    damaged = bytearray(codec(cls).encode(example(cls), data.draw(st.sampled_from([1, 2]))))
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    sample = bytes(damaged[: data.draw(st.integers(0, len(damaged)))])
    path = data.draw(st.sampled_from([path for path, _ in all_paths(struct_of(cls), example(cls))]))
    for read in (codec(cls).decode, codec(cls).field(path), codec(cls).field(path, plain=True)):
        try:
            read(sample)
        except WireError as error:
            assert str(error)
