"""JSON Schema (draft-07) of tree files: completion, hover and first checks in editors. `check` knows much more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from orchestrator.leaf import Catalogue, Declaration, Param, ParamType
from orchestrator.robots.facts import RobotFacts
from orchestrator.treefile import vocabulary
from orchestrator.treefile.file import PLAIN_TYPES
from orchestrator.treefile.leaf_facts import default_text, facts, range_text, type_text
from orchestrator.treefile.values import WORDS, words_of
from orchestrator.treefile.vocabulary import Word
from orchestrator.yamlfile.units import DIMENSIONS, units_of

Schema = dict[str, Any]

_NAMED: Schema = {"type": "string", "pattern": r"^\$", "description": "A parameter or saved value: $name"}
_EXPRESSION: Schema = {"$ref": "#/definitions/expression"}
_NODES: Schema = {"$ref": "#/definitions/nodes"}
_NODE: Schema = {"$ref": "#/definitions/node"}
_TEXT: Schema = {"type": ["string", "number", "boolean"]}
_EXAMPLES = {
    "duration": "2 s",
    "length": "30 cm",
    "angle": "90 deg",
    "speed": "0.3 m/s",
    "angular speed": "20 deg/s",
    "percent": "80 %",
}
_EXPRESSION_HELP = (
    "A condition: comparisons, and, or, not, fields such as battery.level, names such as $tag. "
    "`orchestrator fields` lists the fields."
)


def schema(catalogue: Catalogue, robot: RobotFacts | None, robot_names: Iterable[str]) -> Schema:
    """What a tree file looks like; with a robot, only what that robot can do, in its own words."""
    leaves = [leaf for leaf in catalogue if robot is None or _can(robot, leaf)]
    head = {word.name: word for word in vocabulary.HEAD}
    values: dict[str, Schema] = {
        "tree": {"type": "string", "pattern": r"^[A-Za-z_][\w-]{0,63}$"},
        "description": _TEXT,
        "robot": {"anyOf": [{"enum": list(robot_names)}, {"type": "string"}]},
        "params": {"type": "object", "additionalProperties": _tree_param()},
        "require": {"anyOf": [{"type": "array", "items": _EXPRESSION}, _EXPRESSION]},
        "pause": _object({"when": _EXPRESSION, "until": _EXPRESSION}, ["when", "until"]),
        "root": _NODE,
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Behaviour tree" + (f" for {robot.name}" if robot else ""),
        **_object({name: _described(head[name], value) for name, value in values.items()}, ["tree", "root"]),
        "definitions": {
            "expression": {"type": ["string", "boolean"], "description": _EXPRESSION_HELP + _fields(robot)},
            "nodes": {"type": "array", "items": _NODE, "minItems": 1},
            "node": {"anyOf": [_node(leaves, robot), _bare(leaves), _NODES]},
        },
    }


def _can(robot: RobotFacts, leaf: Declaration) -> bool:
    return robot.family in leaf.families and robot.capabilities.issuperset(leaf.needs)


def _fields(robot: RobotFacts | None) -> str:
    return f"\n\n{robot.name} reports {', '.join(robot.fields)}." if robot is not None and robot.fields else ""


def _object(properties: Schema, required: Iterable[str] = ()) -> Schema:
    made: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    needed = list(required)
    return made | {"required": needed} if needed else made


def _described(word: Word, value: Schema) -> Schema:
    """A value with what its word means; `$ref` hides its neighbours, so it is wrapped."""
    inner = {"allOf": [value]} if "$ref" in value else value
    return inner | {"description": f"{word.name}: {word.value}\n\n{word.meaning}\n\n{_code(word.example)}"}


def _code(example: str) -> str:
    return f"```yaml\n{example}\n```"


def _tree_param() -> Schema:
    return _object(
        {
            "type": {
                "anyOf": [{"enum": [*PLAIN_TYPES, "one of [a, b]", "list of text"]}, {"type": "string"}],
                "description": "Its type.",
            },
            "default": {"description": "What it is when nobody says otherwise; without it, it must be given."},
            "help": _TEXT | {"description": "What it is for."},
        },
        ["type"],
    )


# Nodes


def _node(leaves: list[Declaration], robot: RobotFacts | None) -> Schema:
    words = (*vocabulary.KINDS, *vocabulary.OF_KIND, *vocabulary.MODIFIERS)
    properties = {leaf.name: _leaf(leaf, robot) for leaf in leaves}
    properties |= {word.name: _described(word, _VALUES[word.name]) for word in words}
    dependencies = {"then": ["if"], "else": ["if"], "if": ["then"], "with": ["use"]}
    dependencies |= {"succeed": ["parallel"], "fail": ["parallel"]}
    return _object(properties) | {"minProperties": 1, "dependencies": dependencies}


def _bare(leaves: list[Declaration]) -> Schema:
    names = [leaf.name for leaf in leaves if leaf.name != "Set" and not _required(leaf) and not leaf.one_of]
    return {"type": "string", "enum": names, "description": "A leaf without parameters."}


def _required(leaf: Declaration) -> list[str]:
    return [param.name for param in leaf.params.values() if param.required]


def _leaf(leaf: Declaration, robot: RobotFacts | None) -> Schema:
    said = "\n".join(f"- {label}: {text}" for label, text in facts(leaf))
    description = f"{leaf.summary}\n\n{_code(leaf.example)}\n\n{said}"
    if leaf.name == "Set":
        value = {"type": ["string", "number", "boolean"]}
        return {"type": "object", "additionalProperties": value, "minProperties": 1, "description": description}
    required = _required(leaf)
    made = _object({param.name: _param(param, robot) for param in leaf.params.values()}, required)
    if not required and not leaf.one_of:
        made["type"] = ["object", "null"]
    if leaf.one_of:
        made["oneOf"] = [{"required": [name]} for name in leaf.one_of]
    return made | {"description": description}


def _param(param: Param, robot: RobotFacts | None) -> Schema:
    default = default_text(param)
    described = type_text(param.type) + _robot_range(param.type, robot)
    left_out = "required" if param.required else f"{default} if left out" if default else "may be left out"
    return value_schema(param.type, robot) | {"description": f"{param.name}: {described} ({left_out})"}


def _robot_range(wanted: ParamType, robot: RobotFacts | None) -> str:
    limits = robot.ranges.get(wanted.limit) if robot and wanted.limit else None
    if robot is None or limits is None:
        return ""
    return f", on {robot.name} {range_text(ParamType(wanted.kind, lower=limits[0], upper=limits[1]))}"


# Values


def value_schema(wanted: ParamType, robot: RobotFacts | None) -> Schema:
    """How a parameter of this type is written."""
    kind = wanted.kind
    if kind in DIMENSIONS:
        units = " or ".join(units_of(kind))
        example = _EXAMPLES.get(kind)
        made: Schema = {"type": "string", "description": f"With its unit ({units}), or an expression."}
        return made | {"examples": [example]} if example else made
    if kind in WORDS:
        return _words(words_of(wanted, robot))
    if kind == "tag":
        return _tag(robot)
    if kind == "list":
        assert wanted.of is not None
        return {"anyOf": [{"type": "array", "items": value_schema(wanted.of, robot)}, _NAMED]}
    if kind == "joint_angles":
        return _joint_angles(robot)
    if kind == "file":
        return {"type": "string", "pattern": r"^[^/]"}  # relative to the tree
    return {"type": _JSON_TYPES[kind]}


_JSON_TYPES = {
    "int": ["integer", "string"],  # a string is an expression
    "number": ["number", "string"],
    "bool": ["boolean", "string"],
    "text": ["string", "number", "boolean"],  # exactly what is written
}


def _words(valid: tuple[str, ...] | None) -> Schema:
    return {"type": "string"} if valid is None else {"anyOf": [{"enum": list(valid)}, _NAMED]}


def _tag(robot: RobotFacts | None) -> Schema:
    if robot is None or not robot.tags:
        return {"type": ["integer", "string"]}
    return {"anyOf": [{"enum": [*robot.tags, *robot.tags.values()]}, _NAMED]}


def _joint_angles(robot: RobotFacts | None) -> Schema:
    angle = value_schema(ParamType("angle"), robot)
    if robot is None:
        return {"type": "object", "additionalProperties": angle, "minProperties": 1}
    joints = {
        joint: angle | {"description": range_text(ParamType("angle", lower=lower, upper=upper))}
        for joint, (lower, upper) in robot.joints.items()
    }
    return _object(joints) | {"minProperties": 1}


_DURATION = value_schema(ParamType("duration"), None)
_COUNT: Schema = {"anyOf": [{"type": "integer", "minimum": 1}, _NAMED]}
_HOW_MANY: Schema = {"anyOf": [{"enum": ["all", "any"]}, {"type": "integer", "minimum": 1}]}

_VALUES: dict[str, Schema] = {
    **dict.fromkeys(("sequence", "selector", "parallel", "then", "else", "finally"), _NODES),
    **dict.fromkeys(("if", "check", "wait_for", "when", "unless", "while", "until"), _EXPRESSION),
    **dict.fromkeys(("cooldown", "delay", "timeout"), _DURATION),
    **dict.fromkeys(("confirm", "name", "note"), _TEXT),
    **dict.fromkeys(("succeed", "fail"), _HOW_MANY),
    "use": {"type": "string"},
    "with": {"type": "object"},
    "memory": {"type": "boolean"},
    "save": {"type": "string", "pattern": r"^[A-Za-z_]\w*$"},
    "result": {"enum": ["success", "failure", "inverted"]},
    "repeat": {"anyOf": [{"enum": ["forever"]}, _COUNT, _object({"until": _EXPRESSION}, ["until"])]},
    "for_each": {"type": "object", "minProperties": 1, "maxProperties": 1},
    "retry": {"anyOf": [_COUNT, _object({"times": _COUNT, "wait": _DURATION}, ["times"])]},
}
