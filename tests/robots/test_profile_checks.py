"""Every rule of a profile: a file that keeps it, and one that breaks it, with line and column."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.robots.profile import Profile
from orchestrator.robots.profiles import ProfileError, load_profile

AURORA = """\
family: aurora
vendor: Fourier
model: test
dds: {domain: 123, variants: [no_duration]}
motion: {rate: 100 Hz, joint_speed: 1.5 rad/s}
fsm: {default: 0, walk: 3, security: 9}
upper_fsm: {default: 0, remote: 2}
velocity_sources: {joystick: 0, navigation: 2}
velocity: {vx: [-0.5 m/s, 1 m/s], vy: [0 m/s, 0 m/s], yaw: [-1 rad/s, 1 rad/s]}
stand_pose: {dz: [-0.2 m, 0 m], pitch: [-10 deg, 10 deg], yaw: [-10 deg, 10 deg], stable_level: 100}
joints:
  waist:
    - {name: waist_yaw, limits: [-90 deg, 90 deg]}
  head:
    - {name: head_yaw, limits: [-1 rad, 1 rad], velocity: 2 rad/s, torque: 3 Nm}
    - {name: head_pitch, limits: [-20 deg, 30 deg]}
read_only_groups: [waist]
hands:
  fingers: [finger, thumb]
  order: [left, right]
  open: [0 rad, 0.1 rad]
  closed: [1.5 rad, 0.1 rad]
poses:
  look_up: {head: [0 deg, 30 deg]}
unconfirmed:
  - {what: hands, note: invented}
"""

ATOM = """\
family: atom
vendor: Dobot
model: test
dds: {domain: 0}
rpc: 127.0.0.1:51234
motion: {rate: 100 Hz, joint_speed: 1.5 rad/s}
fsm: {damping: 1, walk: 301}
velocity: {vx: [-0.5 m/s, 1 m/s], vy: [0 m/s, 0 m/s], yaw: [-1 rad/s, 1 rad/s]}
joints:
  waist:
    - {name: waist_yaw, limits: [-90 deg, 90 deg], kp: 200, kd: 5}
  head:
    - {name: head_yaw, limits: [-1 rad, 1 rad], kp: 200, kd: 0.25}
    - {name: head_pitch, limits: [-20 deg, 30 deg], kp: 200, kd: 0.25}
read_only_groups: []
hands:
  fingers: [finger, thumb]
  order: [right, left]
  open: [3 rad, 0.9 rad]
  closed: [0.3 rad, -0.2 rad]
  kp: 40
  kd: 0.5
  tau: 0 Nm
base: {tags: {dock: 1}, linear: 0.6 m/s, angular: 1 rad/s, rotate: false, confirm_key: true}
"""

ADAM = """\
family: adam
vendor: PND
model: test
read_only: false
dds: {domain: 1}
motion: {rate: 400 Hz, joint_speed: 1 rad/s}
joints:
  waist:
    - {name: waist_yaw, limits: [-90 deg, 90 deg], kp: 200, kd: 5}
hands:
  fingers: [finger, thumb]
  order: [left, right]
  open: [1000, 1000]
  closed: [0, 0]
"""


def load(folder: Path, text: str) -> Profile:
    file = folder / "robot.yaml"
    file.write_text(text)
    return load_profile(file)


def mistakes(folder: Path, text: str) -> list[str]:
    """What is wrong, as line:column: message."""
    with pytest.raises(ProfileError) as error:
        load(folder, text)
    return [f"{found.place.line}:{found.place.column}: {found.sentence}" for found in error.value.findings.sorted()]


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


@pytest.mark.parametrize("text", [AURORA, ATOM, ADAM], ids=["aurora", "atom", "adam"])
def test_these_files_keep_every_rule(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, text).joints


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # ranges
        ("[-90 deg, 90 deg]", "[90 deg, -90 deg]", "13:33: the first value of a range must be below the second"),
        ("[-90 deg, 90 deg]", "[90 deg, 90 deg]", "13:33: the first value of a range must be below the second"),
        ("[-90 deg, 90 deg]", "[90 deg]", "13:33: exactly 2 angle wanted here, not 1"),
        ("[-90 deg, 90 deg]", "[-90, 90 deg]", "13:34: -90 needs a unit: deg or rad; did you mean -90 deg?"),
        ("[-90 deg, 90 deg]", "[.nan deg, 90 deg]", '13:34: ".nan deg" is not a number'),
        (
            "vx: [-0.5 m/s, 1 m/s]",
            "vx: [0.5 m/s, 1 m/s]",
            "9:16: the range must hold 0, or the robot could not be told to stand still",
        ),
        (
            "dz: [-0.2 m, 0 m]",
            "dz: [-0.2 m, -0.1 m]",
            "10:18: the range must hold 0, or the robot could not be told to stand still",
        ),
        ("stable_level: 100", "stable_level: 0", "10:97: 0 is out of range: it must be between 1 and 255"),
        (
            "velocity: 2 rad/s",
            "velocity: 0 rad/s",
            "15:59: 0 deg/s is out of range: it must be between 5.72958e-05 deg/s and 1718.87 deg/s",
        ),
        ("rate: 100 Hz", "rate: 5000 Hz", "5:16: 5000 Hz is out of range: it must be between 1 Hz and 1000 Hz"),
        ("-0.5 m/s", "-50 m/s", "9:17: -50 m/s is out of range: it must be between -5 m/s and 5 m/s"),
        (
            "joint_speed: 1.5 rad/s",
            "joint_speed: 1500 rad/s",
            "5:37: 85943.7 deg/s is out of range: it must be between 5.72958e-05 deg/s and 1718.87 deg/s",
        ),
        (
            "[-1 rad, 1 rad]",
            "[-1 rad, 60 rad]",
            "15:41: 3437.75 deg is out of range: it must be between -572.958 deg and 572.958 deg",
        ),
        ("torque: 3 Nm", "torque: 3e6 Nm", "15:76: 3e+06 Nm is out of range: it must be between 1e-06 Nm and 1000 Nm"),
        (
            "dds: {domain: 123",
            "dds: {prefix: GR 2/, domain: 123",
            '4:15: "GR 2/" cannot begin a topic: letters, digits and _ - . : / only',
        ),
        # names and numbers
        ("name: head_pitch", "name: head_yaw", "16:14: head_yaw is already a joint of head"),
        ("walk: 3, ", "walk: 0, ", "6:25: 0 is already the number of default"),
        ("{default: 0, remote: 2}", "{default: 2, remote: 2}", "7:33: 2 is already the number of default"),
        ("{joystick: 0, navigation: 2}", "{joystick: 2, navigation: 2}", "8:45: 2 is already the number of joystick"),
        ("walk: 3", "walk: 256", "6:25: 256 is out of range: it must be between 0 and 255"),
        ("security: 9", "security: 19", "6:38: security is 9 on every aurora: it is the robot's emergency stop"),
        (", security: 9", "", "6:1: fsm needs security: 9: the robot is stopped with it"),
        # groups
        ("[waist]", "[wais]", '17:20: this robot has no joint group "wais"; did you mean waist?'),
        # hands
        ("open: [0 rad, 0.1 rad]", "open: [0 rad]", "21:9: open has 1 values for 2 fingers"),
        ("closed: [1.5 rad, 0.1 rad]", "closed: [1.5 rad]", "22:11: closed has 1 values for 2 fingers"),
        ("closed: [1.5 rad, 0.1 rad]", "closed: [0 rad, 0.1 rad]", "22:11: closed is the same as open"),
        ("fingers: [finger, thumb]", "fingers: [thumb, thumb]", "19:20: thumb is there twice"),
        ("order: [left, right]", "order: [left, left]", "19:3: order must name both hands"),
        ("open: [0 rad, 0.1 rad]", "open: [0, 0.1 rad]", "21:10: 0 needs a unit: deg or rad; did you mean 0 deg?"),
        # poses
        (
            "{head: [0 deg, 30 deg]}",
            "{neck: [0 deg]}",
            '24:13: this robot has no joint group "neck"',
        ),
        ("{head: [0 deg, 30 deg]}", "{head: [0 deg]}", "24:19: head has 2 joints, not 1"),
        (
            "{head: [0 deg, 30 deg]}",
            "{head: [0 deg, 31 deg]}",
            "24:27: 31 deg is beyond the limits of head_pitch: -20 deg to 30 deg",
        ),
        # family and firmware
        ("[no_duration]", "[duration]", '4:31: "duration" is not one of no_duration; did you mean no_duration?'),
        ("family: aurora", "family: aurona", '1:9: "aurona" is not one of aurora, atom, adam; did you mean aurora?'),
        ("family: aurora\n", "", '1:1: a profile needs "family": aurora, atom, adam'),
        ("vendor: Fourier\n", "", '1:1: profile of aurora needs "vendor" (text)'),
        ("domain: 123", "domain: 233", "4:15: 233 is out of range: it must be between 0 and 232"),
        ("model: test\n", "model: test\nrpc: a:1\n", '4:1: profile of aurora has no key "rpc"'),
        (
            "velocity: 2 rad/s",
            "kp: 3, kd: 1",
            "16:7: head_pitch needs kp and kd as well: gains are set for the whole head",
        ),
    ],
)
def test_a_broken_rule_is_reported_at_its_place(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert mistakes(tmp_path, changed(AURORA, old, new)) == [expected]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("waist_yaw, limits: [-90 deg, 90 deg], kp: 200, kd: 5", "waist_yaw, limits: [-90 deg, 90 deg], kp: 200",
         "11:7: waist_yaw needs kp and kd: every command of atom carries them"),
        ("    - {name: head_pitch, limits: [-20 deg, 30 deg], kp: 200, kd: 0.25}\n", "",
         "12:3: head has 2 joints on every atom, not 1"),
        ("rpc: 127.0.0.1:51234\n", "", "7:1: an Atom takes velocities by JSON-RPC only: rpc is needed, too"),
        ("rpc: 127.0.0.1:51234", "rpc: 127.0.0.1", '5:6: "127.0.0.1" is not an address: write host:port'),
        ("rpc: 127.0.0.1:51234", "rpc: robot:70000", '5:6: "robot:70000" is not an address: write host:port'),
        (
            "{domain: 0}",
            "{domain: 0, variants: [fsm_v1, amr_v2, fsm_v3]}",
            "4:45: fsm_v3 and fsm_v1 are different firmware: name one of them",
        ),
        ("linear: 0.6 m/s", "linear: 60 m/s",
         "24:33: 60 m/s is out of range: it must be between 1e-06 m/s and 5 m/s"),
        ("kp: 200, kd: 5}", "kp: 1e9, kd: 5}", "11:56: 1e+09 is out of range: it must be between 0 and 5000"),
        ("  tau: 0 Nm", "  tau: 70 Nm", "23:8: 70 Nm is out of range: it must be between -10 Nm and 10 Nm"),
        ("damping: 1, ", "", "7:1: fsm needs damping: the robot is stopped with it"),
        ("walk: 301", "walk: 65536", "7:25: 65536 is out of range: it must be between 0 and 65535"),
        ("dock: 1", "dock: 4294967296", "24:21: 4294967296 is out of range: it must be between 0 and 4294967295"),
        ("  tau: 0 Nm\n", "", '17:3: hands needs "tau" (torque)'),
    ],
)  # fmt: skip
def test_a_broken_rule_of_an_atom(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert mistakes(tmp_path, changed(ATOM, old, new)) == [expected]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("domain: 1", "domain: 0", "5:15: domain 0 is the inside of every adam: never join it"),
        ("open: [1000, 1000]", "open: [1000, 0.5]", "13:16: 0.5 is not a whole number"),
        ("open: [1000, 1000]", "open: [1000, -1]", "13:16: -1 is out of range: it must be between 0 and 4294967295"),
        (", kp: 200, kd: 5", "", "9:7: waist_yaw needs kp and kd: every command of adam carries them"),
        ("  waist:\n", "  waste:\n", '8:3: adam has no joint group "waste"; did you mean waist?'),
        ("model: test\n", "model: test\nfsm: {}\n", '4:1: profile of adam has no key "fsm"'),
    ],
)
def test_a_broken_rule_of_an_adam(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert mistakes(tmp_path, changed(ADAM, old, new)) == [expected]


def test_what_is_never_commanded_needs_no_gains(tmp_path: Path) -> None:
    without = changed(ATOM, ", kp: 200, kd: 5", "")
    assert load(tmp_path, changed(without, "read_only_groups: []", "read_only_groups: [waist]"))
    without = changed(ADAM, ", kp: 200, kd: 5", "")
    assert load(tmp_path, changed(without, "read_only: false", "read_only: true")).capabilities == {
        "errors", "battery", "pad", "body",
    }  # fmt: skip


def test_all_mistakes_come_at_once_even_between_parts_that_can_be_read(tmp_path: Path) -> None:
    text = changed(AURORA, "domain: 123", "domain: many")
    text = changed(text, "walk: 3", "walk: 0")
    text = changed(text, "{head: [0 deg, 30 deg]}", "{head: [0 deg]}")
    text = changed(text, "vendor: Fourier", "vendour: Fourier")
    assert [found.split()[0] for found in mistakes(tmp_path, text)] == ["2:1:", "4:15:", "6:25:", "24:19:"]


def test_a_misspelt_group_is_not_reported_again_where_it_is_spelt_right(tmp_path: Path) -> None:
    [found] = mistakes(tmp_path, changed(AURORA, "  head:\n", "  haed:\n"))
    assert found.startswith("14:3:")


@pytest.mark.parametrize("text", ["", "- a\n", "just text\n", "family: [aurora]\n", "family:\n", "a: b: c\n"])
def test_a_file_that_is_no_profile_at_all(tmp_path: Path, text: str) -> None:
    assert mistakes(tmp_path, text)


def test_a_joints_own_speed_goes_before_the_profiles(tmp_path: Path) -> None:
    profile = load(tmp_path, AURORA)
    assert [joint.velocity for joint in profile.joints] == [1.5, 2.0, 1.5]
    assert [joint.torque for joint in profile.joints] == [None, 3.0, None]


def test_a_urdf_is_looked_for_beside_the_profile(tmp_path: Path) -> None:
    text = AURORA + "urdf: models/test.urdf\n"
    file = tmp_path / "models" / "test.urdf"
    assert mistakes(tmp_path, text) == [f"27:7: there is no file {file}: a path begins at the folder of the profile"]
    file.parent.mkdir()
    file.touch()
    assert load(tmp_path, text).urdf == str(file)
