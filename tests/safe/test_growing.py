"""XML read as a tree that grows: every element once and in order, in constant memory, and nothing without end."""

from __future__ import annotations

import io
import random
import tracemalloc
from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

import pytest

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.safe import growing
from noarkit.safe.growing import BLOCK_BYTES, Prologue, TooDeep, follow, lines_of, read_prologue
from noarkit.safe.xml import LIMITS, XmlLimits


class Listing:
    """Notes every element, its text, and where groups begin and end."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def enter(self, above: str, element: Element) -> str:
        """An element with children."""
        self.heard.append(f"<{element.tag}")
        return element.tag

    def leave(self, at: str) -> None:
        """Its end."""
        self.heard.append(f"{at}>")

    def fill(self, at: str, children: Sequence[Element], depth: int) -> None:
        """Its children."""
        if depth > LIMITS.max_depth:
            raise TooDeep
        for child in children:
            if len(child):
                self.fill(self.enter(at, child), list(child), depth + 1)
                self.leave(child.tag)
            else:
                self.heard.append(f"{at}/{child.tag}={child.text}")


def read(text: bytes, limits: XmlLimits = LIMITS) -> list[str]:
    """What is told of a document."""
    file = io.BytesIO(text)
    read_prologue(file, "a.xml")
    listing = Listing()
    for _ in follow(file, "a.xml", listing, "", limits=limits):
        pass
    return listing.heard


def random_document(seed: int) -> tuple[bytes, list[str]]:
    """A document of several blocks, and what must be told of it."""
    chance = random.Random(seed)
    text: list[str] = []
    told: list[str] = []
    number = 0

    def element(above: str, depth: int) -> None:
        nonlocal number
        number += 1
        name = f"e{number}"
        if depth > 6 or chance.random() < 0.6:
            content = "x" * chance.choice([0, 1, 10, 1000, 60_000 if chance.random() < 0.05 else 100])
            text.append(f"<{name}>{content}</{name}>{chance.choice(['', chr(10)])}")
            told.append(f"{above}/{name}={content or None}")
            return
        text.append(f"<{name}>{chance.choice(['', chr(10)])}")
        told.append(f"<{name}")
        for _ in range(chance.randint(1, 5)):
            element(name, depth + 1)
        text.append(f"</{name}>")
        told.append(f"{name}>")

    text.append("<root>")
    told.append("<root")
    while sum(map(len, text)) < 5 * BLOCK_BYTES:
        element("root", 1)
    return "".join([*text, "</root>"]).encode(), [*told, "root>"]


@pytest.mark.parametrize("seed", range(8))
def test_every_element_is_told_once_and_in_its_order_wherever_blocks_end(seed: int) -> None:
    document, told = random_document(seed)
    assert read(document) == told


def test_names_come_with_their_namespace() -> None:
    assert read(b'<a xmlns="urn:x"><b/><y:c xmlns:y="urn:y">d</y:c></a>') == [
        "<{urn:x}a",
        "{urn:x}a/{urn:x}b=None",
        "{urn:x}a/{urn:y}c=d",
        "{urn:x}a>",
    ]


def test_a_root_without_children_is_told() -> None:
    assert read(b"<a/>") == ["/a=None"]


@pytest.mark.parametrize(
    ("text", "prologue"),
    [
        (b"<a/>", Prologue()),
        (b'<?xml version="1.0"?>\n<a/>', Prologue("1.0", None)),
        (b'<?xml version="1.1" encoding="ISO-8859-1"?><!-- b --><a/>', Prologue("1.1", "ISO-8859-1")),
    ],
)
def test_the_prologue_is_told(text: bytes, prologue: Prologue) -> None:
    file = io.BytesIO(text)
    assert read_prologue(file, "a.xml") == prologue
    assert file.tell() == 0


@pytest.mark.parametrize("text", [b"<!DOCTYPE a><a/>", b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'])
def test_a_document_type_is_refused_with_its_line(text: bytes) -> None:
    with pytest.raises(UnsafeXml) as fault:
        read(b"\n\n".join([b'<?xml version="1.0"?>', text]))
    assert (fault.value.data["why"], fault.value.data["line"]) == ("doctype", 3)


def test_an_entity_that_nobody_declared_is_refused() -> None:
    with pytest.raises(UnsafeXml) as fault:
        read(b"<a>\n&b;</a>")
    assert (fault.value.data["why"], fault.value.data["line"]) == ("limits", 2)


@pytest.mark.parametrize(
    "text",
    [b"", b"<a>", b"<a></b>", b"<a/><b/>", b"\xff<a/>", b"<a>\x01</a>", b'<?xml version="1.0" encoding="x"?><a/>'],
)
def test_what_is_malformed_is_told_with_its_line(text: bytes) -> None:
    with pytest.raises(PackageFault) as fault:
        read(text)
    assert (fault.value.data["why"], fault.value.data["line"]) == ("malformed-xml", 1)


@pytest.mark.parametrize("gap", [0, 3 * BLOCK_BYTES])
def test_depth_is_refused_with_its_line_whether_whole_or_open(gap: int) -> None:
    deep = b"\n<b>" * LIMITS.max_depth + b" " * gap + b"</b>" * LIMITS.max_depth
    with pytest.raises(UnsafeXml) as fault:
        read(b"<a>" + deep + b"</a>")
    assert (fault.value.data["why"], fault.value.data["line"]) == ("depth", LIMITS.max_depth + 1)
    assert len(read(b"<a>" + deep.replace(b"\n<b>", b"", 1).replace(b"</b>", b"", 1) + b"</a>")) > LIMITS.max_depth


def test_what_never_ends_and_too_many_bytes_are_refused() -> None:
    for hostile in (b"<a><b>" + b"c" * (20 << 20), b"<a><b c='" + b"d" * (20 << 20), b"<a><!--" + b"d" * (20 << 20)):
        with pytest.raises(UnsafeXml, match="limits"):
            read(hostile)
    with pytest.raises(UnsafeXml, match="size"):
        read(b"<a>" + b" " * 100 + b"</a>", XmlLimits(max_bytes=100))
    assert len(read(b"<a><b>" + b"c" * (8 << 20) + b"</b></a>")) == 3


class Counting:
    """Counts."""

    met = 0

    def enter(self, above: None, element: Element) -> None:
        """One."""
        self.met += 1

    def leave(self, at: None) -> None:
        """Nothing."""

    def fill(self, at: None, children: Sequence[Element], depth: int) -> None:
        """Several."""
        self.met += sum(1 for child in children for _ in child.iter())


class Endless(io.RawIOBase):
    """A document of many elements that lies nowhere."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts

    def read(self, size: int = -1, /) -> bytes:
        """The next part, whatever is asked for."""
        return next(self._parts, b"")

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """It is never gone back in."""
        return 0


def test_memory_is_that_of_a_block_however_long_the_document() -> None:
    rows = b"<b><c>d</c><e/></b>" * 4000
    counting = Counting()
    file = Endless(iter([b"<a>", *[rows] * 100, b"</a>"]))
    tracemalloc.start()
    try:
        for _ in follow(file, "a.xml", counting, None):
            pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert counting.met == 1 + 3 * 4000 * 100
    assert peak < 8 << 20


def test_lines_are_found_by_the_numbers_of_elements() -> None:
    document, told = random_document(3)
    count = sum(1 for one in told if not one.endswith(">"))
    numbers = [1, 2, count, count // 2, count + 10]
    found = lines_of(io.BytesIO(document), "a.xml", numbers)
    starts = [
        at for at in range(len(document) - 1) if document[at : at + 1] == b"<" and document[at + 1 : at + 2] != b"/"
    ]
    assert found == {number: document[: starts[number - 1]].count(b"\n") + 1 for number in numbers if number <= count}


def test_lines_of_what_is_cut_are_told_as_far_as_it_goes() -> None:
    assert lines_of(io.BytesIO(b"<a>\n<b/>\n<c"), "a.xml", [2, 3]) == {2: 2}
    assert growing.lines_of(io.BytesIO(b"<a/>"), "a.xml", []) == {}
