"""Inputs for fuzzing: damaged files, spliced files, token soup and invented missions."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from pathlib import Path

from orchestrator.leaf import Declaration, ParamType
from orchestrator.leaf.words import KINDS, MODIFIERS, OF_KIND
from orchestrator.robots.facts import RobotFacts
from tests.treefile.conftest import CATALOGUE
from tests.treefile.test_rules import RULES, complete

_REPOSITORY = Path(__file__).parents[2]
_OWN_TREES = [path.read_text() for path in sorted((_REPOSITORY / "trees").rglob("*.yaml"))]
_PROFILES = [path.read_text() for path in sorted((_REPOSITORY / "config").rglob("*.yaml"))]
_RULE_FILES = [complete(text).replace("¶", "") for rule in RULES for text in (rule.keeps, rule.breaks)]
TREES = [*_OWN_TREES, *_RULE_FILES]
LINES = sorted({line for text in (*TREES, *_PROFILES) for line in text.split("\n")})


def _parts(text: str) -> list[str]:
    return text.split("|")


_ODD = "{}[]:,'\"#&*!|>%@`$ -?=<~\\\n\t\r\0é\u00a0\u202e\ufeff\u2028\U0001f600²٣\x85\x7f0.eE+\ud800"
_TOKENS = [
    *_parts("- |: |? |, |{|}|[|]|\"|'|#| #|&a |*a|!!str |!|%YAML 1.2\n|---\n|...\n|\n|  |    |      |a|b: |c: 1|- - "),
    *_parts("0|01|1e9|1e999|.inf|.NaN|-.5|0x1F|1_0|12:30|~|null|true|no|<<: |>|>-1|\\x41|\\u202e|é|\t|\r\n"),
    *_parts("2 m|500 ms|80 %|90 deg|$x|$$|tree: t\n|root: |root:\n|  - "),
    "|",
]
_WORDS = [*KINDS, *MODIFIERS, *OF_KIND, *_parts("tree|params|require|root|switch|times|until|forever|type|default")]
_MODIFIERS = list(MODIFIERS)
_VALUES = [
    *_parts("true|yes|0|1|-1|0.5|1e3|ready|walk|pd_stand|navigation|left|12|shelf|home|head|left_arm|''|²|٣|1e400|all"),
    *_parts("2 s|500 ms|2 m|80 %|90 deg|0.3 m/s|20 deg/s|10 N|[]|{}|[1, 2]|[10 %, 20 %, 30 %, 40 %, 0 %, 0 %]|text"),
    *_parts("$a|$b|$attempt|$outcome|$a + 1|2 * $a|$b / $a|a $a b|$$|{head_yaw: 10 deg}|{left_elbow_pitch: 0.1 rad}"),
]
_ATOMS = [
    *_parts("pad.a|emergency.any|battery.level|fsm.state|base.x|base.heading|errors.count|upper.control|no.such|12:30"),
    *_parts("robot.family|robot.has.hands|robot.has.wings|velocity.source|upper.state|$a|$b|$attempt|true|false|ready"),
    *_parts("on|atom|1|0|0.5|30 %|2 s|1 m|90 deg|1e308|(|)|not|-|°"),
]
_SIGNS = _parts("<|<=|>|>=|==|!=|and|or|+|-|*|/|for|=|&&|!|is|in|,|)")
_CONDITIONS = [
    *_parts("pad.a|pad.b|not emergency.any|battery.level > 30 %|fsm.state == ready|fsm.state != walk|base.x < 2 m"),
    *_parts("fsm.state == pd_stand|upper.state == act|upper.control|base.remote|velocity.source == navigation"),
    *_parts("robot.has.hands|robot.family == atom|(pad.a or pad.b)|10 % < battery.level < 90 %|errors.count > 2"),
]
_FILES = _parts("part.yaml|part.yaml|other.yaml|other.yaml|main.yaml|../x.yaml|none.yaml")
_POLICIES = _parts("memory: false|memory: true|succeed: any|succeed: 2|succeed: ²|fail: all|fail: 1|with: {}")
_TYPES = _parts("int|number|text|duration|length|tag|percent|one of [a, b]|list of int|bool|pose|hand")
# What fits each type of parameter on one robot or another.
_FITTING = {
    "int": ["1", "2", "12"],
    "number": ["0.5", "1", "2 * 3"],
    "bool": ["true", "false", "pad.a"],
    "text": ["go", "round $attempt", "it is $a"],
    "duration": ["2 s", "500 ms", "1 min"],
    "length": ["1 m", "5 cm", "-5 cm"],
    "angle": ["10 deg", "0.1 rad"],
    "speed": ["0.2 m/s", "-0.1 m/s"],
    "angular speed": ["10 deg/s"],
    "percent": ["50 %", "20 %"],
    "tag": ["12", "1", "$a"],
    "hand": ["left", "right"],
    "fsm_state": ["ready", "walk", "pd_stand", "user_cmd", "damping"],
    "upper_state": ["act", "remote", "move_cmd"],
    "velocity_source": ["navigation", "joystick"],
    "pose": ["home", "ready"],
    "group": ["head", "left_arm", "right_arm", "left_leg"],
    "joint_angles": ["{head_yaw: 10 deg}", "{left_elbow_pitch: 0.1 rad}"],
    "one of [a, b]": ["a", "b"],
    "list of int": ["[1, 2]", "[3]"],
}


def _type(declared: Declaration, name: str) -> ParamType | None:
    param = declared.params.get(name)
    return param.type if param else None


_LEAVES = list(CATALOGUE.leaves.values())


class Inputs:
    """Texts from one batch number: damaged files, spliced files, token soup and invented trees."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self._leaves = _LEAVES

    def mostly_for(self, robot: RobotFacts | None) -> None:
        """Invent missions of leaves that this robot knows, now and then of any."""
        if robot is None or self.chance.random() < 0.1:
            self._leaves = _LEAVES
            return
        able = robot.capabilities
        self._leaves = [leaf for leaf in _LEAVES if able.issuperset(leaf.needs) and robot.family in leaf.families]

    # For the reader

    def anything(self) -> str:
        """Mostly small: what matters is the variety."""
        dice = self.chance.random()
        if dice < 0.35:
            return self.soup()
        if dice < 0.75:
            return self.damaged(self.piece(), self.chance.randint(1, 3))
        if dice < 0.9:
            return self.piece()[: self.chance.randint(1, 80)] + self.piece()
        if dice < 0.9995:
            return "".join(self.chance.choices(string.printable + _ODD, k=self.chance.randint(1, 40)))
        return (self.soup() * 100_000)[: self.chance.choice((1_000, 10_000, 50_000))]

    def soup(self) -> str:
        return "".join(self.chance.choices(_TOKENS, k=self.chance.randint(1, 14)))

    def piece(self) -> str:
        """Some lines that belong together, or not."""
        chance = self.chance
        if chance.random() < 0.5:
            return "\n".join(chance.choices(LINES, k=chance.randint(1, 5)))
        lines = chance.choice(TREES).split("\n")
        start = chance.randrange(len(lines))
        return "\n".join(lines[start : start + chance.randint(1, 8)])

    def damaged(self, text: str, times: int) -> str:
        chance = self.chance
        for _ in range(times):
            at = chance.randint(0, len(text))
            dice = chance.random()
            if dice < 0.4:
                text = text[:at] + chance.choice(_ODD) + text[at:]
            elif dice < 0.6:
                text = text[:at] + text[at + chance.randint(1, 4) :]
            elif dice < 0.75:
                text = text[:at] + chance.choice(_TOKENS) + text[at:]
            elif dice < 0.9:
                text = self._line_changed(text)
            else:
                text = (
                    text[:at] + chr(chance.choice((chance.randrange(0x80), chance.randrange(0x3000)))) + text[at + 1 :]
                )
        return text

    def _line_changed(self, text: str) -> str:
        chance = self.chance
        lines = text.split("\n")
        at = chance.randrange(len(lines))
        dice = chance.random()
        if dice < 0.4:
            lines[at] = " " * chance.randint(0, 8) + lines[at].lstrip()
        elif dice < 0.7:
            lines.insert(at, chance.choice(LINES))
        elif dice < 0.85:
            del lines[at]
        else:
            lines.insert(at, lines[chance.randrange(len(lines))])
        return "\n".join(lines)

    # For the whole check

    def mission(self) -> str:
        chance = self.chance
        dice = chance.random()
        if dice < 0.45:
            return self.damaged(chance.choice(TREES), chance.randint(1, 4))
        if dice < 0.55:
            return self.spliced()
        text = self.invented()
        return self.damaged(text, 1) if dice > 0.9 else text

    def spliced(self) -> str:
        one, other = (self.chance.choice(TREES).split("\n") for _ in range(2))
        at, to = self.chance.randint(0, len(one)), self.chance.randint(0, len(other))
        return "\n".join(one[:at] + other[to:])

    def invented(self) -> str:
        """A file in which most things have their place, though not always their sense."""
        chance = self.chance
        head = ["tree: t"]
        if chance.random() < 0.7:
            head += ["params:"]
            for name in "ab":
                type_ = chance.choice(_TYPES)
                value = chance.choice(_FITTING[type_] if chance.random() < 0.9 else _VALUES)
                default = f", default: {value}" if chance.random() < 0.8 else ""
                head.append(f"  {name}: {{type: {type_}{default}}}")
        if chance.random() < 0.2:
            head.append(f"require: [{self.expression()}]")
        if chance.random() < 0.2:
            head.append(f"pause: {{when: {self.expression()}, until: {self.expression()}}}")
        return "\n".join((*head, "root:", *self._nodes(2, chance.randint(1, 4)))) + "\n"

    def _nodes(self, indent: int, budget: int) -> Iterator[str]:
        for _ in range(self.chance.randint(1, 3)):
            yield from self._node(indent, budget)

    def _node(self, indent: int, budget: int) -> Iterator[str]:
        chance = self.chance
        dash, deeper = " " * indent + "- ", " " * (indent + 2)
        dice = chance.random()
        if budget > 0 and dice < 0.3:
            yield f"{dash}{chance.choice(('sequence', 'selector', 'parallel'))}:"
            yield from self._nodes(indent + 4, budget - 1)
            if chance.random() < 0.2:
                yield f"{deeper}{chance.choice(_POLICIES)}"
        elif budget > 0 and dice < 0.38:
            yield f"{dash}if: {self.expression()}"
            for word in ("then", "else")[: chance.randint(1, 2)]:
                yield f"{deeper}{word}:"
                yield from self._nodes(indent + 4, budget - 1)
        elif dice < 0.5:
            yield f"{dash}{chance.choice(('check', 'wait_for'))}: {self.expression()}"
        elif dice < 0.56:
            yield f"{dash}use: {chance.choice(_FILES)}"
            if chance.random() < 0.7:
                yield f"{deeper}with: {{{chance.choice('ab')}: {chance.choice(_VALUES)}}}"
        else:
            yield f"{dash}{self._leaf()}"
        for word in chance.sample(_MODIFIERS, chance.choice((0, 0, 0, 1, 1, 2, 3))):
            yield from self._modifier(word, indent + 2, budget)

    def _leaf(self) -> str:
        chance = self.chance
        declared = chance.choice(self._leaves)
        names = [name for name, param in declared.params.items() if param.required or chance.random() < 0.4]
        if declared.name == "Set":
            names = chance.choice((["c"], ["d"], ["c", "d"], ["a"]))
        if chance.random() < 0.04:
            names.append(chance.choice(_WORDS))
        return f"{declared.name}: {{{', '.join(f'{name}: {self._value(_type(declared, name))}' for name in names)}}}"

    def _value(self, wanted: ParamType | None = None) -> str:
        """Something of the wanted type, mostly."""
        dice = self.chance.random()
        if wanted is not None and dice < 0.93:
            if wanted.kind == "list":
                return f"[{', '.join(self._value(wanted.of) for _ in range(self.chance.randint(1, 6)))}]"
            fitting = wanted.choices or _FITTING.get(wanted.kind)
            if fitting:
                return self.chance.choice(fitting)
        return self.chance.choice(_VALUES) if dice < 0.97 else self.soup_expression()

    def expression(self, longest: int = 3) -> str:
        """A condition, mostly one that could be meant so."""
        chance = self.chance
        if chance.random() < 0.07:
            return self.soup_expression()
        parts = [chance.choice(_CONDITIONS)]
        for _ in range(chance.choice((0, 0, 0, 1, longest))):
            parts += (chance.choice(("and", "or", "and not")), chance.choice(_CONDITIONS))
        return " ".join(parts) + chance.choice(("",) * 19 + (" for 2 s",))

    def soup_expression(self, longest: int = 5) -> str:
        chance = self.chance
        parts = [chance.choice(_ATOMS)]
        for _ in range(chance.randint(0, longest)):
            parts += (chance.choice(_SIGNS), chance.choice(_ATOMS))
        return " ".join(parts)

    def _modifier(self, word: str, indent: int, budget: int) -> Iterator[str]:
        chance, before = self.chance, " " * indent
        if word == "finally":
            yield f"{before}finally:"
            yield from self._nodes(indent + 2, min(budget, 1) - 1)
        elif word in ("when", "unless", "while", "until"):
            yield f"{before}{word}: {self.expression()}"
        elif word == "for_each":
            yield f"{before}for_each: {{{chance.choice('abe')}: [{chance.choice(_VALUES)}, {chance.choice(_VALUES)}]}}"
        else:
            usual = {
                "repeat": ("3", "forever", f"{{until: {self.expression(1)}}}"),
                "retry": ("2", "{times: 2, wait: 1 s}", "$a"),
                "save": ("a", "c", "d"),
                "result": ("success", "failure", "inverted"),
            }.get(word, ("2 s", "500 ms", "1 min", "$a"))
            yield f"{before}{word}: {chance.choice(usual) if chance.random() < 0.9 else chance.choice(_VALUES)}"
