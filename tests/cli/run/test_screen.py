"""Single keys from a terminal that also sends what arrows, F-keys and a mouse's wheel send."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator

import pytest

from orchestrator.cli.run.screen import Screen


@pytest.fixture
def typing() -> Iterator[tuple[Screen, int]]:
    """A screen that reads a pipe, and the pipe's other end."""
    reading, writing = os.pipe()
    screen = Screen.__new__(Screen)
    screen._in, screen._begun = reading, b""
    yield screen, writing
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize(
    ("pieces", "keys"),
    [
        ((b"q",), "q"),
        ((b"\x1b[Aq",), "q"),  # an arrow
        ((b"p\x1b[A",), "p"),
        ((b"\x1b[A\x1b[A\x1b[Aq\x1b[B",), "q"),  # a wheel
        ((b"\x1b[", b"A", b"q"), "q"),  # split on its way
        ((b"\x1b", b"[15~", b"q"), "q"),  # F5
        ((b"\x1bOP1",), "1"),  # F1
        ((b"\x1b[1;5C",), ""),  # with Control
        ((b"\x1ba",), ""),  # with Alt
        ((b"\x1bq",), "q"),
        ((b"\x1b\x1b[A",), ""),  # an arrow with Alt, in some terminals
        ((b"\x1b", b"q"), "q"),
        (("ä".encode(),), "ä"),
    ],
)
def test_only_keys_are_keys(pieces: tuple[bytes, ...], keys: str, typing: tuple[Screen, int]) -> None:
    screen, writing = typing
    heard = ""
    for piece in pieces:
        os.write(writing, piece)
        heard += screen.keys(1.0)
    assert heard == keys


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("utf-8", "Tür → Lift".encode()), ("latin-1", b"T\xfcr ? Lift"), ("ascii", b"T?r ? Lift")],
)
def test_what_is_drawn_is_written_as_the_terminal_reads_it(
    encoding: str, shown: bytes, typing: tuple[Screen, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen, writing = typing
    screen._out = writing
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    screen._write("Tür → Lift")
    assert os.read(screen._in, 256) == shown


def test_the_escape_key_alone_takes_no_other_key_with_it(typing: tuple[Screen, int]) -> None:
    screen, writing = typing
    os.write(writing, b"\x1b")
    assert screen.keys(1.0) == ""
    assert screen.keys(0.001) == ""  # nothing came with it
    os.write(writing, b"q")
    assert screen.keys(1.0) == "q"


def test_all_that_was_typed_until_now_is_taken_at_once(typing: tuple[Screen, int]) -> None:
    screen, writing = typing
    os.write(writing, b"x" * 1000 + b"\x1b[Aq")
    assert screen.pending() == "x" * 1000 + "q"
    assert screen.pending() == ""


def test_a_terminal_that_has_gone_is_noticed() -> None:
    reading, writing = os.pipe()
    os.close(writing)
    screen = Screen.__new__(Screen)
    screen._in, screen._begun = reading, b""
    with pytest.raises(OSError, match="the terminal has gone"):
        screen.keys(1.0)
    os.close(reading)
