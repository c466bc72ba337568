import os
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.yamlfile import Document, Findings, Mapping, Node, Scalar, Sequence, read_file, read_text
from orchestrator.yamlfile.opening import LARGEST_FILE


def plain(node: Node | None) -> object:
    """A node as Python lists and dictionaries of text."""
    if isinstance(node, Mapping):
        return {key: plain(value) for key, (_, value) in node.entries.items()}
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return node.text if isinstance(node, Scalar) else None


def read(text: str) -> tuple[Document, list[tuple[int, int, str]]]:
    findings = Findings()
    document = read_text(text, "t.yaml", findings)
    return document, [(f.place.line, f.place.column, f.code) for f in findings.sorted()]


def test_a_file_is_a_tree_of_text() -> None:
    document, found = read("a: 1\nb:\n  - no\n  - {c: 12:30, d: 'x'}\n")
    assert found == []
    assert document.complete
    assert plain(document.root) == {"a": "1", "b": ["no", {"c": "12:30", "d": "x"}]}


def test_places_count_lines_and_columns_from_one_in_characters() -> None:
    document, _ = read("äöü: {ß: x}\n")
    assert isinstance(document.root, Mapping)
    inner = document.root.get("äöü")
    assert isinstance(inner, Mapping)
    key, value = inner.entries["ß"]
    assert (key.place.line, key.place.column) == (1, 7)
    assert (value.place.line, value.place.column) == (1, 10)


def test_quotes_are_remembered() -> None:
    document, _ = read("[a, 'a', \"a\", |]\n".replace("|", "b"))
    assert isinstance(document.root, Sequence)
    assert [item.quoted for item in document.root.items if isinstance(item, Scalar)] == [False, True, True, False]


@pytest.mark.parametrize("text", ["a: b\r\nc:\r\n  - d\r\n", "---\na: b\nc: [d]\n", "\ufeffa: b\nc: [d]\n"[1:]])
def test_windows_line_ends_and_one_document_marker_are_fine(text: str) -> None:
    document, found = read(text)
    assert found == []
    assert plain(document.root) == {"a": "b", "c": ["d"]}


REFUSED = [
    # what, where, which code
    ("a: 1\nb: 2\na: 3\n", 3, 1, "duplicate-key"),
    ("a: {b: 1, b: 2}\n", 1, 11, "duplicate-key"),
    ("a: !!int 3\n", 1, 4, "tag"),
    ("a: !emergency.any\n", 1, 4, "tag"),
    ("a: ! x\n", 1, 4, "tag"),
    ("a: &x 1\n", 1, 4, "anchor"),
    ("a: &x [1]\n", 1, 4, "anchor"),
    ("a: *x\n", 1, 4, "alias"),
    ("*x : 1\n", 1, 1, "alias"),
    ("<<: {a: 1}\n", 1, 1, "merge-key"),
    ("a: 1\n---\nb: 2\n", 2, 1, "several-documents"),
    ("%YAML 1.1\n---\na: 1\n", 1, 1, "directive"),
    ("a: .nan\n", 1, 4, "not-finite"),
    ("a: [1, -.INF]\n", 1, 8, "not-finite"),
    ("a: 007\n", 1, 4, "leading-zero"),
    ("a: -01.5\n", 1, 4, "leading-zero"),
    ("a:\t1\n", 1, 3, "tab"),
    ("\ta: 1\n", 1, 1, "tab"),
    ("a:\n  - b\n\t- c\n", 3, 1, "tab"),
    ("a:\n    b: 1\n  \tc: 2\n", 3, 3, "tab"),
    ("12: a\n", 1, 1, "key-not-text"),
    ("true: a\n", 1, 1, "key-not-text"),
    ("~: a\n", 1, 1, "key-not-text"),
    ("? [a]\n: 1\n", 1, 3, "key-not-text"),
    ("{a: 1}: 1\n", 1, 1, "key-not-text"),
    ("a: b\x07c\n", 1, 5, "control-character"),
    ("a: b\rc\n", 1, 5, "control-character"),
    ("a: b\u0085c\n", 1, 5, "control-character"),
    ("a: b\u2028c\n", 1, 5, "control-character"),
    ("a: b\u200bc\n", 1, 5, "control-character"),
    ("a: b\u202ec\n", 1, 5, "text-direction"),
    ('a: "b\\u202ec"\n', 1, 4, "text-direction"),
    ('a: "b\\x07c"\n', 1, 4, "control-character"),
    ("a:\u00a01\n", 1, 3, "odd-space"),
    ("a: 1\u202fs\n", 1, 5, "odd-space"),
    ("a: 1\n\nb:\u00a02\nc: 3\n", 3, 3, "odd-space"),
    ("", 1, 1, "empty-file"),
    ("# nothing but a remark\n", 1, 1, "empty-file"),
    ("[" * 65 + "]" * 65, 1, 65, "too-deep"),
    ("[" * 200_000, 1, 65, "too-deep"),
    ("a" * (LARGEST_FILE + 1), 1, 1, "too-big"),
]


@pytest.mark.parametrize(
    ("text", "line", "column", "code"), REFUSED, ids=[f"{c[3]}-{i}" for i, c in enumerate(REFUSED)]
)
def test_what_is_forbidden_is_found_where_it_stands(text: str, line: int, column: int, code: str) -> None:
    _, found = read(text)
    assert found == [(line, column, code)]


def test_every_forbidden_character_is_reported_or_counted() -> None:
    findings = Findings()
    read_text("a: b\n" + "\u00a0c \u00a0\n" * 700, "t.yaml", findings)
    places = [(finding.place.line, finding.place.column) for finding in findings.sorted()]
    assert places[:3] == [(2, 1), (2, 4), (3, 1)]
    assert len(findings) == findings.errors >= 1400


SLIPS = [
    ("text: done: all of it\n", 1, 7, "needs-quotes", '"done: all of it"'),
    ("a: {text: done, all of it}\n", 1, 17, "comma-in-text", None),
    ("text: Delivered to #3\n", 1, 20, "comment-in-text", '"Delivered to #3"'),
    ("a: {text: Delivered to #3}\nb: 1\n", 1, 11, "needs-quotes", None),
    ("a: {type: one of [a, b]}\n", 1, 11, "needs-quotes", None),
    ("a: {text: go: now}\n", 1, 11, "needs-quotes", None),
    ("timeout:5 s\nname: x\n", 1, 1, "missing-space", "timeout: 5 s"),
    ("a: {state:ready}\n", 1, 5, "missing-space", "state: ready"),
    ("- ClearErrors\n  confirm: sure?\n", 1, 3, "missing-colon", "ClearErrors:"),
    ('a: "never closed\nb: 1\n', 1, 4, "open-quote", None),
    ("a: {b: 1\nc: 2\n", 1, 4, "open-bracket", None),
    ("a: [b\nc: 2\n", 1, 4, "open-bracket", None),
    ("a: 'it's'\n", 1, 8, "needs-quotes", None),
    ('a: "x" y\n', 1, 8, "needs-quotes", None),
    ("a: %done\n", 1, 4, "needs-quotes", '"%done"'),
    ("a: @home\n", 1, 4, "needs-quotes", '"@home"'),
    ("a: {text: %done, b: 1}\n", 1, 11, "needs-quotes", '"%done"'),
    ("*/visit: succeed after 1 s\n", 1, 1, "needs-quotes", '"*/visit"'),
    ("b: c\n*visit/it: succeed\n", 2, 1, "needs-quotes", '"*visit/it"'),
    ("a: [*/b, c]\n", 1, 5, "needs-quotes", '"*/b"'),
    ("a: {time: 2,5 s}\n", 1, 13, "decimal-comma", None),
    ("a: {tag: ${to}, b: 1}\n", 1, 10, "name-in-braces", "$to"),
    ("a: Move: {tag: 1}\n", 1, 4, "two-on-a-line", None),
    ("a:\n  - x\n  \N{EN DASH} y\n", 3, 3, "long-dash", "-"),
    ("a: - b\n", 1, 4, "list-on-key-line", None),
    ('a: "C:\\dir"\n', 1, 7, "backslash", None),
    ("a:\n  - b\n - c\n", 3, 2, "indentation", None),
    ("a:\n  b: 1\n   c: 2\n", 3, 4, "indentation", None),
    ("a: 1\n}\n", 2, 1, "closing-bracket", None),
    ("a:\n  - b\n  c\n", 3, 3, "missing-dash", None),
    ("a: {b: 'x' y}\n", 1, 12, "missing-comma", None),
]


@pytest.mark.parametrize(("text", "line", "column", "code", "suggestion"), SLIPS)
def test_a_slip_gets_its_remedy(text: str, line: int, column: int, code: str, suggestion: str | None) -> None:
    findings = Findings()
    read_text(text, "t.yaml", findings)
    found = [(f.place.line, f.place.column, f.code, f.suggestion) for f in findings.sorted()]
    assert found == [(line, column, code, suggestion)]


def test_a_missing_comma_may_be_what_makes_a_colon_wrong() -> None:
    findings = Findings()
    read_text("a: {tag: shelf heading: 90 deg}\n", "f.yaml", findings)
    [found] = findings.sorted()
    assert found.message.endswith('put the whole text in quotes, or is a comma missing before "heading"?')


def test_ordinary_comments_are_left_alone() -> None:
    _, found = read("a: b   # a remark\n#another\nc: 'x #y'  # why\n## heading\nd: e#f\n")
    assert found == []


def test_after_a_syntax_error_reading_goes_on_at_the_next_item_of_the_outermost_list() -> None:
    text = "root:\n  - a: b: c\n    x: 1\n  - good: 1\n  - x: 'open\n  - y: [1\n  - good: 2\ntail: 1\n"
    document, found = read(text)
    assert [(line, code) for line, _, code in found] == [(2, "needs-quotes"), (5, "open-quote"), (6, "open-bracket")]
    assert not document.complete
    assert plain(document.root) == {"root": [{"good": "1"}, {"good": "2"}], "tail": "1"}


def test_after_a_syntax_error_in_a_top_level_key_the_others_are_read() -> None:
    document, found = read("a: x: y\nb: 1\nc: {d\ne: 2\n")
    assert [line for line, _, _ in found] == [1, 3]
    assert plain(document.root) == {"a": "", "b": "1", "c": "", "e": "2"}


def test_a_file_that_is_not_utf8_names_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_bytes(b"a: 1\nb: \xe4\n")
    findings = Findings()
    assert read_file(path, findings).root is None
    assert [(f.place.line, f.place.column, f.code) for f in findings.sorted()] == [(2, 4, "not-utf-8")]


def test_a_byte_order_mark_is_ignored_and_utf16_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")
    findings = Findings()
    assert plain(read_file(path, findings).root) == {"a": "1"}
    assert len(findings) == 0
    path.write_bytes("a: 1\n".encode("utf-16"))
    read_file(path, findings)
    assert [f.code for f in findings.sorted()] == ["not-utf-8"]


def codes_of(path: Path) -> list[str]:
    findings = Findings()
    assert read_file(path, findings).root is None
    return [f.code for f in findings.sorted()]


def test_what_is_not_a_readable_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "big.yaml").write_bytes(b"#" * (LARGEST_FILE + 1))
    assert codes_of(tmp_path) == ["directory"]
    assert codes_of(tmp_path / "missing.yaml") == ["no-file"]
    assert codes_of(tmp_path / "loop") == ["link-loop"]
    assert codes_of(tmp_path / "pipe") == ["not-a-file"]
    assert codes_of(tmp_path / "big.yaml") == ["too-big"]
    assert codes_of(tmp_path / "nul\0.yaml") == ["unreadable"]


def test_a_missing_file_suggests_the_one_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "deliver.yaml").touch()
    findings = Findings()
    read_file(tmp_path / "delivr.yaml", findings)
    assert findings.sorted()[0].suggestion == "deliver.yaml"


YAML_PIECES = st.sampled_from([*"{}['\"#>%@`\\\t\r\n0~é\u00a0\u202e]:"]) | st.sampled_from(
    [
        "a",
        "root",
        ": ",
        "- ",
        "\n  ",
        "\n    ",
        ", ",
        " #",
        "#x",
        "|\n",
        "&a ",
        "*a",
        "!t ",
        "? ",
        "---\n",
        "<<",
        ".nan",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(YAML_PIECES, max_size=40).map("".join))
def test_any_text_is_answered_with_a_tree_or_findings_inside_the_file(text: str) -> None:
    findings = Findings()
    document = read_text(text, "t.yaml", findings)
    assert document.root is not None or findings.errors or not document.complete
    lines = text.split("\n")
    for finding in findings.sorted():
        assert 1 <= finding.place.line <= len(lines)
        assert 1 <= finding.place.column <= len(lines[finding.place.line - 1]) + 1


def test_without_the_c_parser_the_same_tree_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a: 1\nb:\n  - no\n  - {c: 'x', d: 007}\n"
    with_c, found_with_c = read(text)
    monkeypatch.setattr("orchestrator.yamlfile.events._Parser", yaml.Loader)
    without, found = read(text)
    assert plain(without.root) == plain(with_c.root)
    assert found == found_with_c == [(4, 17, "leading-zero")]
