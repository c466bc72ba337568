"""Leaves about the robot's error codes."""

from orchestrator.leaf import EVERYTHING, Command, Judge, Look, Status


class ClearErrors(Command, needs="errors", uses=EVERYTHING, families=("atom",), resumable=False, timeout=5.0):
    """Clear error codes and wait until the robot reports none; sends nothing when there is nothing to clear.

    - ClearErrors

    Motors that are merely off are no errors to clear: `EnableMotors` comes after it. Once in a run; a second time only
    after a person has agreed (`confirm`), and each agreement is good for one start: further rounds of `repeat`,
    `for_each` or `retry` are refused.
    """

    def command(self) -> Judge:
        return self.robot.errors.clear(self.confirmed)


class CheckErrors(Look, needs="errors", looks=True, instant=True, timeout=1.0):
    """Succeed if the robot reports no error; fail with the codes and the joints otherwise.

    - CheckErrors
    """

    def step(self) -> Status:
        return self.check("errors.any", self.robot.errors.problems(), "; ".join)
