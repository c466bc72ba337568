"""What `make types` promises: types equal to the .idl files, or a message that says which file is wrong and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator import wire
from orchestrator.data import data_path
from orchestrator.wire.generate import GenerateError, generate, write

ROOM = Path(wire.__file__).parent


def idl_tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def modules(room: Path) -> dict[str, str]:
    return {str(path.relative_to(room)): path.read_text() for path in room.glob("*/**/__init__.py")}


def test_the_committed_types_are_those_of_the_idl_files(tmp_path: Path) -> None:
    write(generate(data_path("idl")), tmp_path)
    assert modules(ROOM) == modules(tmp_path)


def test_a_variant_that_is_gone_from_idl_is_gone_from_the_types(tmp_path: Path) -> None:
    write({Path("v/__init__.py"): "new", Path("v/old/__init__.py"): "old"}, tmp_path)
    write({Path("v/__init__.py"): "new"}, tmp_path)
    assert modules(tmp_path) == {"v/__init__.py": "new"}


def test_eight_bit_members_become_byte_and_char(tmp_path: Path) -> None:
    text = "module v { struct X { uint8 a; octet b; int8 c; sequence<uint8> d; int8 e[3]; }; };"
    generated = generate(idl_tree(tmp_path, {"v/x.idl": text}))[Path("v/__init__.py")]
    fields = [line.strip() for line in generated.splitlines() if line.startswith("    ") and ": " in line]
    assert fields == [
        "a: types.byte",
        "b: types.byte",
        "c: types.char",
        "d: types.sequence[types.byte]",
        "e: types.array[types.char, 3]",
    ]


def test_a_variant_takes_unchanged_types_from_its_package_and_changed_ones_from_itself(tmp_path: Path) -> None:
    files = {
        "v/same.idl": "module v { struct Same { long a; }; };",
        "v/changed.idl": "module v { struct Changed { long a; }; };",
        "v/new/changed.idl": "module v { struct Changed { double a; }; };",
        "v/new/user.idl": """#include "v/same.idl"
            #include "v/new/changed.idl"
            module v { struct User { Same same; Changed changed; }; };""",
    }
    text = generate(idl_tree(tmp_path, files))[Path("v/new/__init__.py")]
    assert "from orchestrator.wire.v import Same\n" in text
    assert "class Changed(" in text


def test_a_class_comes_after_the_classes_it_holds(tmp_path: Path) -> None:
    files = {
        "v/a.idl": '#include "v/z.idl"\nmodule v { struct A { sequence<Z> z; }; };',
        "v/z.idl": "module v { struct Z { long a; }; };",
    }
    text = generate(idl_tree(tmp_path, files))[Path("v/__init__.py")]
    assert text.index("class Z(") < text.index("class A(")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("module v { struct X { long a } };", r"x\.idl:1:\d+: syntax error"),
        ("module v { struct X { missing::Y a; }; };", r"'missing::Y' cannot be resolved"),
        ("module v { struct X { wchar a; }; };", r"'wchar' is not supported"),
        ("module v { typedef long Y; struct X { Y a; }; };", r"only structs and enums can be generated, not: Y ="),
        ("module v { union X switch (long) { case 1: long a; }; };", r"only structs and enums .*IdlUnion"),
        ('#include "nowhere.idl"', r"Can't open include file \"nowhere.idl\""),
        ("// nothing", r"defines no type"),
    ],
)
def test_a_wrong_idl_file_is_named_with_the_compilers_message(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(GenerateError, match=complaint) as caught:
        generate(idl_tree(tmp_path, {"v/x.idl": text}))
    assert str(caught.value).startswith(f"{tmp_path / 'v' / 'x.idl'}: ")


def test_two_modules_of_a_package_may_not_define_the_same_class_name(tmp_path: Path) -> None:
    text = "module v { module a { struct X { long a; }; }; module b { struct X { long b; }; }; };"
    with pytest.raises(GenerateError, match=r"v\.b\.X has the same class name as v\.a\.X"):
        generate(idl_tree(tmp_path, {"v/x.idl": text}))


def test_types_of_the_same_name_from_two_packages_may_not_meet(tmp_path: Path) -> None:
    files = {
        "u/x.idl": "module u { struct X { long a; }; };",
        "v/x.idl": '#include "u/x.idl"\nmodule v { struct X { u::X a; }; };',
    }
    with pytest.raises(GenerateError, match="two types called X meet in one package"):
        generate(idl_tree(tmp_path, files))


def test_a_type_of_another_package_must_be_in_that_packages_folder(tmp_path: Path) -> None:
    text = "module u { struct Y { long a; }; }; module v { struct X { u::Y a; }; };"
    with pytest.raises(GenerateError, match=r"u\.Y is defined in no \.idl file of idl/u/"):
        generate(idl_tree(tmp_path, {"v/x.idl": text}))


def test_idl_files_live_in_a_package_or_a_variant_of_it(tmp_path: Path) -> None:
    files = {"v/new/deeper/x.idl": "module v { struct X { long a; }; };"}
    with pytest.raises(GenerateError, match="belong into idl/<package>/"):
        generate(idl_tree(tmp_path, files))
