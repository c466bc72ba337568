"""Bus, robot, guard and engine put together: on a robot, on a simulated one, or in virtual time."""
