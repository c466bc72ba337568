"""Random stories, on every robot: whatever happens in whatever order, no invariant is broken."""

from __future__ import annotations

import math

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from orchestrator.robots import intents as i
from tests.support.exploration import ACTIONS, JudgedWorld, quick_config

SHORT = sorted(name for name in ACTIONS if "1.3" not in name and "2.6" not in name and name != "base silent")
FLOATS = st.floats(allow_nan=True, allow_infinity=True) | st.floats(-1, 1)


class AnyStory(RuleBasedStateMachine):
    world: JudgedWorld

    @initialize(robot=st.sampled_from(["atom_w", "atom", "gr2", "adam_u"]))
    def connect(self, robot: str) -> None:
        self.world = JudgedWorld(robot, quick_config())
        self.world.connect()

    @rule(name=st.sampled_from(SHORT))
    def something_happens(self, name: str) -> None:
        if self._makes_sense(name):
            ACTIONS[name](self.world)

    def _makes_sense(self, name: str) -> bool:
        """A robot without base, upper control or states shows none."""
        if self.world.profile.base is None and name.startswith("base"):
            return False
        return bool(self.world.profile.fsm) or not name.startswith(("fsm", "upper"))

    @rule(name=st.sampled_from(["start", "ask velocity", "ask joints", "ask move", "beat"]))
    def a_mission_goes_on(self, name: str) -> None:
        ACTIONS[name](self.world)

    @rule(seconds=st.floats(0.01, 0.3), samples=st.booleans(), beats=st.booleans())
    def time_passes(self, seconds: float, samples: bool, beats: bool) -> None:
        self.world.wait(seconds, samples, beats)

    @rule(vx=FLOATS, vy=FLOATS, yaw=FLOATS)
    def any_velocity(self, vx: float, vy: float, yaw: float) -> None:
        self.world.ask(i.Velocity(vx, vy, yaw))

    @rule(q=st.lists(FLOATS, min_size=6, max_size=8), duration=FLOATS)
    def any_joints(self, q: list[float], duration: float) -> None:
        self.world.ask(i.JointTarget("left_arm", tuple(q), duration))

    @invariant()
    def nothing_is_wrong(self) -> None:
        if hasattr(self, "world"):
            assert self.world.problems == []
            assert self.world.core.next_due(self.world.state) > -math.inf


AnyStory.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestAnyStory = AnyStory.TestCase
