"""A picture of a run as lines of text that fit a terminal, whatever its size."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from rich.cells import chop_cells
from rich.text import Text

from orchestrator.cli.run.keys import can_be_answered
from orchestrator.cli.run.picture import NodeView, Picture
from orchestrator.cli.run.robot_line import robot_parts
from orchestrator.yamlfile.characters import one_line

SYMBOLS = {"idle": "·", "running": "▶", "success": "✓", "failure": "✗", "skipped": "–", "cut": "■"}
PLAIN_SYMBOLS = {"idle": ".", "running": ">", "success": "+", "failure": "x", "skipped": "-", "cut": "!"}
_STYLES = {
    "idle": "bright_black",
    "running": "bold cyan",
    "success": "green",
    "failure": "bold red",
    "skipped": "yellow",
    "cut": "bold red",
}
_PART_STYLES = {"normal": "", "good": "green", "bad": "bold white on red", "doubtful": "yellow"}
_KIND_STYLES = {"REAL": "bold white on red", "SIM": "bold black on cyan"}
_BAR = 12
_ROBOT_LINES = 2
_SMALLEST_WINDOW = 3
"""Lines of a part of the tree that has room for a word about what is above and below."""
_SAID, _TALL = 3, 20
"""Lines for what was said last, on a screen of so many lines; on a smaller one it is one."""
_DONE = frozenset({"success", "failure", "skipped"})

Hints = Sequence[tuple[str, str]]
"""Keys and what they do."""


def frame(picture: Picture, now: float, width: int, height: int, hints: Hints, plain: bool = False) -> list[Text]:
    """Exactly what fits: head and foot always, and as much of the tree as there is room for."""
    head, foot = _head(picture, now, width), _foot(picture, hints, _SAID if height >= _TALL else 1, width)
    head = head[: max(height - 1, 1)]  # the last key, which stops the robot, needs a line
    foot = foot[max(len(foot) - (height - len(head)), 0) :]
    room = max(height - len(head) - len(foot), 0)
    tree = tree_lines(picture, now, room, plain)
    lines = [*head, *tree, *[Text("")] * (room - len(tree)), *foot]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines[:height]


def tree_lines(picture: Picture, now: float, room: int | None = None, plain: bool = False) -> list[Text]:
    """The tree; what does not fit into the room is left out, but never what runs."""
    nodes, at = picture.nodes, picture.run_time(now)
    symbols = PLAIN_SYMBOLS if plain else SYMBOLS
    shown = list(range(len(nodes))) if room is None else _fitting(nodes, room)
    part = range(len(shown)) if room is None else _window(nodes, shown, room)
    folded = set(range(len(nodes))) - set(shown)
    lines = [_node_line(nodes, shown[place], folded, at, symbols, plain) for place in part]
    if len(part) >= _SMALLEST_WINDOW:
        if part.start > 0:
            lines[0] = Text(f"  ... {part.start + 1} lines above", "bright_black")
        if part.stop < len(shown):
            lines[-1] = Text(f"  ... {len(shown) - part.stop + 1} lines below", "bright_black")
    return lines


def _fitting(nodes: list[NodeView], room: int) -> list[int]:
    """Fold what is over, then what has not begun, as far as there is need for it."""
    shown = list(range(len(nodes)))
    for fold in (_DONE, {"idle"}):
        if len(shown) <= room:
            break
        shown = [number for number in shown if not _is_folded(nodes, number, fold)]
    return shown


def _is_folded(nodes: list[NodeView], number: int, fold: frozenset[str] | set[str]) -> bool:
    parent = nodes[number].info.parent
    while parent is not None:
        if nodes[parent].status in fold:
            return True
        parent = nodes[parent].info.parent
    return False


def _window(nodes: list[NodeView], shown: list[int], room: int) -> range:
    """The part around what runs."""
    focus = _focus(nodes, shown)
    before = room // 2 if room >= _SMALLEST_WINDOW else 0
    first = max(min(focus - before, len(shown) - room), 0)
    return range(first, min(first + room, len(shown)))


def _focus(nodes: list[NodeView], shown: list[int]) -> int:
    """The line to be seen: the deepest node that runs, else the first that has not begun."""
    running = [place for place, number in enumerate(shown) if nodes[number].status == "running"]
    if running:
        return max(running, key=lambda place: nodes[shown[place]].depth)
    return next((place for place, number in enumerate(shown) if nodes[number].status == "idle"), 0)


def _node_line(
    nodes: list[NodeView], number: int, folded: set[int], at: float, symbols: dict[str, str], plain: bool
) -> Text:
    node = nodes[number]
    status = "cut" if node.cut else node.status
    style = _STYLES[status]
    line = Text("  " * node.depth)
    line.append(f"{symbols[status]} ", style)
    line.append(one_line(node.info.name), style if status != "success" else "")
    if node.breaks:
        line.append(" [break]", "yellow")
    if number + 1 in folded and nodes[number + 1].depth > node.depth:
        line.append(f" ({_below(nodes, number)} nodes)", "bright_black")
    if status == "running":
        line.append(f"  {duration(at - node.since)}", "cyan")
    if node.progress is not None and node.status == "running":
        line.append(f"  {_bar(node.progress, plain)}")
    if node.message:
        line.append(f"  {one_line(node.message)}", "red" if node.status == "failure" else "bright_black")
    return line


def _below(nodes: list[NodeView], number: int) -> int:
    """How many nodes hang below this one: they follow it, deeper."""
    count = 0
    for node in nodes[number + 1 :]:
        if node.depth <= nodes[number].depth:
            break
        count += 1
    return count


def duration(seconds: float) -> str:
    whole = max(int(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}:{rest:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _bar(progress: float, plain: bool) -> str:
    full = round(min(max(progress, 0.0), 1.0) * _BAR)
    done, left = ("#", "-") if plain else ("━", "─")
    return f"{done * full}{left * (_BAR - full)} {100 * progress:3.0f} %"


def _head(picture: Picture, now: float, width: int) -> list[Text]:
    first = Text()
    first.append(f" {picture.kind} ", _KIND_STYLES.get(picture.kind, "reverse"))
    first.append(f" {picture.robot}", "bold")
    first.append(f"  {picture.tree}")
    if picture.began is not None:
        first.append(f"  {duration(picture.run_time(now) - picture.began)}", "cyan")
    if picture.paused is not None:
        first.append(f"  PAUSED {one_line(picture.paused)}".rstrip(), "bold yellow")
    mode = Text(f"guard {picture.mode or 'not known'}", _mode_style(picture.mode))
    parts = [Text(words, _PART_STYLES[look]) for words, look in robot_parts(picture.fields)]
    return [first, *_wrapped([mode, *parts], width, " | ", _ROBOT_LINES), Text("")]


def _wrapped(parts: list[Text], width: int, between: str, most: float = inf) -> list[Text]:
    """Side by side as far as there is room, the rest on further lines, if there may be more of them."""
    lines = [Text()]
    for part in parts:
        gap = between if lines[-1] else ""
        if gap and len(lines) < most and lines[-1].cell_len + len(gap) + part.cell_len > width:
            lines.append(Text())
            gap = ""
        lines[-1].append(gap, "bright_black")
        lines[-1].append_text(part)
    return lines


def _words(text: str, width: int) -> list[Text]:
    """What is longer than a line, as a sentence in Chinese or a path, in pieces."""
    return [Text(piece) for word in text.split() for piece in chop_cells(word, max(width, 2))]


def _mode_style(mode: str) -> str:
    if mode in ("estopped", "fault", "intervened"):
        return "bold white on red"
    return {"running": "green", "armed": "green"}.get(mode, "yellow")


def _foot(picture: Picture, hints: Hints, said: int, width: int) -> list[Text]:
    lines = [Text("")]
    question = picture.question
    if question is not None and picture.mode != "running":
        lines += [
            Text(f"{'ok ' if ok else 'NOT'} {one_line(text)}", "" if ok else "bold red")
            for ok, text in picture.preflight
        ]
    lines += [Text(one_line(text), "magenta") for text in picture.said[-said:]]
    if question is not None:
        later = "" if can_be_answered(picture.paused is not None, picture.running) else "(paused: resume, then answer) "
        asked = _words(one_line(f"{later}{question.question}"), width - 2)
        lines += [Text(f" {line} ", "bold black on yellow") for line in _wrapped(asked, width - 2, " ")]
    keys = [Text.assemble((f" {key} ", "reverse"), f" {does}") for key, does in hints]
    return [*lines, *_wrapped(keys, width, "   ")]  # none is cut off, least of all the last, which stops the robot
