"""Leaves about the robot's error codes."""

from orchestrator.leaf import EVERYTHING, Leaf


class ClearErrors(Leaf, needs="errors", uses=EVERYTHING, families=("atom",), resumable=False, timeout=5.0):
    """Clear error codes and wait until the robot reports none; sends nothing when there is nothing to clear.

    - ClearErrors
    """


class CheckErrors(Leaf, needs="errors", looks=True, instant=True, timeout=1.0):
    """Succeed if the robot reports no error; fail with the codes and the joints otherwise.

    - CheckErrors
    """
