"""Leaves that say who controls the upper body."""

from orchestrator.leaf import By, Command, Judge, UpperState


class SetUpperFsm(
    Command,
    needs="upper_body",
    uses="upper head left_hand right_hand",
    families=("aurora",),
    requires={"aurora": {"fsm": ("walk",)}},
    changes={"aurora": {"upper": By("state")}},
    resumable=False,
    timeout=10.0,
):
    """Change the upper-body state and wait until the robot reports it.

    - SetUpperFsm: {state: remote}
    """

    state: UpperState

    def command(self) -> Judge:
        return self.robot.upper_body.set(self.state)


class SwitchUpperControl(
    Command,
    needs="upper_body",
    uses="upper head left_hand right_hand",
    families=("atom",),
    requires={"atom": ({"fsm": ("ready", "walk", "balance")}, {"enabled": (False,)})},  # giving back is always allowed
    changes={"atom": {"upper": By("enabled", {True: "on", False: "off"})}},
    resumable=False,
    timeout=5.0,
):
    """Take or give back control of the upper body and wait until the robot reports it.

    - SwitchUpperControl: {enabled: true}
    """

    enabled: bool

    def command(self) -> Judge:
        return self.robot.upper_body.set("on" if self.enabled else "off")
