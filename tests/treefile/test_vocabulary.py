"""Every word of the language is explained, and every example is right."""

from __future__ import annotations

import pytest

from orchestrator.leaf import words
from orchestrator.treefile import vocabulary
from orchestrator.treefile.file import HEAD
from orchestrator.treefile.vocabulary import Word
from tests.treefile.conftest import CheckText, whole

GO_TO = "tree: go_to\nparams: {tag: {type: tag}}\nroot:\n  - MoveToTag: {tag: $tag}\n"
NODE_WORDS = (*vocabulary.KINDS, *vocabulary.OF_KIND, *vocabulary.MODIFIERS)


def test_every_word_is_explained_in_the_languages_order() -> None:
    assert tuple(word.name for word in vocabulary.KINDS) == words.KINDS
    assert tuple(word.name for word in vocabulary.OF_KIND) == tuple(words.OF_KIND)
    assert tuple(word.name for word in vocabulary.MODIFIERS) == words.MODIFIERS
    assert tuple(word.name for word in vocabulary.HEAD) == HEAD


@pytest.mark.parametrize("word", NODE_WORDS, ids=[word.name for word in NODE_WORDS])
def test_the_example_of_a_word_uses_it_and_is_right(word: Word, check: CheckText) -> None:
    ready = "- SetFsm: {state: ready}\n"  # what uses the base needs it
    checked = check(whole(ready + word.example), "atom_w", parts__go_to=GO_TO)
    assert f"{word.name}:" in word.example
    assert checked.findings.render() == ""


@pytest.mark.parametrize("word", vocabulary.HEAD, ids=[word.name for word in vocabulary.HEAD])
def test_the_example_of_a_word_of_the_head_is_right(word: Word, check: CheckText) -> None:
    lines = {"tree": "tree: t", "root": "root: [CheckErrors]", word.name: word.example}
    assert check("\n".join(lines.values())).findings.render() == ""
