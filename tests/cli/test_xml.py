"""`orchestrator export` and `orchestrator import`, from a file to a file."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner, Result

from orchestrator.cli.app import app

TREE = "tree: t\nroot:\n  sequence:\n    - CheckErrors\n    - SetFsm: {state: ready}\n"


def orchestrator(*arguments: object) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


def test_there_and_back(tmp_path: Path) -> None:
    tree, xml = tmp_path / "t.yaml", tmp_path / "t.xml"
    tree.write_text(TREE)
    assert orchestrator("export", tree, "-o", xml, "--robot", "atom_w").exit_code == 0
    result = orchestrator("import", xml)
    assert (result.exit_code, result.stdout) == (0, TREE)


def test_to_the_terminal_with_what_is_lost_on_the_side(tmp_path: Path) -> None:
    tree = tmp_path / "t.yaml"
    tree.write_text(TREE + "      confirm: Sure?\n")
    result = orchestrator("export", tree)
    assert result.stdout.startswith("<?xml")
    assert result.stderr == "not carried over: SetFsm: confirm: Sure?\n"


def test_a_wrong_tree_is_not_exported(tmp_path: Path) -> None:
    tree = tmp_path / "t.yaml"
    tree.write_text(TREE.replace("SetFsm", "SetFsn"))
    result = orchestrator("export", tree)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "did you mean SetFsm?" in result.stderr


def test_several_trees_go_into_a_folder_and_over_nothing(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text("tree: part\nroot:\n  sequence:\n    - CheckErrors\n")
    tree, xml, folder = tmp_path / "t.yaml", tmp_path / "t.xml", tmp_path / "new"
    tree.write_text(TREE + "    - use: part.yaml\n")
    orchestrator("export", tree, "-o", xml)
    assert "holds several trees (t.yaml, part.yaml)" in orchestrator("import", xml).stderr
    assert orchestrator("import", xml, "-o", folder).exit_code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["part.yaml", "t.yaml"]
    assert (folder / "t.yaml").read_text() == tree.read_text()
    assert orchestrator("import", xml, "-o", folder).exit_code == 2


def test_what_is_lost_is_no_success(tmp_path: Path) -> None:
    xml = tmp_path / "t.xml"
    body = '<Sequence _while="c"><CheckErrors/></Sequence>'
    xml.write_text(f'<root BTCPP_format="4"><BehaviorTree ID="t">{body}</BehaviorTree></root>')
    result = orchestrator("import", xml)
    assert result.exit_code == 1
    assert result.stderr == "not carried over: line 1: _while='c' of <Sequence>\n"
    tree = tmp_path / "t.yaml"
    tree.write_text(result.stdout)
    assert 'there is no modifier "_while"' in orchestrator("check", tree).stdout


def test_what_cannot_be_read(tmp_path: Path) -> None:
    broken = tmp_path / "t.xml"
    broken.write_text("<root>")
    for file, said in (
        (broken, "this is not XML"),
        (tmp_path / "no.xml", "cannot be read"),
        (tmp_path, "cannot be read"),
    ):
        result = orchestrator("import", file)
        assert result.exit_code == 2
        assert said in result.stderr
