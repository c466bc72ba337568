"""The registry finds every generated struct, under the package or variant that defines it."""

from __future__ import annotations

from orchestrator.wire import dobot_atom
from orchestrator.wire.dobot_atom import amr_v2
from orchestrator.wire.registry import message_types, packages


def test_a_type_is_found_under_its_package_and_its_variant() -> None:
    types = message_types()
    assert types["dobot_atom:AMRState_"] is dobot_atom.AMRState_
    assert types["dobot_atom/amr_v2:AMRState_"] is amr_v2.AMRState_


def test_a_variant_lists_only_what_it_defines_itself() -> None:
    names = [name for name in message_types() if name.startswith("dobot_atom/amr_v2:")]
    assert names == ["dobot_atom/amr_v2:AMRCommand_", "dobot_atom/amr_v2:AMRState_", "dobot_atom/amr_v2:Velocity_"]


def test_every_package_of_idl_is_there() -> None:
    names = {package.__name__.split(".")[2] for package in packages()}
    assert names == {"builtin_interfaces", "std_msgs", "fourier_msgs", "dobot_atom", "pnd_adam"}
