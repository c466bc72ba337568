"""Files beside a tree that the tests check."""

MOTION = "joints: [{joint}]\nkeyframes:\n  - {{at: 1 s, angles: [{angle}]}}\n"
MOTIONS = {
    "wave": MOTION.format(joint="left_elbow_pitch", angle="40 deg"),
    "too_far": MOTION.format(joint="left_elbow_pitch", angle="140 deg"),
    "nod": MOTION.format(joint="head_pitch", angle="10 deg"),
    "trunk": MOTION.format(joint="trunk", angle="10 deg"),
}
