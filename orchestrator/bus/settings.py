"""Where on the network a bus lives: domain, interface, peers and tag, as CycloneDDS wants to hear it."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from orchestrator.bus.contract import BusError

HIGHEST_DOMAIN = 230
"""Above it the port numbers of the DDS standard leave the range of ports there are."""
_PARTICIPANTS = 60
"""How many programs on one machine may share a domain without multicast; discovery asks that many ports."""


@dataclass(frozen=True)
class DdsSettings:
    """One DDS network. Programs with different tags do not see each other even on the same domain."""

    domain: int
    interface: str = "lo"
    """A name such as eth0, or an address of this machine."""
    peers: tuple[str, ...] = ()
    """Addresses to ask when there is no multicast."""
    tag: str = ""
    multicast: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.domain <= HIGHEST_DOMAIN:
            raise BusError(f"there is no DDS domain {self.domain}: choose one from 0 to {HIGHEST_DOMAIN}")
        _check_interface(self.interface)
        for peer in self.peers:
            _check_peer(peer)

    def xml(self) -> str:
        """The configuration for CycloneDDS."""
        kind = "address" if _is_address(self.interface) else "name"
        multicast = str(self.multicast).lower()
        tag = f"<Tag>{_text(self.tag)}</Tag>" if self.tag else ""
        return (
            '<CycloneDDS><Domain Id="any"><General><Interfaces>'
            f'<NetworkInterface {kind}={quoteattr(self.interface)} multicast="{multicast}"/>'
            f"</Interfaces><AllowMulticast>{multicast}</AllowMulticast></General>"
            f"<Discovery>{tag}{self._unicast()}<SPDPInterval>1s</SPDPInterval></Discovery></Domain></CycloneDDS>"
        )

    def _unicast(self) -> str:
        peers = self.peers or (() if self.multicast else ("127.0.0.1",))
        listed = "".join(f"<Peer Address={quoteattr(peer)}/>" for peer in peers)
        index = "" if self.multicast else "<ParticipantIndex>auto</ParticipantIndex>"
        limit = f"<MaxAutoParticipantIndex>{_PARTICIPANTS}</MaxAutoParticipantIndex>"
        return index + limit + (f"<Peers>{listed}</Peers>" if listed else "")


def loopback(domain: int, tag: str) -> DdsSettings:
    """A private network on this machine: nothing leaves it, and only programs that know the tag take part."""
    if not tag:
        raise BusError("a private network needs a tag")
    return DdsSettings(domain, interface="127.0.0.1", tag=tag, multicast=False)


def _check_interface(interface: str) -> None:
    names = [name for _, name in socket.if_nameindex()]
    if _is_address(interface):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind((interface, 0))
                known = not interface.startswith(("0.", "127.")) or interface == "127.0.0.1"
            except OSError:
                known = False
            if not known:
                raise BusError(f"no network interface of this machine has the address {interface}")
    elif interface not in names:
        raise BusError(f"there is no network interface {interface!r}; there are {', '.join(names)}")


def _check_peer(peer: str) -> None:
    try:
        socket.getaddrinfo(peer, None, socket.AF_INET)
    except (OSError, UnicodeError):
        raise BusError(f"the peer {peer!r} is no address and no host name that is known here") from None


def _is_address(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True


def _text(text: str) -> str:
    return quoteattr(text)[1:-1]
