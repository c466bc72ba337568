"""For tests of missions: a mission in virtual time on mocked DDS, with the real guard and a simulated robot.

The pytest plug-in is there as soon as the program is installed; its fixture is `mission`.
"""

from orchestrator.testing.run import MissionRun, StartMission

__all__ = ["MissionRun", "StartMission"]
