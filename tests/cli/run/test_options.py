"""Whether a person is there who could control a run."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from orchestrator.cli.run.options import answers, pairs

ASK = "from orchestrator.cli.run.options import is_attended; import sys; sys.stderr.write(str(is_attended()))"


def attended(code: str = "") -> str:
    """What a program says that has a terminal as its input and output, but belongs to none."""
    ours, its = pty.openpty()
    try:
        told = subprocess.run(
            [sys.executable, "-c", code + ASK],
            stdin=its, stdout=its, stderr=subprocess.PIPE, start_new_session=True, text=True, check=False,
            env={**os.environ, "TERM": "xterm-256color"},
        )  # fmt: skip
        return told.stderr
    finally:
        os.close(ours)
        os.close(its)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("", "False"),
        ("import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n", "True"),  # makes it the one it belongs to
    ],
)
def test_only_at_the_terminal_a_program_belongs_to_a_person_controls_it(code: str, said: str) -> None:
    assert attended(code) == said


def test_a_node_with_an_equals_sign_in_its_name_can_be_answered_and_a_value_may_have_one() -> None:
    assert answers(["wait=now=no", "Ask=left"]) == {"wait=now": "no", "Ask": "left"}
    assert pairs(["text=a=b"], "--set") == {"text": "a=b"}
