"""Missions made to be slow or hungry, of files of at most 256 kB: `python -m benchmarks.hostile` lists them all."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks import as_installed

LARGEST = 256 * 1024
HEAD = "tree: t\nrobot: atom_w\nroot:\n"
PART = "tree: t\nroot:\n"
TAIL = "root: [CheckErrors]\n"

Files = dict[str, str]


def filled(head: str, piece: str, tail: str = "") -> str:
    """A file filled with one piece up to its largest size; @ in it is a number, so that no two are alike."""
    made, size, number = [head], len((head + tail).encode()), 0
    while True:
        part = piece.replace("@", str(number))
        size += len(part.encode())
        if size > LARGEST:
            return "".join((*made, tail))
        made.append(part)
        number += 1


def repeated(piece: str, times: int, head: str = HEAD) -> str:
    return head + "".join(piece.replace("@", str(number)) for number in range(times))


def nested(begin: str, levels: int, innermost: str = "- CheckErrors\n") -> str:
    """Nodes in nodes; every line of `begin` is indented by its level, two levels a node."""
    lines = [f"{'    ' * level}  {line}\n" for level in range(levels) for line in begin.split("\n")]
    return HEAD + "".join(lines) + "    " * levels + f"  {innermost}"


def chained(length: int, uses: int) -> Files:
    """Every file uses the next one."""
    files = {f"f{n}": PART + f"  - use: f{n + 1}.yaml\n" * uses for n in range(length)}
    return {"main": f"{HEAD}  - use: f0.yaml\n", **files, f"f{length}": "tree: t\nroot: [CheckErrors]\n"}


# Pieces that fill a file, alone and below the head of a tree.
_RAW = {
    "one syntax error a line": "- a: b: c\n",
    "open brackets": "[",
    "open braces": "{a: ",
    "quotes": "'",
    "double quotes": '"a" ',
    "keys without value": "{a, ",
    "one key again and again": "a: 1\n",
    "nested dashes": "- ",
    "tabs": "\t",
    "control characters": "\x01",
    "text directions": "\u202e",
    "no-break spaces": "\u00a0\n",
    "comments that may be text": "a #b\n",
    "comments": "# a\n",
    "empty lines": "\n",
    "spaces": " ",
    "carriage returns": "\r",
    "values of one list": "1, ",
    "empty lists": "[],",
    "anchors": "- &a b\n",
    "aliases": "- *a\n",
    "tags": "- !a b\n",
    "documents": "---\na\n",
    "directives": "%YAML 1.2\n",
    "question marks": "? ",
    "block texts": "- |\n  a\n",
    "backslashes": '"\\q"\n',
    "leading zeros": "- 01\n",
    "missing spaces": "- {a:b, c:d}\n",
    "colons": ":",
    "escapes": '- "\\u202e"\n',
    "ampersands": "&",
    "one long word": "a",
    "letters of four bytes": "\U0001f600",
}

_UNKNOWN_FIELDS = " or ".join(f"a@.b{k}" for k in range(90))
_MODES = " or ".join(["fsm.state == ready and upper.control"] * 24)
_ALL_MODIFIERS = """\
  - SetFsm: {state: ready}
    name: n@
    note: n
    timeout: @1 s
    retry: {times: 2, wait: 1 s}
    for_each: {v@: [1, 2]}
    repeat: 3
    delay: 1 s
    confirm: really @?
    cooldown: @1 s
    while: pad.a
    result: success
    finally: [CheckErrors]
    when: pad.b
"""
_PARAMS = "tree: t\nrobot: atom_w\nparams:\n"

# Head, piece, tail.
_FILLED = {
    "unknown nodes": (HEAD, "  - Set@\n", ""),
    "the same unknown node": (HEAD, "  - SetFsn: {state: ready}\n", ""),
    "unknown nodes in one list": (HEAD + "  - sequence: [", "Set@,", "]\n"),
    "unknown keys": ("", "key@: 1\n", ""),
    "unknown modifiers": (HEAD + "  - CheckErrors:\n", "    modifier@: 1\n", ""),
    "unknown parameters": (HEAD + "  - MoveToTag: {tag: 1, ", "tag@: 1, ", "}\n"),
    "unknown joints": (HEAD + "  - MoveJoints: {time: 1 s, angles: {", "left_elbow@: 1 deg, ", "}}\n"),
    "unknown fields": (HEAD, f"  - check: {_UNKNOWN_FIELDS}\n", ""),
    "unknown fields in require": ("tree: t\nrobot: atom_w\nrequire:\n", f"  - {_UNKNOWN_FIELDS}\n", TAIL),
    "unknown names": (HEAD, "  - check: $a@ == $b@\n", ""),
    "unknown names in one text": (HEAD + "  - Log: {text: ", "$a@ ", "}\n"),
    "unknown states": (HEAD, "  - SetFsm: {state: redy@}\n", ""),
    "files that are not there": (HEAD, "  - use: no@.yaml\n", ""),
    "parameters": (_PARAMS, "  p@: {type: int, default: 1}\n", TAIL),
    "parameters of no type": (_PARAMS, "  p@: {type: int@}\n", TAIL),
    "a choice of many words": (_PARAMS + "  p: {type: 'one of [", "word@, ", f"a]', default: b}}\n{TAIL}"),
    "many words that are no choice": (
        _PARAMS + "  p: {type: 'list of one of [" + ", ".join(f"word{n}" for n in range(990)) + "]', default: [",
        "ward@, ",
        f"]}}\n{TAIL}",
    ),
    "require": ("tree: t\nrobot: atom_w\nrequire:\n", "  - pad.a\n", TAIL),
    "names saved in one node": (HEAD + "  - Set: {", "n@: @, ", "}\n"),
    "values of for_each": (HEAD + "  - Log: {text: $a}\n    for_each: {a: [", "@, ", "]}\n"),
    "words of for_each": (HEAD + "  - MoveToTag: {tag: $a}\n    for_each: {a: [", "w@, ", "]}\n"),
    "values of a list": (HEAD + "  - HandPose: {hand: left, fingers: [", "1 %, ", "]}\n"),
    "lists of expressions": (HEAD, f"  - HandPose: {{hand: left, fingers: [{'@ m + 1 %, ' * 900}]}}\n", ""),
    "conditions": (HEAD, "  - check: pad.a and (pad.a or not pad.a)\n", ""),
    "long conditions": (HEAD, f"  - check: {' or '.join(['pad.a'] * 110)}\n", ""),
    "long calculations": (HEAD, f"  - check: {' + '.join('1' * 240)} < 3\n", ""),
    "long calculations that depend": (HEAD, f"  - check: {' + '.join(['errors.count'] * 65)} < 3\n", ""),
    "dense calculations": (HEAD, f"  - check: {'+'.join('1' * 490)}<3\n", ""),
    "dense comparisons": (HEAD, f"  - check: {'<'.join('1' * 490)}\n", ""),
    "dense words": (HEAD, f"  - check: {'<'.join('a' * 490)}\n", ""),
    "dense negations": (HEAD, f"  - check: {'+'.join(['-1'] * 320)}<3\n", ""),
    "dense products": (HEAD, f"  - check: {'*'.join(['1m'] * 320)}<3\n", ""),
    "dense names": (HEAD, f"  - check: {'+'.join(['$a'] * 320)}<3\n", ""),
    "short expressions": (HEAD, f"  - HandPose: {{hand: left, fingers: [{'@+1,' * 900}]}}\n", ""),
    "deep parentheses": (HEAD, f"  - check: {'(' * 20}pad.a{')' * 20}\n", ""),
    "modes in conditions": (HEAD, f"  - check: {_MODES}\n", ""),
    "conditions of modifiers": (HEAD, "  - CheckErrors:\n    when: fsm.state == ready\n    while: upper.control\n", ""),
    "modifiers of every kind": (HEAD, _ALL_MODIFIERS, ""),
    "one long text": (HEAD + "  - Log: {text: '", "a ", "'}\n"),
    "one long expression": (HEAD + "  - check: ", "pad.a and ", "pad.b\n"),
    "one long key": (HEAD + "  - ", "a", ": b\n"),
    "one long number": (HEAD + "  - Wait: {time: ", "9", " s}\n"),
    "one long unit": (HEAD + "  - Wait: {time: 9 ", "s", "}\n"),
    "one long path": (HEAD + "  - use: ", "a/", "b.yaml\n"),
    "deep lists": (HEAD, f"  - {'[' * 60}CheckErrors{']' * 60}\n", ""),
}

_PARALLEL = HEAD + "  - parallel:\n"
_SHAPED = {
    "choices": repeated("  - check: $answer == c\n", 1900, repeated(
        "c@, ", 990, HEAD + "  - Ask: {question: a, choices: [") + "]}\n    save: answer\n"),
    "nested sequences": nested("- sequence:", 30),
    "nested parallels": nested("- parallel:", 30),
    "nested rounds": nested("- sequence:", 30).replace("CheckErrors", "SetFsm: {state: ready}"),
    "finally in finally": nested("- CheckErrors:\n  finally:", 30),
    "saved names": repeated("  - Set: {n@: @}\n", 1990),
    "names saved on some ways": repeated(
        "      - sequence: [CheckErrors, {Set: {n@: @}}]\n", 600, HEAD + "  - selector:\n"),
    "names saved in a parallel": repeated("      - Set: {n: @}\n", 1990, _PARALLEL),
    "unknown poses": repeated("  - MoveJoints: {pose: hom@, time: 1 s}\n", 1990),
    "a wide sequence": repeated("  - SetFsm: {state: ready}\n", 1990),
    "a wide sequence of rounds": repeated(
        "  - {SwitchUpperControl: {enabled: true}, retry: 2, finally: [{SetFsm: {state: ready}}]}\n", 900),
    "a wide selector": repeated("      - SetFsm: {state: walk}\n", 1990, HEAD + "  - selector:\n"),
    "a wide parallel of looks": repeated("      - CheckErrors\n", 1990, _PARALLEL),
    "a wide parallel of changes": repeated("      - SetFsm: {state: ready}\n", 1990, _PARALLEL),
    "a wide parallel of drives": repeated("      - MoveToTag: {tag: 1}\n", 1990, _PARALLEL),
    "parallels in a parallel": repeated(
        "      - parallel: [{SetFsm: {state: ready}}, {SetFsm: {state: walk}}, HandOpen]\n", 490, _PARALLEL),
    "ways that never lead on": repeated("  - {check: pad.a, result: failure}\n", 1990),
    "values of for_each in many nodes": repeated("      - MoveToTag: {tag: $tag}\n", 1990, HEAD + "  - sequence:\n")
    + f"    for_each: {{tag: [{', '.join(['12', '15'] * 490)}]}}\n",
    "many names and many nodes": filled(
        HEAD + "  - Set: {", "n@: 1, ", "}\n" + repeated("  - Set: {again@: @}\n", 1990, "")),
    "many names and many ways": filled(HEAD + "  - Set: {", "n@: 1, ", "}\n" + repeated(
        "  - selector: [{Set: {a@: 1}}, {Set: {b@: 1}}]\n", 660, "")),
    "a long list by its name": repeated("  - Ask: {question: a, choices: $words}\n", 1990,
        _PARAMS + f"  words: {{type: list of text, default: [{'a, ' * 1000}]}}\nroot:\n"),
}  # fmt: skip

# What a file holds that is used again and again.
_USED = {
    "5,000 nodes": (1600, "tree: t\nroot: [CheckErrors]\n"),
    "5,000 changes": (1200, "tree: t\nroot: [{SetFsm: {state: ready}}, {SetFsm: {state: walk}}]\n"),
    "many parameters": (1990, filled("tree: t\nparams:\n", "  p@: {type: int, default: 1}\n", TAIL)),
    "some parameters": (1990, "tree: t\nparams:\n" + "  a@: {type: int, default: 1}\n" * 10 + TAIL),
    "many conditions": (1990, filled("tree: t\nrequire:\n", "  - pad.a\n", TAIL)),
    "long lists": (1990, filled(PART, f"  - HandPose: {{hand: left, fingers: [{'1 % + 1 %, ' * 900}]}}\n")),
    "long expressions": (20, filled(PART, f"  - check: {'+'.join('1' * 490)}<3\n")),
    "texts with names": (
        80,
        filled(PART, f"  - Log: {{text: {'$a' * 2000}}}\n").replace(
            "root", "params:\n  a: {type: int, default: 1}\nroot"
        ),
    ),
    "long choices": (
        1990,
        f"tree: t\nparams:\n  a: {{type: 'one of [{', '.join(f'w{n}' for n in range(999))}]', default: w998}}\n{TAIL}",
    ),
    "errors": (1990, filled(PART, "  - check: nothing\n")),
    "syntax errors": (1990, filled(PART, "  - a: b: c\n")),
}

_PASSED_ON = {
    "main": repeated("  - {use: part.yaml, with: {numbers: $numbers}}\n", 1990,
        _PARAMS + f"  numbers: {{type: list of int, default: [{'1, ' * 1000}]}}\nroot:\n"),
    "part": f"tree: t\nparams:\n  numbers: {{type: list of int}}\n{TAIL}",
}  # fmt: skip


def _missions() -> dict[str, Files]:
    alone = {f"only {name}": filled("", piece) for name, piece in _RAW.items()}
    below = {name: filled(HEAD, piece) for name, piece in _RAW.items()}
    tables = {name: filled(*parts) for name, parts in _FILLED.items()}
    single = {name: {"main": text} for name, text in {**alone, **below, **tables, **_SHAPED}.items()}
    used = {
        f"uses of {name}": {"main": repeated("  - use: part.yaml\n", times), "part": part}
        for name, (times, part) in _USED.items()
    }
    return {
        **single,
        **used,
        "a long list passed on": _PASSED_ON,
        "a chain of files": chained(60, 1),
        "files that double": chained(20, 2),
    }


MISSIONS = _missions()


class Answer(NamedTuple):
    """What one `orchestrator check` took: seconds of wall clock and processor, start included, and its peak in MB."""

    name: str
    wall: float
    processor: float
    peak: float


def written(name: str, folder: Path) -> Path:
    """Write a hostile mission with the files it uses; its main file."""
    for part, text in MISSIONS[name].items():
        (folder / f"{part}.yaml").write_text(text, newline="")
    return folder / "main.yaml"


def answer(name: str) -> Answer:
    """Check one as an operator would."""
    with tempfile.TemporaryDirectory() as folder:
        path = written(name, Path(folder))
        command = [sys.executable, "-m", "orchestrator.cli", "check", str(path)]
        begin = os.times().elapsed
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=as_installed())
        _, status, usage = os.wait4(process.pid, 0)
        wall = os.times().elapsed - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 2):
        raise RuntimeError(f"{name}: the check ended with {process.returncode}")
    return Answer(name, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def answers() -> list[Answer]:
    """All of them, after one that compiles the modules."""
    answer("empty lines")
    return [answer(name) for name in MISSIONS]


def main() -> None:
    for each in sorted(answers(), key=lambda each: each.processor):
        print(f"{each.name:40}{each.wall:8.2f} s{each.processor:8.2f} s{each.peak:8.0f} MB", flush=True)


if __name__ == "__main__":
    main()
