"""Trees in the XML of BehaviorTree.CPP v4, so that they can be opened in Groot2.

What both languages know goes over and comes back the same; everything else is named, nothing is dropped silently.
"""

from orchestrator.treefile.xml.reading import XmlTrees, trees_of
from orchestrator.treefile.xml.writing import Exported, export

__all__ = ["Exported", "XmlTrees", "export", "trees_of"]
