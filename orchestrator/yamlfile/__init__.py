"""Strict YAML with places: reading, typed values with units, records from tables of fields, findings.

A file becomes a tree of text (`read_file`, `read_text`). Nothing is guessed: the wanted type decides how a scalar is
read. A loader is a table of fields, not code; every mistake is collected with file, line and column, all at once:

    @dataclass(frozen=True)
    class Joint:
        name: str
        lower: float          # rad
        upper: float          # rad
        damping: float | None

    @dataclass(frozen=True)
    class Profile:
        vendor: str
        domain: int
        timeout: float        # s
        fsm: dict[str, int]
        joints: list[Joint]

    JOINT = record(Joint, {
        "name": required(TEXT),
        "lower": required(ANGLE),
        "upper": required(ANGLE),
        "damping": optional(Number(lower=0)),                             # None when left out
    })
    PROFILE = record(Profile, {
        "vendor": required(OneOf("fourier", "dobot", "pnd")),
        "domain": required(Integer(0, 232)),
        "timeout": optional(Quantity("duration", lower=0, upper=60), 2.0),
        "fsm": required(map_of(Integer(0, 65535))),                       # free names, values of one type
        "joints": required(list_of(JOINT, at_least=1)),
    })

    findings = Findings()
    profile = load(path, PROFILE, findings)       # a Profile, or None when anything was wrong
    print(findings.render())

The first argument of `record` is called with the fields as keywords (use `dict` for a plain dictionary). A check over
several fields goes into `record(..., check=function)`: it gets the record and yields sentences about it.
Quantities come in s, m, rad, m/s, rad/s, N, Nm, V, A, Hz, degC, and percent as 0 to 100 (not as a fraction).
"""

from orchestrator.yamlfile.findings import Finding, Findings, Place, Severity, nearest
from orchestrator.yamlfile.nodes import Document, Mapping, Node, Scalar, Sequence
from orchestrator.yamlfile.reader import read_file, read_text
from orchestrator.yamlfile.schema import (
    UNREAD,
    Key,
    Type,
    Unread,
    list_of,
    load,
    map_of,
    optional,
    record,
    required,
    scalar,
)
from orchestrator.yamlfile.values import (
    ANGLE,
    ANGULAR_SPEED,
    BOOL,
    DURATION,
    INT,
    LENGTH,
    NUMBER,
    PERCENT,
    SPEED,
    TEXT,
    Boolean,
    Integer,
    Mistake,
    Number,
    OneOf,
    Quantity,
    ScalarType,
    Text,
)

__all__ = [
    "ANGLE",
    "ANGULAR_SPEED",
    "BOOL",
    "DURATION",
    "INT",
    "LENGTH",
    "NUMBER",
    "PERCENT",
    "SPEED",
    "TEXT",
    "UNREAD",
    "Boolean",
    "Document",
    "Finding",
    "Findings",
    "Integer",
    "Key",
    "Mapping",
    "Mistake",
    "Node",
    "Number",
    "OneOf",
    "Place",
    "Quantity",
    "Scalar",
    "ScalarType",
    "Sequence",
    "Severity",
    "Text",
    "Type",
    "Unread",
    "list_of",
    "load",
    "map_of",
    "nearest",
    "optional",
    "read_file",
    "read_text",
    "record",
    "required",
    "scalar",
]
