"""What each word of the tree language means, in a sentence and an example: for catalogue, editor and docs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """A word, what is written after it, what it does, and nodes that use it."""

    name: str
    value: str
    meaning: str
    example: str


KINDS = (
    Word(
        "sequence",
        "list of nodes",
        "Runs its nodes in order until one fails; remembers where it was. Wherever a list of nodes stands, it is a "
        "sequence.",
        "- sequence:\n    - CheckErrors\n    - Log: {text: No errors}",
    ),
    Word(
        "selector",
        "list of nodes",
        "Tries its nodes in order until one succeeds; remembers where it was.",
        "- selector:\n    - CheckBattery: {at_least: 50 %}\n    - Log: {text: The battery is low}",
    ),
    Word(
        "parallel",
        "list of nodes",
        "Starts all its nodes; one that has ended is not started again. When it ends, the others are interrupted.",
        "- parallel:\n    - Wait: {time: 2 s}\n    - Log: {text: Waiting}\n  succeed: all",
    ),
    Word(
        "if",
        "EXPR",
        "Decides once between the nodes of `then` and those of `else`; a failing `then` does not run `else`.",
        "- if: battery.level < 30 %\n  then:\n    - Log: {text: The battery is low}\n"
        "  else:\n    - Log: {text: Enough for a round}",
    ),
    Word(
        "use",
        "FILE",
        "Runs the root of another file, whose path is relative to this one.",
        "- use: parts/go_to.yaml\n  with: {tag: 12}",
    ),
    Word("check", "EXPR", "Succeeds or fails at once.", "- check: battery.level > 15 %"),
    Word("wait_for", "EXPR", "Runs until the condition holds.", "- wait_for: pad.a\n  timeout: 1 min"),
)

OF_KIND = (
    Word(
        "memory",
        "true or false",
        "`false`: start from the first node on every tick. Every node of a sequence but the last must then only look; "
        "so must every node of a selector, or be a sequence that begins with a look.",
        "- sequence:\n    - check: battery.level > 15 %\n    - Wait: {time: 10 s}\n  memory: false",
    ),
    Word(
        "succeed",
        "all, any or a number",
        "How many nodes must succeed for the parallel to succeed; all by default.",
        "- parallel:\n    - Wait: {time: 1 min}\n    - WaitForButton: {button: a}\n  succeed: any",
    ),
    Word(
        "fail",
        "all, any or a number",
        "How many nodes must fail for the parallel to fail; by default as soon as `succeed` cannot be met any more.",
        "- parallel:\n    - CheckErrors\n    - CheckBattery: {at_least: 20 %}\n  fail: any",
    ),
    Word(
        "with",
        "{name: value}",
        "Values for the parameters of the file that is used.",
        "- use: parts/go_to.yaml\n  with: {tag: 12}",
    ),
    Word("then", "list of nodes", "What runs if the condition holds.", "- if: pad.a\n  then: [CheckErrors]"),
    Word(
        "else",
        "list of nodes",
        "What runs if the condition does not hold.",
        "- if: pad.a\n  then: [CheckErrors]\n  else:\n    - Log: {text: Not pressed}",
    ),
)

# From the outermost to the innermost.
MODIFIERS = (
    Word(
        "when",
        "EXPR",
        "Decides once at the start: if it does not hold, the node is skipped, and whoever comes next goes on.",
        "- Log: {text: The battery is low}\n  when: battery.level < 30 %",
    ),
    Word(
        "unless",
        "EXPR",
        "Decides once at the start: if it holds, the node is skipped.",
        "- ClearErrors:\n  unless: errors.count == 0",
    ),
    Word(
        "finally",
        "list of nodes",
        "Runs after the node, whether it succeeded, failed or was interrupted; all of its nodes are tried. "
        "`$outcome` is success, failure or interrupted. At most 30 s, and nobody may be asked in it.",
        "- SetFsm: {state: ready}\n  finally:\n    - Log: {text: It ended with $outcome}",
    ),
    Word(
        "save",
        "NAME",
        "Keeps the node's result under a name.",
        "- Ask: {question: Which way?, choices: [left, right]}\n  save: way\n- check: $way == left",
    ),
    Word(
        "result",
        "success, failure or inverted",
        "Changes what the node reports when it ends.",
        "- CheckErrors:\n  result: inverted",
    ),
    Word(
        "while",
        "EXPR",
        "Looked at before the start and all the time: turned false, it interrupts the node, which fails.",
        "- Wait: {time: 10 s}\n  while: battery.level > 15 %",
    ),
    Word(
        "until",
        "EXPR",
        "Looked at before the start and all the time: turned true, it interrupts the node, which succeeds.",
        "- Wait: {time: 1 min}\n  until: pad.a",
    ),
    Word(
        "cooldown",
        "T",
        "Not again within this time of its last end; fails meanwhile.",
        "- Log: {text: Still here}\n  cooldown: 30 s",
    ),
    Word(
        "confirm",
        "TEXT",
        "An operator must agree before it starts; refusal fails it.",
        "- SetFsm: {state: ready}\n  confirm: Nobody is near the robot?",
    ),
    Word("delay", "T", "Waits before it starts.", "- CheckErrors:\n  delay: 500 ms"),
    Word(
        "repeat",
        "N, forever or {until: EXPR}",
        "That many rounds, for ever, or until the condition holds between two rounds; ends with the first failure.",
        "- Wait: {time: 1 s}\n  repeat: {until: battery.level > 80 %}",
    ),
    Word(
        "for_each",
        "{name: LIST}",
        "Once per value, in order; ends with the first failure.",
        "- Log: {text: Tag $tag comes next}\n  for_each: {tag: [1, 12, 15]}",
    ),
    Word(
        "retry",
        "N or {times: N, wait: T}",
        "Up to N further attempts when it fails; `$attempt` is 1, 2 and so on.",
        "- CheckErrors:\n  retry: {times: 2, wait: 500 ms}",
    ),
    Word(
        "timeout",
        "T",
        "One attempt is interrupted and fails after this time; replaces the leaf's own.",
        "- WaitForButton: {button: a}\n  timeout: 30 s",
    ),
    Word("name", "TEXT", "What the node is called on screens.", "- CheckErrors:\n  name: look for errors"),
    Word("note", "TEXT", "A remark.", "- CheckErrors:\n  note: Agreed with the lab on the first day"),
)

HEAD = (
    Word("tree", "NAME", "What the tree is called.", "tree: deliver_box"),
    Word("description", "TEXT", "What it does.", "description: Fetch a box."),
    Word(
        "robot",
        "NAME",
        "The robot it is checked against and run on, unless --robot says otherwise.",
        "robot: atom_w",
    ),
    Word(
        "params",
        "{name: {type, default, help}}",
        "Values that can be set from outside; without a default one must be given.",
        "params:\n  tag: {type: tag, default: 12, help: Tag in front of the shelf}",
    ),
    Word(
        "require",
        "list of EXPR",
        "Must hold during the whole run; otherwise the tree is interrupted and fails.",
        "require:\n  - battery.level > 15 %",
    ),
    Word(
        "pause",
        "{when: EXPR, until: EXPR}",
        "The same as the operator's Pause and Resume.",
        "pause: {when: pad.b, until: pad.a}",
    ),
    Word("root", "node or list of nodes", "Where the tree begins.", "root:\n  - CheckErrors"),
)
