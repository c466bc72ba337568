"""The motor drives of a robot: whether they are on, their errors, and what clears them."""

from __future__ import annotations

from dataclasses import dataclass, field

SERVO_OFF, SERVO_ERROR, SERVO_ON = 0, 1, 3
NODE_CONNECTING, NODE_OPERATIONAL = 2, 5
SLAVE_UP = 1


@dataclass
class Drives:
    """Drives by motor number, and the EtherCAT slaves they hang on."""

    count: int
    servo: list[int] = field(default_factory=list)
    node: list[int] = field(default_factory=list)
    error: list[int] = field(default_factory=list)
    warning: list[int] = field(default_factory=list)
    slave_error: list[int] = field(default_factory=lambda: [0, 0])
    lasting: set[int] = field(default_factory=set)
    """Motors whose error comes back when it is cleared."""

    def __post_init__(self) -> None:
        self.servo = [SERVO_ON] * self.count
        self.node = [NODE_OPERATIONAL] * self.count
        self.error = [0] * self.count
        self.warning = [0] * self.count

    def fail(self, motor: int, code: int, lasting: bool = False) -> None:
        self.servo[motor], self.error[motor] = SERVO_ERROR, code
        if lasting:
            self.lasting.add(motor)

    def lose_node(self, motor: int) -> None:
        self.node[motor], self.servo[motor] = NODE_CONNECTING, SERVO_OFF

    def cut_power(self) -> None:
        self.servo = [SERVO_OFF] * self.count

    def clear_errors(self) -> None:
        self.slave_error = [0, 0]
        for motor in range(self.count):
            if self.error[motor] and motor not in self.lasting:
                self.error[motor], self.servo[motor] = 0, SERVO_ON

    def enable(self, flags: list[bool]) -> None:
        for motor, wanted in enumerate(flags):
            if self.error[motor] == 0 and self.node[motor] == NODE_OPERATIONAL:
                self.servo[motor] = SERVO_ON if wanted else SERVO_OFF

    def shown(self) -> tuple[object, ...]:
        return (*self.servo, *self.node, *self.error, *self.warning, *self.slave_error)
