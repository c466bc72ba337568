"""Behaviour-tree missions, written in YAML by operators, run safely on humanoid robots over DDS."""

__version__ = "0.1.0"
