"""Draws a tree as SVG that needs nothing else: no fonts, no styles, no scripts from outside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from textwrap import wrap
from xml.sax.saxutils import escape

from orchestrator.treefile.outline import Drawn

_LETTER = 6.7  # width of a character of 11 px in a monospaced font
_LINE = 15.0
_PADDING = 8.0
_GAP_ACROSS = 36.0
_GAP_DOWN = 10.0
_LONGEST = 44  # characters in a line of a box
_FILLS = {
    "tree": "#ffffff",
    **dict.fromkeys(("sequence", "selector", "parallel"), "#dbe9f9"),
    **dict.fromkeys(("check", "wait_for", "if"), "#fdf1cf"),
    **dict.fromkeys(("then", "else", "finally"), "#eeeeee"),
    "use": "#e9e0f6",
    "mistake": "#f6c9c9",
}
_LEAF = "#dcf2dc"


@dataclass
class _Box:
    drawn: Drawn
    depth: int
    lines: list[tuple[str, str]]  # style and text
    children: list[_Box] = field(default_factory=list)
    x: float = 0.0
    middle: float = 0.0

    @property
    def width(self) -> float:
        return 2 * _PADDING + _LETTER * max(len(text) for _, text in self.lines)

    @property
    def height(self) -> float:
        return 2 * _PADDING + _LINE * len(self.lines)


def draw_svg(root: Drawn) -> str:
    """The tree from left to right, a box per node."""
    top = _box(root, 0)
    boxes = list(_all(top))
    bottom = _place_down(top, _GAP_DOWN)
    right = _place_across(boxes)
    parts = [*(line for box in boxes for line in _edges(box)), *(part for box in boxes for part in _drawn(box))]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{right:.0f}" height="{bottom:.0f}" '
            f'viewBox="0 0 {right:.0f} {bottom:.0f}" font-family="monospace" font-size="11">',
            f"<title>{escape(root.title)}</title>",
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _box(drawn: Drawn, depth: int) -> _Box:
    lines = [("bold", text) for text in wrap(drawn.title, _LONGEST)]
    lines += [("normal", text) for text in wrap(drawn.details, _LONGEST)]
    lines += [("italic", text) for modifier in drawn.modifiers for text in wrap(modifier, _LONGEST)]
    return _Box(drawn, depth, lines or [("normal", " ")], [_box(child, depth + 1) for child in drawn.children])


def _all(box: _Box) -> Iterator[_Box]:
    yield box
    for child in box.children:
        yield from _all(child)


def _place_down(box: _Box, top: float) -> float:
    """Leaves one below the other, everything else beside the middle of what is below it; returns the lower end."""
    lowest = top
    for child in box.children:
        lowest = _place_down(child, lowest)
    below = box.children
    box.middle = (below[0].middle + below[-1].middle) / 2 if below else top + box.height / 2
    box.middle = max(box.middle, top + box.height / 2)
    return max(lowest, box.middle + box.height / 2 + _GAP_DOWN)


def _place_across(boxes: list[_Box]) -> float:
    """A column per depth, as wide as its widest box; returns the right end."""
    left = _GAP_DOWN
    for depth in range(max(box.depth for box in boxes) + 1):
        column = [box for box in boxes if box.depth == depth]
        for box in column:
            box.x = left
        left += max(box.width for box in column) + _GAP_ACROSS
    return left - _GAP_ACROSS + _GAP_DOWN


def _edges(box: _Box) -> Iterator[str]:
    start = box.x + box.width
    for child in box.children:
        bend = (child.x - start) / 2
        yield (
            f'<path d="M{start:.1f} {box.middle:.1f} C{start + bend:.1f} {box.middle:.1f} '
            f'{child.x - bend:.1f} {child.middle:.1f} {child.x:.1f} {child.middle:.1f}" fill="none" stroke="#888888"/>'
        )


def _drawn(box: _Box) -> Iterator[str]:
    top = box.middle - box.height / 2
    fill = _FILLS.get(box.drawn.kind, _LEAF)
    yield (
        f'<rect x="{box.x:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="4" '
        f'fill="{fill}" stroke="#666666"/>'
    )
    for number, (style, text) in enumerate(box.lines):
        y = top + _PADDING + _LINE * (number + 0.75)
        look = {"bold": ' font-weight="bold"', "italic": ' font-style="italic" fill="#555555"', "normal": ""}[style]
        yield f'<text x="{box.x + _PADDING:.1f}" y="{y:.1f}"{look}>{escape(text)}</text>'
