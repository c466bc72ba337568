"""Leaves that open, close and pose hands."""

from typing import Annotated

from orchestrator.leaf import Between, By, Command, Hand, Judge, Limit, Percent, Requirements, Status

_HAND = By("hand", {"left": "left_hand", "right": "right_hand"})
_ALLOWED: Requirements = {
    "aurora": ({"fsm": ("user_cmd", "upper_user_cmd", "pd_stand")}, {"fsm": ("walk",), "upper": ("remote",)}),
    "atom": {"fsm": ("ready", "walk", "balance")},
}


class HandGrasp(
    Command,
    needs="hands",
    uses=_HAND,
    requires=_ALLOWED,
    result=("object", "nothing", "not_moved", "not_known"),
    timeout=10.0,
):
    """Close a hand and say what it closed on; fails unless it holds something.

    - HandGrasp: {hand: right, grip: 80 %}

    The grip is how far the hand closes if nothing is in it: more than 5 % further than the object lets it, or nothing
    is found, for fingers that stop within 5 % of where they were told to go have arrived there.
    It holds something when the fingers stop short of where they were told to go and press; where a robot reports no
    effort of its fingers (Adam), stopping short must do, and a report that froze on the way cannot be told from it.
    What it closed on is not known when it was refused, took too long or the robot stopped reporting its fingers.
    """

    hand: Hand
    grip: Annotated[Percent, Between(1, 100)] = 80.0

    def start(self) -> None:
        self._opening: tuple[float, ...] | None = None
        super().start()

    def command(self) -> Judge:
        self.result = "not_known"
        self._grasp = self.robot.hands.grasp(self.hand, self.grip / 100, self._opening)
        return self._grasp

    def step(self) -> Status:
        status = super().step()
        self.result = self.result or "not_known"
        return status

    def pause(self) -> None:
        self._opening = self._grasp.start
        super().pause()

    def resume(self) -> None:
        super().start()


class HandOpen(Command, needs="hands", uses=_HAND, requires=_ALLOWED, timeout=10.0):
    """Open a hand and wait until it is open.

    - HandOpen: {hand: right}
    """

    hand: Hand

    def command(self) -> Judge:
        return self.robot.hands.open(self.hand)


class HandPose(Command, needs="hands", uses=_HAND, requires=_ALLOWED, timeout=10.0):
    """Bring the fingers of a hand to positions, 0 % open to 100 % closed, little finger first, thumb rotation last.

    - HandPose: {hand: left, fingers: [50 %, 50 %, 50 %, 0 %, 50 %, 50 %]}

    For an empty hand: fingers that something stops do not arrive. In a simulated mission something is in both hands.
    """

    hand: Hand
    fingers: Annotated[list[Percent], Limit("hand.fingers")]

    def command(self) -> Judge:
        return self.robot.hands.pose(self.hand, tuple(1 - finger / 100 for finger in self.fingers))
