"""The generated types are the ones the robots know: by name, by members, and by the type ids announced on the wire."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from cyclonedds.idl import IdlEnum, IdlStruct, IdlUnion, make_idl_struct, types
from cyclonedds.idl._typesupport.DDS.XTypes import TypeIdentifier, TypeInformation

from orchestrator.data import data_path
from orchestrator.wire.registry import message_types, packages

IDL = data_path("idl")
TYPES = message_types()
CAPTURES = [
    pytest.param(row, id=f"{file.stem}:{row['topic']}")
    for file in sorted((Path(__file__).parent / "captures").glob("*.json"))
    for row in json.loads(file.read_text())
]
VARIANTS = [module for module in packages() if module.__name__.count(".") == 3]

TK_INT8, TK_UINT8, TK_BYTE = 0x0C, 0x0D, 0x02


def announced(data_type: type[IdlStruct]) -> set[int]:
    """The kinds of all type identifiers in what CycloneDDS announces for a type, minimal and complete."""
    definition = data_type.__idl__
    definition.fill_type_data()
    return set(_kinds(definition._xt_data))


def _kinds(value: Any) -> Iterator[int]:
    if isinstance(value, TypeIdentifier):
        yield value.discriminator
    if isinstance(value, IdlUnion):
        yield from _kinds(value.value)
    elif is_dataclass(value):
        for member in fields(value):
            yield from _kinds(getattr(value, member.name))
    elif isinstance(value, list | tuple):
        for element in value:
            yield from _kinds(element)


def type_ids(information: TypeInformation) -> list[bytes]:
    both = (information.minimal, information.complete)
    return [bytes(one.typeid_with_size.type_id.value) for one in both]


def python_type_ids(data_type: type[IdlStruct]) -> list[bytes]:
    return type_ids(data_type.__idl__.get_type_info())


# --- eight bits -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TYPES)
def test_no_type_announces_an_8_bit_integer_that_kills_older_peers(name: str) -> None:
    assert not announced(TYPES[name]) & {TK_UINT8, TK_INT8}


def struct_with(member: Any) -> Any:
    return make_idl_struct("Sample", "test.Sample", {"a": member})


@pytest.mark.parametrize(
    ("member", "kind"),
    [
        (types.uint8, TK_UINT8),
        (types.int8, TK_INT8),
        (types.sequence[types.uint8], TK_UINT8),
        (types.array[types.int8, 3], TK_INT8),
        (types.sequence[make_idl_struct("Inner", "test.Inner", {"b": types.uint8})], TK_UINT8),
    ],
)
def test_the_check_above_sees_8_bit_integers_wherever_they_are(member: Any, kind: int) -> None:
    assert kind in announced(struct_with(member))


def test_the_check_above_accepts_byte() -> None:
    assert announced(struct_with(types.byte)) & {TK_UINT8, TK_INT8, TK_BYTE} == {TK_BYTE}


# --- names and members ------------------------------------------------------------------------------------------------


def wire_name(data_type: type[IdlStruct]) -> str:
    return str(data_type.__idl__.idl_transformed_typename)


@pytest.mark.parametrize("row", CAPTURES)
def test_every_captured_sample_has_a_type_of_its_name_with_its_members_in_order(row: dict[str, Any]) -> None:
    package, name = row["type"].split("::")[0], row["type"].split("::")[-1]
    data_type = TYPES[f"{package}:{name}"]
    assert wire_name(data_type) == row["type"]
    assert_same_members(data_type, row["values"])


def assert_same_members(data_type: type[IdlStruct], values: dict[str, Any]) -> None:
    annotations = {member.name: member.type for member in fields(data_type)}
    assert list(annotations) == list(values)
    for name, value in values.items():
        nested: Any = annotations[name]
        while hasattr(nested, "subtype"):
            nested = nested.subtype
        if isinstance(nested, type) and issubclass(nested, IdlStruct):
            for element in value if isinstance(value, list) else [value]:
                assert_same_members(nested, element)


@pytest.mark.parametrize("name", TYPES)
def test_the_name_on_the_wire_is_the_vendors(name: str) -> None:
    package, short = name.split(":")[0].split("/")[0], name.split(":")[1]
    module = "msg" if package in {"builtin_interfaces", "std_msgs", "fourier_msgs"} else "msg::dds_"
    assert wire_name(TYPES[name]) == f"{package}::{module}::{short}"


def test_enums_start_at_zero_and_new_amr_firmware_renumbers_them() -> None:
    default = import_module("orchestrator.wire.dobot_atom").AMRCommandType
    newer = import_module("orchestrator.wire.dobot_atom.amr_v2").AMRCommandType
    assert [default.CANCEL_TASK.value, default.REMOTE_CONTROL.value, default.SET_DECEL.value] == [0, 4, 15]
    assert [newer.MOVE_TO_CHARGE.value, newer.REMOTE_CONTROL.value, newer.RELOCATE.value] == [4, 5, 19]


# --- variants ---------------------------------------------------------------------------------------------------------


def test_these_are_the_firmware_variants() -> None:
    assert [module.__name__.removeprefix("orchestrator.wire.") for module in VARIANTS] == [
        "dobot_atom.amr_v2",
        "dobot_atom.emergency_3",
        "dobot_atom.fsm_v1",
        "dobot_atom.fsm_v3",
        "fourier_msgs.no_duration",
        "pnd_adam.remote_int16",
    ]


def layout(data_type: Any) -> Any:
    """What tells two types of one name apart on the wire."""
    if issubclass(data_type, IdlEnum):
        return {literal.name: literal.value for literal in data_type}
    return python_type_ids(data_type)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda module: module.__name__)
def test_a_variant_holds_only_what_differs_from_its_package(variant: Any) -> None:
    package = import_module(variant.__name__.rpartition(".")[0])
    for name in set(variant.__all__) & set(package.__all__):
        assert layout(getattr(variant, name)) != layout(getattr(package, name)), f"{name} is the same in both"


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda module: module.__name__)
def test_a_variant_repeats_what_holds_a_type_it_changes(variant: Any) -> None:
    package = import_module(variant.__name__.rpartition(".")[0])
    changed = {getattr(package, name) for name in set(variant.__all__) & set(package.__all__)}
    structs = [getattr(package, name) for name in package.__all__ if issubclass(getattr(package, name), IdlStruct)]
    holders = {struct.__name__ for struct in structs if set(held_types(struct)) & changed}
    assert holders <= set(variant.__all__)


def held_types(data_type: type[IdlStruct]) -> Iterator[Any]:
    for member in fields(data_type):
        nested: Any = member.type
        while hasattr(nested, "subtype"):
            nested = nested.subtype
        yield nested


# --- CycloneDDS 0.10, as on the robots --------------------------------------------------------------------------------


@pytest.fixture
def idlc() -> str:
    found = shutil.which("idlc")
    if found is None and not os.environ.get("CI"):
        pytest.skip("no idlc: apt install cyclonedds-tools")
    assert found, "CI is set, so idlc (Debian's cyclonedds-tools) must be installed"
    return found


def c_type_ids(idlc: str, file: Path, scratch: Path) -> dict[str, list[bytes]]:
    """The type ids in the C code generated from `file`, by C type name."""
    subprocess.run([idlc, "-I", IDL, file], cwd=scratch, check=True)
    code = (scratch / file.with_suffix(".c").name).read_text()
    blobs = re.findall(r"#define TYPE_INFO_CDR_(\w+) \(unsigned char \[\]\)\{(.*?)\}", code, re.DOTALL)
    return {name: type_ids(_type_information(blob)) for name, blob in blobs}


def _type_information(c_array: str) -> TypeInformation:
    blob = bytes(int(byte, 16) for byte in re.findall(r"0x(\w\w)", c_array))
    return TypeInformation.deserialize(blob, has_header=False, use_version_2=True)


@pytest.mark.interop
@pytest.mark.parametrize("file", sorted(IDL.rglob("*.idl")), ids=lambda file: str(file.relative_to(IDL)))
def test_the_c_compiler_of_the_robots_generation_gives_our_types_the_same_ids(
    idlc: str, file: Path, tmp_path: Path
) -> None:
    home = file.parent.relative_to(IDL).as_posix()
    ours = {wire_name(TYPES[name]).replace("::", "_"): TYPES[name] for name in TYPES if name.split(":")[0] == home}
    theirs = c_type_ids(idlc, file, tmp_path)
    assert theirs
    assert {name: python_type_ids(ours[name]) for name in theirs} == theirs
