"""A checked tree to a running one, with py_trees' nodes and semantics."""

from orchestrator.engine.compile import compile_tree

__all__ = ["compile_tree"]
