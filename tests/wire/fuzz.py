"""Damaged messages of every type through decoder and field readers: `python -m tests.wire.fuzz SECONDS [SEED]`.

The suite runs the same for a moment (test_fuzz.py); this is for longer campaigns.
"""

from __future__ import annotations

import random
import sys
import time
import tracemalloc
from collections import Counter
from contextlib import suppress

from orchestrator.wire.codec import WireError, codec
from orchestrator.wire.encapsulation import kinds
from orchestrator.wire.example import example
from orchestrator.wire.registry import message_types
from orchestrator.wire.shape import struct_of
from tests.wire.test_codec import all_paths

ALLOWED_PER_BYTE = 2000
"""Python objects are far larger than the numbers they hold; what must not happen is an allocation by a length word."""


def damage(data: bytes, rng: random.Random) -> bytes:
    """A few bytes changed, a length word made huge, the end cut off or repeated."""
    damaged = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        damaged[rng.randrange(len(damaged))] = rng.choice((0, 1, 2, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    if rng.random() < 0.3:
        at = rng.randrange(4, len(damaged) + 1) & ~3
        damaged[at : at + 4] = rng.choice((2**32 - 1, 2**31, 1000, 7)).to_bytes(4, "little")
    if rng.random() < 0.3:
        del damaged[rng.randrange(len(damaged)) :]
    return bytes(damaged)


def campaign(seconds: float, seed: int) -> Counter[str]:
    """Counts what happened; anything but a message or a WireError ends it with that exception."""
    rng = random.Random(seed)
    cases = []
    for cls in message_types().values():
        known = codec(cls)
        messages = [known.encode(example(cls, count), version) for count in (0, 2, 5) for version in (1, 2)]
        for kind in kinds(known.shape):  # compiles all decoders, so that this does not count as an allocation
            with suppress(WireError):
                known.decode(kind.to_bytes(2, "big") + messages[0][2:])
        paths = [path for path, _ in all_paths(struct_of(cls), example(cls))]
        cases.append((known, messages, paths))
    seen: Counter[str] = Counter()
    until = time.monotonic() + seconds
    tracemalloc.start()
    while time.monotonic() < until:
        known, messages, paths = rng.choice(cases)
        data = damage(rng.choice(messages), rng)
        read = known.field(rng.choice(paths), plain=rng.random() < 0.5)
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        for action in (known.decode, read):
            try:
                action(data)
                seen["read"] += 1
            except WireError:
                seen["refused"] += 1
        grown = tracemalloc.get_traced_memory()[1] - before
        if grown > 200_000 + ALLOWED_PER_BYTE * len(data):
            raise AssertionError(f"{known.type_name}: {len(data)} bytes made {grown} be allocated: {data.hex()}")
    tracemalloc.stop()
    return seen


if __name__ == "__main__":
    print(dict(campaign(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)))
