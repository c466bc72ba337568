from pathlib import Path

import pytest

from orchestrator.bus import BusError
from orchestrator.bus.network import load_network
from orchestrator.bus.settings import DdsSettings, loopback


def write(folder: Path, text: str) -> Path:
    file = folder / "dds.yaml"
    file.write_text(text)
    return file


def test_the_file_that_comes_with_the_program_chooses_no_interface() -> None:
    network = load_network()
    with pytest.raises(BusError, match=r"no network interface is chosen: name the robot's in config/dds.yaml"):
        network.on_domain(0)
    assert network.on_domain(123, interface="lo") == DdsSettings(123, "lo", (), "", True)


def test_a_users_own_file_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config").mkdir()
    write(tmp_path / "config", "interface: lo\npeers: [127.0.0.1]\nmulticast: false\ntag: lab\n")
    monkeypatch.chdir(tmp_path)
    settings = load_network().on_domain(7)
    assert settings == DdsSettings(7, "lo", ("127.0.0.1",), "lab", False)
    assert '<Peer Address="127.0.0.1"/>' in settings.xml()


def test_a_mistake_is_named_with_its_place(tmp_path: Path) -> None:
    file = write(tmp_path, "interfase: lo\nmulticast: maybe\n")
    with pytest.raises(BusError) as caught:
        load_network(file)
    text = str(caught.value)
    assert f"{file}:1:1: error:" in text
    assert "interface" in text
    assert f"{file}:2:12: error:" in text


def test_a_tag_cannot_break_out_of_the_configuration() -> None:
    xml = DdsSettings(5, "lo", tag="</Tag><x/>").xml()
    assert "<x/>" not in xml


def test_a_simulation_stays_on_loopback() -> None:
    xml = loopback(5, "private").xml()
    assert '<NetworkInterface address="127.0.0.1" multicast="false"/>' in xml
    assert "<AllowMulticast>false</AllowMulticast>" in xml
    assert '<Peers><Peer Address="127.0.0.1"/></Peers>' in xml
    assert "<Tag>private</Tag>" in xml
