"""Units: what each one measures and how it becomes the unit we calculate in."""

from __future__ import annotations

import math
from collections.abc import Callable

# dimension: unit we calculate in
DIMENSIONS = {
    "duration": "s",
    "length": "m",
    "angle": "rad",
    "speed": "m/s",
    "angular speed": "rad/s",
    "percent": "%",  # 0 to 100, never a fraction
    "force": "N",
    "torque": "Nm",
    "voltage": "V",
    "current": "A",
    "frequency": "Hz",
    "temperature": "degC",
}

# Divided where the factor is not exact in binary, so that 300 ms is 0.3 s to the last bit.
UNITS: dict[str, tuple[str, Callable[[float], float]]] = {
    "s": ("duration", lambda v: v),
    "ms": ("duration", lambda v: v / 1000),
    "min": ("duration", lambda v: v * 60),
    "h": ("duration", lambda v: v * 3600),
    "m": ("length", lambda v: v),
    "cm": ("length", lambda v: v / 100),
    "mm": ("length", lambda v: v / 1000),
    "deg": ("angle", math.radians),
    "rad": ("angle", lambda v: v),
    "m/s": ("speed", lambda v: v),
    "deg/s": ("angular speed", math.radians),
    "rad/s": ("angular speed", lambda v: v),
    "%": ("percent", lambda v: v),
    "N": ("force", lambda v: v),
    "Nm": ("torque", lambda v: v),
    "V": ("voltage", lambda v: v),
    "A": ("current", lambda v: v),
    "Hz": ("frequency", lambda v: v),
    "degC": ("temperature", lambda v: v),
}

# What people write instead.
OTHER_SPELLINGS = {
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "S": "s",
    "msec": "ms",
    "millisecond": "ms",
    "milliseconds": "ms",
    "mins": "min",
    "minute": "min",
    "minutes": "min",
    "hour": "h",
    "hours": "h",
    "hr": "h",
    "hrs": "h",
    "meter": "m",
    "metre": "m",
    "meters": "m",
    "metres": "m",
    "M": "m",
    "centimetre": "cm",
    "centimetres": "cm",
    "centimeters": "cm",
    "millimetres": "mm",
    "millimeters": "mm",
    "°": "deg",
    "degree": "deg",
    "degrees": "deg",
    "radian": "rad",
    "radians": "rad",
    "mps": "m/s",
    "ms-1": "m/s",
    "°/s": "deg/s",
    "dps": "deg/s",
    "degrees/s": "deg/s",
    "percent": "%",
    "pct": "%",
    "newton": "N",
    "volt": "V",
    "volts": "V",
    "amp": "A",
    "amps": "A",
    "hz": "Hz",
    "HZ": "Hz",
    "C": "degC",
    "°C": "degC",
    "celsius": "degC",
}

NAMES = {"m": "metres", "s": "seconds", "min": "minutes", "h": "hours", "ms": "milliseconds", "deg": "degrees"}


def units_of(dimension: str) -> list[str]:
    return [unit for unit, (measured, _) in UNITS.items() if measured == dimension]


def shown(value: float, dimension: str) -> str:
    """A quantity as a person would write it: angles in degrees, everything else in the unit we calculate in."""
    if dimension == "angle":
        return f"{_digits(math.degrees(value))} deg"
    if dimension == "angular speed":
        return f"{_digits(math.degrees(value))} deg/s"
    return f"{_digits(value)} {DIMENSIONS[dimension]}"


def _digits(value: float) -> str:
    return f"{value:.6g}"
