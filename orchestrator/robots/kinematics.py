"""Kinematics and dynamics of the whole body, from a URDF, through Pinocchio (the optional extra `kinematics`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from orchestrator.robots.data import Array, JointLimits, joint_limits
from orchestrator.robots.profile import Profile

BASE = 6
"""Velocities of the base before those of the joints: its own linear, then its own angular velocity."""


class KinematicsError(Exception):
    """The URDF does not fit the robot, or Pinocchio is missing."""


@dataclass(frozen=True)
class LinkData:
    """One link: position, rotation, linear and angular velocity, Jacobian (6 x nv) and its time derivative."""

    p: Array
    R: Array
    v: Array
    w: Array
    J: Array
    Jd: Array


@dataclass(frozen=True)
class KindynData:
    """Of one configuration; matrices and vectors in the order of GeneralizedState."""

    nv: int
    links_W: dict[str, LinkData]
    """By our names, seen from the world."""
    links_B: dict[str, LinkData]
    """Seen from the base, as if it stood still."""
    joint_limit: JointLimits
    M: Array
    Minv: Array
    C: Array
    g: Array
    c: Array
    """Coriolis and centrifugal forces: C times the velocity."""
    m: float
    Iw: Array
    """Inertia about the centre of mass, in the world's axes."""
    Pc: Array
    Vc: Array
    Wc: Array
    """The angular velocity a rigid body of this inertia and angular momentum would have."""
    hg: Array
    """Centroidal momentum: linear, then angular."""
    Ag: Array
    Agd: Array


class Kinematics:
    """Computes KindynData for one robot, from the URDF its profile names.

    `links` names the links that are wanted and their frames in the URDF, such as {"left_foot": "left_ankle_roll_link"}.
    Joints are found by name, with or without the ending "_joint"; joints the profile does not have (fingers) are fixed.
    """

    def __init__(self, profile: Profile, links: Mapping[str, str]) -> None:
        if profile.urdf is None:
            raise KinematicsError(f"the profile {profile.name} names no urdf")
        self._pin = _pinocchio()
        self._limits = joint_limits(profile)
        self._model = self._load(profile.urdf, profile)
        self._world, self._own = self._model.createData(), self._model.createData()
        joints = [self._joint(joint.name) for joint in profile.joints]
        # Where our joints stand in Pinocchio's vectors: its order is that of the URDF's tree.
        self._q = np.array([*range(BASE + 1), *(joint.idx_q for joint in joints)])
        self._v = np.array([*range(BASE), *(joint.idx_v for joint in joints)])
        self._frames = {name: self._frame(frame) for name, frame in links.items()}

    def compute(self, q: Array, qd: Array) -> KindynData:
        """From the q and qd of GeneralizedState."""
        pin, model, data = self._pin, self._model, self._world
        at, moving = self._ordered(q, qd)
        v = self._v
        pin.crba(model, data, at)
        mass = np.triu(data.M) + np.triu(data.M, 1).T
        pin.computeMinverse(model, data, at)
        inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
        coriolis = np.array(pin.computeCoriolisMatrix(model, data, at, moving))
        gravity = np.array(pin.computeGeneralizedGravity(model, data, at))
        pin.dccrba(model, data, at, moving)
        agd = np.array(data.dAg)
        pin.ccrba(model, data, at, moving)
        momentum, inertia = np.array(data.hg.vector), np.array(data.Ig.inertia)
        ag = np.array(data.Ag)
        pin.centerOfMass(model, data, at, moving)
        return KindynData(
            nv=model.nv,
            links_W=self._links(self._world, at, moving),
            links_B=self._links(self._own, *self._at_origin(at, moving)),
            joint_limit=self._limits,
            M=mass[np.ix_(v, v)],
            Minv=inverse[np.ix_(v, v)],
            C=coriolis[np.ix_(v, v)],
            g=gravity[v],
            c=(coriolis @ moving)[v],
            m=float(data.mass[0]),
            Iw=inertia,
            Pc=np.array(data.com[0]),
            Vc=np.array(data.vcom[0]),
            Wc=np.linalg.solve(inertia, momentum[3:]),
            hg=momentum,
            Ag=ag[:, v],
            Agd=agd[:, v],
        )

    def _load(self, urdf: str, profile: Profile) -> Any:
        pin = self._pin
        try:
            model = pin.buildModelFromUrdf(urdf, pin.JointModelFreeFlyer())
        except (ValueError, RuntimeError) as error:
            raise KinematicsError(f"{urdf}: {error}") from None
        ours = {name for joint in profile.joints for name in (joint.name, f"{joint.name}_joint")}
        others = [model.getJointId(name) for name in list(model.names)[2:] if name not in ours]
        return pin.buildReducedModel(model, others, pin.neutral(model)) if others else model

    def _joint(self, name: str) -> Any:
        for spelling in (name, f"{name}_joint"):
            if self._model.existJointName(spelling):
                joint = self._model.joints[self._model.getJointId(spelling)]
                if joint.nq != 1 or joint.nv != 1:
                    raise KinematicsError(f"joint {spelling} does not turn or slide between limits")
                return joint
        raise KinematicsError(f"the URDF has no joint {name}")

    def _frame(self, name: str) -> int:
        if not self._model.existFrame(name):
            raise KinematicsError(f"the URDF has no link {name}")
        return int(self._model.getFrameId(name))

    def _ordered(self, q: Array, qd: Array) -> tuple[Array, Array]:
        if q.shape != self._q.shape or qd.shape != self._v.shape:
            raise KinematicsError(f"q has {q.size} values instead of {self._q.size}, or qd {qd.size} of {self._v.size}")
        at, moving = np.empty(self._model.nq), np.empty(self._model.nv)
        at[self._q], moving[self._v] = q, qd
        return at, moving

    def _at_origin(self, at: Array, moving: Array) -> tuple[Array, Array]:
        at, moving = at.copy(), moving.copy()
        at[: BASE + 1] = (0, 0, 0, 0, 0, 0, 1)
        moving[:BASE] = 0
        return at, moving

    def _links(self, data: Any, at: Array, moving: Array) -> dict[str, LinkData]:
        pin, model = self._pin, self._model
        pin.computeJointJacobiansTimeVariation(model, data, at, moving)
        pin.forwardKinematics(model, data, at, moving)
        pin.updateFramePlacements(model, data)
        return {name: self._link(data, frame) for name, frame in self._frames.items()}

    def _link(self, data: Any, frame: int) -> LinkData:
        pin, model = self._pin, self._model
        axes = pin.LOCAL_WORLD_ALIGNED
        place = data.oMf[frame]
        velocity = pin.getFrameVelocity(model, data, frame, axes)
        return LinkData(
            p=np.array(place.translation),
            R=np.array(place.rotation),
            v=np.array(velocity.linear),
            w=np.array(velocity.angular),
            J=np.array(pin.getFrameJacobian(model, data, frame, axes))[:, self._v],
            Jd=np.array(pin.getFrameJacobianTimeVariation(model, data, frame, axes))[:, self._v],
        )


def _pinocchio() -> Any:
    try:
        import pinocchio
    except ImportError:
        raise KinematicsError("Pinocchio is missing: pip install 'humanoid-orchestrator[kinematics]'") from None
    return pinocchio
