"""Finds every message type that was generated from `idl/`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

from cyclonedds.idl import IdlStruct

import orchestrator.wire


def packages() -> Iterator[ModuleType]:
    """All generated packages and their firmware variants, packages before their variants."""
    room = orchestrator.wire
    for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        if found.ispkg:
            yield importlib.import_module(found.name)


def message_types() -> dict[str, type[IdlStruct]]:
    """Every struct by "package:Name" or "package/variant:Name", such as "dobot_atom/amr_v2:AMRState_"."""
    return {
        f"{package.__name__.removeprefix('orchestrator.wire.').replace('.', '/')}:{name}": defined
        for package in packages()
        for name in package.__all__
        if issubclass(defined := getattr(package, name), IdlStruct)
    }
