"""Random tree files, with everything of the language that has to do with time and order."""

from __future__ import annotations

from random import Random

FIELDS = ("pad.x", "pad.y", "pad.a")
TIMES = ("100 ms", "250 ms", "400 ms", "700 ms", "1.3 s")


class RandomFile:
    """One file: `text`, and `changes` of fields with their times.

    With `everything` also what takes a second file, a person or a pause; `parts` are the files it uses.
    With `mishaps` some leaves raise or return nonsense.
    """

    def __init__(
        self, seed: int, act_times: tuple[str, ...] = ("0 s", *TIMES), everything: bool = False, mishaps: bool = False
    ) -> None:
        self._random = Random(seed)
        self._mishaps = mishaps
        self._everything = everything
        self.parts: dict[str, str] = {}
        self._in_part = False
        self._act_times = act_times
        self._leaves = 0
        self._lines: list[str] = ["tree: t", "root:"]
        self._in_finally = 0
        self._loops = 0
        self._node("  ", 4, first="")
        if self._chance(0.2):
            self._lines.insert(1, f"require: [{self._condition(may_hold=False)}]")
        if everything and self._chance(0.4):
            when, until = self._condition(), self._condition()
            self._lines.insert(1, f"pause: {{when: {when}, until: {until}}}")
        self.text = "\n".join(self._lines) + "\n"
        times = sorted(self._random.sample(range(1, 400), self._random.randrange(12)))
        self.changes = [(time / 100 + 0.003, self._random.choice(FIELDS), self._value()) for time in times]
        self.start = {name: self._value() for name in FIELDS}

    def _value(self) -> bool | None:
        return self._random.choice((True, True, True, False, False, None))

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _condition(self, may_hold: bool = True) -> str:
        field = self._random.choice((*FIELDS, "$flag") if self._in_part else FIELDS)
        text = self._random.choice((field, f"not {field}", f"{field} or pad.x", f"{field} and not pad.y"))
        return f"{text} for {self._random.choice(TIMES)}" if may_hold and self._chance(0.25) else text

    def _node(self, indent: str, depth: int, first: str = "- ") -> None:
        kinds = ["Act"] * 4 + ["check", "wait_for", "Wait", "Set"]
        if self._mishaps:
            kinds += ["Odd"] * 3
        if self._everything:
            kinds += ["Log", "Stubborn"] + ["Ask"] * (not self._in_finally)
        if depth > 0:
            kinds += ["use"] * 2 if self._everything and not self._in_part else []
            kinds += ["saved"] * self._everything
            kinds += ["sequence"] * 3 + ["selector"] * 3 + ["parallel"] * 3 + ["if", "reactive", "guarded"]
        kind = self._random.choice(kinds)
        inner = indent + "  " if first else indent
        getattr(self, f"_{kind.lower()}")(indent + first, inner, depth)
        for line in self._modifiers(kind):
            self._lines.append(inner + line)
        if self._in_finally < 2 and self._chance(0.15):
            self._in_finally += 1
            self._lines.append(f"{inner}finally:")
            self._act(f"{inner}  - ", f"{inner}    ", 0, "_$outcome")
            if self._chance(0.5):
                self._node(f"{inner}  ", 1)
            self._in_finally -= 1

    def _children(self, inner: str, depth: int, at_least: int = 1) -> None:
        for _ in range(self._random.randint(at_least, 3)):
            self._node(f"{inner}  ", depth - 1)

    def _act(self, head: str, inner: str, depth: int, end: str = "") -> None:
        self._leaves += 1
        name = f"a{self._leaves}{end}{'_$who' if self._in_part else ''}"
        time = self._random.choice(self._act_times)
        ok = "true" if self._chance(0.75) else "false"
        self._lines.append(
            f"{head}Act: {{id: {name}, time: {time}, ok: {ok}, fails: {self._random.choice((0, 0, 1))}}}"
        )

    def _check(self, head: str, inner: str, depth: int) -> None:
        self._lines.append(f"{head}check: {self._condition(may_hold=False)}")

    def _look(self, head: str, inner: str, depth: int) -> None:
        """By a condition or by a leaf."""
        if self._chance(0.5):
            self._check(head, inner, depth)
        else:
            self._lines.append(f"{head}Look: {{ok: {self._random.choice(FIELDS)}}}")

    def _wait_for(self, head: str, inner: str, depth: int) -> None:
        self._lines.append(f"{head}wait_for: {self._condition()}")
        self._lines.append(f"{inner}timeout: {self._random.choice(TIMES)}")

    def _wait(self, head: str, inner: str, depth: int) -> None:
        self._lines.append(f"{head}Wait: {{time: {self._random.choice(TIMES)}}}")

    def _saved(self, head: str, inner: str, depth: int) -> None:
        """A value that a second leaf may save again, or not get so far."""
        self._leaves += 1
        name = f"s{self._leaves}"
        self._lines += [f"{head}sequence:", f"{inner}  - Act: {{id: {name}}}", f"{inner}    save: {name}"]
        self._lines.append(f"{inner}  - selector:")
        self._act(f"{inner}      - ", "", 0)
        self._lines += [f"{inner}        {line}" for line in (f"save: {name}", *self._modifiers("Act"))]
        self._wait(f"{inner}      - ", "", 0)
        self._lines.append(f"{inner}  - Act: {{id: {name}_${name}}}")

    def _set(self, head: str, inner: str, depth: int) -> None:
        self._leaves += 1
        self._lines.append(f"{head}Set: {{v{self._leaves}: {self._random.choice(FIELDS)}}}")

    def _odd(self, head: str, inner: str, depth: int) -> None:
        self._lines.append(f"{head}Odd: {{how: {self._random.choice(('start', 'step', 'stop', 'none', 'running'))}}}")
        self._lines.append(f"{inner}timeout: {self._random.choice(TIMES)}")

    def _log(self, head: str, inner: str, depth: int) -> None:
        self._leaves += 1
        self._lines.append(f"{head}Log: {{text: remark {self._leaves}}}")

    def _stubborn(self, head: str, inner: str, depth: int) -> None:
        self._leaves += 1
        self._lines.append(f"{head}Stubborn: {{id: s{self._leaves}, time: {self._random.choice(self._act_times)}}}")

    def _ask(self, head: str, inner: str, depth: int) -> None:
        question = f"Is it{self._random.choice(('', ' not'))} there{self._random.choice(('', ', later'))}?"
        self._lines.append(f'{head}Ask: {{question: "{question}", choices: [yes], fail_on: [no]}}')
        self._lines.append(f"{inner}timeout: {self._random.choice(TIMES)}")

    def _use(self, head: str, inner: str, depth: int) -> None:
        """A sequence that sets a value and passes it to another file."""
        name = f"part{len(self.parts) + 1}"
        outer, self._lines, self._in_part = self._lines, [f"tree: {name}", "root:"], True
        self._node("  ", depth - 1, first="")
        params = ["  who: {type: text, default: nobody}", "  flag: {type: bool}"]
        require = [f"require: [{self._condition(may_hold=False)}]"] if self._chance(0.3) else []
        self.parts[f"{name}.yaml"] = "\n".join([self._lines[0], "params:", *params, *require, *self._lines[1:]]) + "\n"
        self._lines, self._in_part = outer, False
        self._leaves += 1
        who = self._random.choice(("", f"who: w{self._leaves}, "))
        self._lines += [
            f"{head}sequence:",
            f"{inner}  - Set: {{v{self._leaves}: {self._random.choice(FIELDS)}}}",
            f"{inner}  - use: {name}.yaml",
            f"{inner}    with: {{{who}flag: $v{self._leaves}}}",
        ]

    def _sequence(self, head: str, inner: str, depth: int) -> None:
        self._lines.append(f"{head}sequence:")
        self._children(inner, depth)

    def _selector(self, head: str, inner: str, depth: int) -> None:
        self._lines.append(f"{head}selector:")
        self._children(inner, depth)

    def _parallel(self, head: str, inner: str, depth: int) -> None:
        self._lines.append(f"{head}parallel:")
        self._children(inner, depth, 2)
        for word in ("succeed", "fail"):
            if self._chance(0.5):
                self._lines.append(f"{inner}{word}: {self._random.choice(('all', 'any', 2))}")

    def _if(self, head: str, inner: str, depth: int) -> None:
        self._lines += [f"{head}if: {self._condition(may_hold=False)}", f"{inner}then:"]
        self._children(inner, depth)
        if self._chance(0.6):
            self._lines.append(f"{inner}else:")
            self._children(inner, depth)

    def _reactive(self, head: str, inner: str, depth: int) -> None:
        self._lines.append(f"{head}selector:")
        for _ in range(self._random.randint(1, 2)):
            if self._chance(0.4):
                self._look(f"{inner}  - ", "", 0)
            else:
                self._lines.append(f"{inner}  - sequence:")
                self._look(f"{inner}      - ", "", 0)
                self._act(f"{inner}      - ", "", 0)
                self._node(f"{inner}      ", depth - 1)
        self._node(f"{inner}  ", depth - 1)
        self._lines.append(f"{inner}memory: false")

    def _guarded(self, head: str, inner: str, depth: int) -> None:
        self._lines.append(f"{head}sequence:")
        for _ in range(self._random.randint(1, 2)):
            self._look(f"{inner}  - ", "", 0)
        self._node(f"{inner}  ", depth - 1)
        self._lines.append(f"{inner}memory: false")

    def _modifiers(self, kind: str) -> list[str]:
        choose, found = self._random.choice, []
        offers = [
            ("when", 0.1, self._condition(may_hold=False)),
            ("unless", 0.05, self._condition(may_hold=False)),
            ("result", 0.08, choose(("success", "failure", "inverted"))),
            ("while", 0.08, self._condition(may_hold=False)),
            ("until", 0.08, self._condition()),
            ("cooldown", 0.04, choose(TIMES)),
            ("delay", 0.06, choose(TIMES)),
            ("repeat", 0.1, choose((2, 3, f"{{until: {choose(FIELDS)}}}"))),
            ("for_each", 0.04, f"{{item{self._loops}: [1, 2]}}"),
            ("retry", 0.1, choose((1, 2, "{times: 1, wait: 250 ms}"))),
            ("timeout", 0.1 if kind not in ("wait_for", "Ask", "Odd") else 0, choose(TIMES)),
        ]
        if not self._in_finally:
            offers.append(("confirm", 0.05, choose(("Shall it go on?", "Shall it not go on?"))))
        for word, share, value in offers:
            if self._chance(share):
                found.append(f"{word}: {value}")
                self._loops += word == "for_each"
        return found
