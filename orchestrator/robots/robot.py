"""A robot as missions see it: its profile, what it reports and what it can be asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from orchestrator.bus.contract import Bus
from orchestrator.robots.capabilities.battery import Battery
from orchestrator.robots.capabilities.body import Body
from orchestrator.robots.capabilities.emergency import Emergency
from orchestrator.robots.capabilities.errors import Errors, GroupErrors, MotorErrors
from orchestrator.robots.capabilities.fsm import Fsm
from orchestrator.robots.capabilities.gains import Gains
from orchestrator.robots.capabilities.hands import Hands
from orchestrator.robots.capabilities.joints import Joints
from orchestrator.robots.capabilities.mobile_base import MobileBase
from orchestrator.robots.capabilities.pad import Pad
from orchestrator.robots.capabilities.stand_pose import StandPose
from orchestrator.robots.capabilities.upper_body import UpperStates, UpperSwitch
from orchestrator.robots.capabilities.velocity import Velocity
from orchestrator.robots.commander import Commander
from orchestrator.robots.fields import sources
from orchestrator.robots.judging import Context
from orchestrator.robots.knowledge import Known, Read
from orchestrator.robots.profile import Profile
from orchestrator.robots.state import State

if TYPE_CHECKING:
    from orchestrator.robots.data import RobotData

Make = Callable[[Context], Any]

_ALL: dict[str, Make] = {
    "fsm": Fsm,
    "stand_pose": StandPose,
    "velocity": Velocity,
    "joints": Joints,
    "hands": Hands,
    "mobile_base": MobileBase,
    "battery": Battery,
    "pad": Pad,
    "body": Body,
    "gains": Gains,
    "emergency": lambda context: Emergency(context.state),
}
_BY_FAMILY: dict[str, dict[str, Make]] = {
    "aurora": {"upper_body": UpperStates, "errors": GroupErrors},
    "atom": {"upper_body": UpperSwitch, "errors": Errors},
    "adam": {"errors": MotorErrors},
}


class MissingCapability(Exception):
    """The robot cannot do what was asked of it."""


class Robot:
    """`robot.mobile_base.move_to_tag(12, None)`: capabilities are its attributes."""

    fsm: Fsm
    stand_pose: StandPose
    velocity: Velocity
    joints: Joints
    hands: Hands
    mobile_base: MobileBase
    battery: Battery
    pad: Pad
    body: Body
    gains: Gains
    emergency: Emergency
    errors: Errors
    upper_body: UpperStates | UpperSwitch

    def __init__(self, profile: Profile, bus: Bus, commander: Commander) -> None:
        self.profile = profile
        self.state = State(profile, bus)
        self.clock = bus.clock
        self._capabilities: dict[str, Any] = {}
        self._sources = sources(profile)
        self._emergency = Emergency(self.state).any
        context = Context(profile, self.state, commander, bus.clock, self._emergency)
        for name, make in (_ALL | _BY_FAMILY[profile.family]).items():
            if self.has(name):
                self._capabilities[name] = make(context)

    @property
    def sign_of_a_stop(self) -> str:
        """What about it will make the guard stop it, if that has not yet seen it; empty if there is nothing."""
        found = self._emergency()  # robots without the capability have some sign of one too
        if isinstance(found, Known) and found.value:
            return "the robot shows an emergency stop"
        return "the robot has gone: nobody writes its topics any more" if self.state.is_gone else ""

    def has(self, name: str) -> bool:
        return name in self.profile.capabilities

    def field(self, name: str) -> Read:
        """Reads a field of the field table, such as `battery.level`."""
        found: Read = self._sources[name].read(self)
        return found

    def data(self) -> RobotData:
        """Everything it reports, as numpy arrays."""
        from orchestrator.robots.data import robot_data  # imports numpy: most missions need none

        return robot_data(self)

    def watch(self, name: str) -> None:
        """Let every change of an event field end the bus' wait."""
        for signal in self._sources[name].watch:
            self.state.signal(signal).watch()

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_capabilities"][name]
        except KeyError:
            raise MissingCapability(f"{self.__dict__['profile'].name} has no {name}") from None
