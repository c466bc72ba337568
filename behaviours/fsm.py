"""Leaves that change or wait for the whole-body state machine."""

from orchestrator.leaf import EVERYTHING, By, Command, Duration, FsmState, Judge

# Entering one of these states switches the Atom's upper-body control off by itself.
_UPPER_OFF = By("state", {"zero_torque": "off", "damping": "off"})


class SetFsm(
    Command,
    needs="fsm",
    uses=EVERYTHING,
    families=("aurora", "atom"),
    changes={"aurora": {"fsm": By("state")}, "atom": {"fsm": By("state"), "upper": _UPPER_OFF}},
    resumable=False,
    timeout=15.0,
):
    """Change the whole-body state and wait until the robot reports it.

    - SetFsm: {state: ready}
    """

    state: FsmState

    def command(self) -> Judge:
        return self.robot.fsm.set(self.state)


class WaitForFsm(
    Command,
    needs="fsm",
    families=("aurora", "atom"),
    changes={"aurora": {"fsm": By("state")}, "atom": {"fsm": By("state")}},
    looks=True,
    timeout=60.0,
):
    """Wait until the whole-body state is the one that is named.

    - WaitForFsm: {state: pd_stand}
    """

    state: FsmState

    def command(self) -> Judge:
        return self.robot.fsm.wait_for(self.state)


class WaitStable(Command, needs="stand_pose", families=("aurora",), looks=True, timeout=30.0):
    """Wait until the robot stands stably on its own feet, without a break for the given time.

    - WaitStable: {time: 1 s}
    """

    time: Duration = 0.5

    def takes(self) -> float:
        return self.time

    def command(self) -> Judge:
        return self.robot.stand_pose.wait_stable(self.time)
