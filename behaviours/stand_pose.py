"""Leaves that pose the standing body."""

from typing import Annotated

from orchestrator.leaf import Angle, Command, Judge, Length, Limit


class StandPose(
    Command,
    needs="stand_pose",
    uses="legs upper",
    families=("aurora",),
    requires={"aurora": {"fsm": ("pd_stand",)}},
    timeout=20.0,
):
    """Raise or lower, pitch and turn the standing body and wait until it is there.

    - StandPose: {height: -5 cm, pitch: 10 deg, yaw: 0 deg}
    """

    height: Annotated[Length, Limit("stand.height")] = 0.0
    pitch: Annotated[Angle, Limit("stand.pitch")] = 0.0
    yaw: Annotated[Angle, Limit("stand.yaw")] = 0.0

    def command(self) -> Judge:
        return self.robot.stand_pose.set(self.height, self.pitch, self.yaw)
