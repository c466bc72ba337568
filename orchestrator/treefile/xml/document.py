"""XML elements with the lines they stand on, read and written without surprises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

LARGEST = 1024 * 1024
DEEPEST = 200


class XmlError(Exception):
    """Not the XML we can read; the message names the line."""


@dataclass
class Element:
    """An element, or with the tag `#` a comment."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element] = field(default_factory=list)
    text: str = ""
    line: int = 0

    @property
    def elements(self) -> list[Element]:
        return [child for child in self.children if child.tag != "#"]


def comment(text: str) -> Element:
    return Element("#", text=text.replace("--", "- -"))  # two dashes would end it


def parsed(raw: bytes) -> Element:
    """The outermost element; entities and documents of unusual size are refused."""
    if len(raw) > LARGEST:
        raise XmlError(f"the file is bigger than {LARGEST // 1024} kB")
    top = Element("")
    stack = [top]
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, line=parser.CurrentLineNumber)
        stack[-1].children.append(element)
        stack.append(element)
        if len(stack) > DEEPEST:
            raise XmlError(f"line {element.line}: elements are nested deeper than {DEEPEST} levels")

    def refuse(*_: object) -> None:
        raise XmlError(f"line {parser.CurrentLineNumber}: a document type has no place in a tree")

    def characters(text: str) -> None:
        stack[-1].text += text

    def remark(text: str) -> None:
        stack[-1].children.append(Element("#", text=text.strip(), line=parser.CurrentLineNumber))

    parser.StartElementHandler = start
    parser.CommentHandler = remark
    parser.EndElementHandler = lambda tag: stack.pop()
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as problem:
        raise XmlError(f"line {problem.lineno}: this is not XML: {expat.ErrorString(problem.code)}") from None
    return top.elements[0]


def comments(element: Element) -> Iterator[str]:
    """All comments in an element, in order."""
    for child in element.children:
        if child.tag == "#":
            yield child.text
        yield from comments(child)


def written(root: Element) -> str:
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', *_lines(root, "")]) + "\n"


def _lines(element: Element, indent: str) -> Iterator[str]:
    if element.tag == "#":
        yield f"{indent}<!-- {element.text} -->"  # in a comment nothing is escaped, and nothing unescaped
        return
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in element.attributes.items())
    if not element.children and not element.text:
        yield f"{indent}<{element.tag}{attributes}/>"
    elif not element.children:
        yield f"{indent}<{element.tag}{attributes}>{escape(element.text)}</{element.tag}>"
    else:
        yield f"{indent}<{element.tag}{attributes}>"
        for child in element.children:
            yield from _lines(child, indent + "  ")
        yield f"{indent}</{element.tag}>"
