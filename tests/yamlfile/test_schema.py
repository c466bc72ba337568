from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orchestrator.yamlfile import (
    ANGLE,
    TEXT,
    Findings,
    Integer,
    Number,
    OneOf,
    Quantity,
    list_of,
    load,
    map_of,
    optional,
    record,
    required,
)


@dataclass(frozen=True)
class Joint:
    name: str
    lower: float
    upper: float
    damping: float | None


@dataclass(frozen=True)
class Profile:
    vendor: str
    domain: int
    timeout: float
    fsm: dict[str, int]
    joints: list[Joint]


def in_order(joint: Joint) -> Iterator[str]:
    if joint.lower > joint.upper:
        yield "lower must not be above upper"


JOINT = record(
    Joint,
    {
        "name": required(TEXT),
        "lower": required(ANGLE),
        "upper": required(ANGLE),
        "damping": optional(Number(lower=0)),
    },
    check=in_order,
)
PROFILE = record(
    Profile,
    {
        "vendor": required(OneOf("fourier", "dobot", "pnd")),
        "domain": required(Integer(0, 232)),
        "timeout": optional(Quantity("duration", lower=0, upper=60), 2.0),
        "fsm": required(map_of(Integer(0, 65535))),
        "joints": required(list_of(JOINT, at_least=1)),
    },
)


def loaded(tmp_path: Path, text: str) -> tuple[Profile | None, list[tuple[int, int, str]]]:
    path = tmp_path / "robot.yaml"
    path.write_text(text)
    findings = Findings()
    profile = load(path, PROFILE, findings)
    return profile, [(f.place.line, f.place.column, f.code) for f in findings.sorted()]


def test_a_table_of_fields_reads_a_record(tmp_path: Path) -> None:
    profile, found = loaded(
        tmp_path,
        "vendor: dobot\ndomain: 0\nfsm: {ready: 2}\njoints:\n  - {name: waist, lower: -1 rad, upper: 1 rad}\n",
    )
    assert found == []
    assert profile == Profile("dobot", 0, 2.0, {"ready": 2}, [Joint("waist", -1.0, 1.0, None)])


def test_every_mistake_is_found_at_once_with_its_place(tmp_path: Path) -> None:
    text = (
        "vendor: dobbot\n"
        "domain: 300\n"
        "timeot: 3 s\n"
        "fsm: {ready: two}\n"
        "joints:\n"
        "  - {name: waist, lower: 1, upper: 1 rad, damping: -1}\n"
        "  - {name: [a], lower: 2 rad}\n"
        "  - {name: head, lower: 2 rad, upper: 1 rad}\n"
        "  - head\n"
    )
    profile, found = loaded(tmp_path, text)
    assert profile is None
    assert found == [
        (1, 9, "not-a-choice"),
        (2, 9, "out-of-range"),
        (3, 1, "unknown-key"),
        (4, 14, "not-a-number"),
        (6, 26, "unit-missing"),
        (6, 52, "out-of-range"),
        (7, 5, "missing-key"),
        (7, 12, "wrong-kind"),
        (8, 5, "does-not-hold"),
        (9, 5, "wrong-kind"),
    ]


def test_all_missing_keys_are_named_together(tmp_path: Path) -> None:
    path = tmp_path / "robot.yaml"
    path.write_text("domain: 1\njoints: []\n")
    findings = Findings()
    assert load(path, PROFILE, findings) is None
    assert [f.message for f in findings.sorted()] == [
        'profile needs "vendor" (one of [fourier, dobot, pnd]) and "fsm" (mapping of names to int)',
        "at least 1 joint wanted here, not 0",
    ]


def test_a_key_without_a_value_says_what_is_wanted(tmp_path: Path) -> None:
    _, found = loaded(tmp_path, "vendor:\ndomain: 1\nfsm: {}\njoints: []\n")
    assert found == [(1, 1, "missing-value"), (4, 9, "wrong-length")]


def test_a_syntax_error_does_not_make_other_keys_missing(tmp_path: Path) -> None:
    _, found = loaded(
        tmp_path, "vendor: dobot\ndomain: 1\nfsm: {a: 1\njoints:\n  - {name: x, lower: 0 rad, upper: 0 rad}\n"
    )
    assert found == [(3, 6, "open-bracket")]
