"""The wheel installs into an empty environment and works from any folder."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_code_and_data(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for expected in (
        "orchestrator/clock.py",
        "orchestrator/py.typed",
        "behaviours/__init__.py",
        "orchestrator/_data/config/dds.yaml",
        "orchestrator/_data/idl/dobot_atom/AmrCmd.idl",
    ):
        assert expected in names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/"))]


@pytest.mark.timeout(600)
def test_the_wheel_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "environment"
    venv.create(home, with_pip=True)
    python = str(home / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)]
    subprocess.run(install, check=True, cwd=tmp_path)
    code = (
        "from orchestrator.data import data_path; assert 'site-packages' in str(data_path('idl/std_msgs/Header.idl'))"
    )
    subprocess.run([python, "-c", code], check=True, cwd=tmp_path)
    command = [str(home / "bin" / "orchestrator"), "exchange"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "44 of 44 topics came back unchanged." in done.stdout
    tree = str(home / next(home.glob("lib/python*/site-packages/orchestrator/_data/trees/04_deliver_atom_w.yaml")))
    delivery = [str(home / "bin" / "orchestrator"), "run", tree, "--virtual"]
    done = subprocess.run(delivery, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
