"""Which children the nodes of a tree had when it was built: to find what was edited since, and to take it back."""

from __future__ import annotations

from py_trees.behaviour import Behaviour


class Original:
    """The nodes of a tree with their children, as they are now."""

    def __init__(self, root: Behaviour) -> None:
        self.nodes = list(root.iterate())
        self._children = [list(node.children) for node in self.nodes]

    def edited(self) -> list[tuple[Behaviour, list[Behaviour]]]:
        """Nodes that have got other children, with those they had."""
        return [(node, had) for node, had in zip(self.nodes, self._children) if node.children != had]

    def put_back(self) -> None:
        """Nothing else can be relied on: an edited tree may be a circle, or have lost nodes that still run."""
        for node, children in self.edited():
            node.children = children.copy()
