"""What missions can ask of a robot and see of it, one class per capability; vendors differ in the tables of `state`."""
