"""The simulated robot of a run, as a process: `python -m orchestrator.mission.twin`; ends with its standard input."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress

import msgspec

from orchestrator.bus.settings import DdsSettings
from orchestrator.mission.virtual import put_objects
from orchestrator.robots.profiles import load_profile
from orchestrator.sim.process import LiveTwin


class Settings(msgspec.Struct, frozen=True):
    """What a run tells the simulated robot it starts."""

    robot: str
    network: DdsSettings
    seed: int = 0
    faults: tuple[str, ...] = ()


AHEAD = -10
"""How far ahead of other programs, where permitted: a real robot has its own computer, and a slow one is stopped."""


def main() -> None:
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, AHEAD)
    settings = msgspec.json.decode(sys.argv[1], type=Settings)
    live = LiveTwin(load_profile(settings.robot), settings.network, settings.seed, settings.faults)
    put_objects(live.twin)
    threading.Thread(target=_until_input_ends, args=(live,), daemon=True).start()
    print(f"up {live.rpc_port or ''}", flush=True)
    live.run()


def _until_input_ends(live: LiveTwin) -> None:
    sys.stdin.read()
    live.stop()


if __name__ == "__main__":
    main()
