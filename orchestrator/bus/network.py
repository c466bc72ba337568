"""The DDS settings file, `config/dds.yaml`: how this machine reaches a real robot."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from orchestrator.bus.contract import BusError
from orchestrator.bus.settings import DdsSettings
from orchestrator.data import own_path
from orchestrator.yamlfile import BOOL, TEXT, Findings, list_of, load, optional, record


@dataclass(frozen=True)
class Network:
    """Everything but the domain, which is the robot's."""

    interface: str | None
    peers: list[str]
    multicast: bool
    tag: str

    def on_domain(self, domain: int, interface: str | None = None) -> DdsSettings:
        """The settings for one robot; its profile may name the interface."""
        chosen = interface or self.interface
        if chosen is None:
            raise BusError("no network interface is chosen: name the robot's in config/dds.yaml (interface: eth0)")
        return DdsSettings(domain, chosen, tuple(self.peers), self.tag, self.multicast)


_NETWORK = record(
    Network,
    {
        "interface": optional(TEXT),
        "peers": optional(list_of(TEXT), []),
        "multicast": optional(BOOL, True),
        "tag": optional(TEXT, ""),
    },
)


def load_network(path: Path | None = None) -> Network:
    """Read a settings file; without a path `./config/dds.yaml`, else the one that comes with the program."""
    findings = Findings()
    network = load(path or own_path("config/dds.yaml"), _NETWORK, findings)
    if network is None:
        raise BusError(findings.render())
    return network
