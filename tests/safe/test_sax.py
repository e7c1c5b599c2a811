"""XML read by events: no document type, no entity, no token or text without end, and lines for every byte."""

from __future__ import annotations

import io

import pytest

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.safe.sax import BLOCK_BYTES, MAX_TEXT, MAX_TOKEN_BYTES, check_text, event_parser, feed
from noarkit.safe.xml import LIMITS, XmlLimits


def read(text: bytes, limits: XmlLimits | None = None) -> list[str]:
    """The names of the elements of a document."""
    parser = event_parser("a.xml")
    names: list[str] = []
    parser.StartElementHandler = lambda name, attributes: names.append(name)
    for _ in feed(parser, io.BytesIO(text), "a.xml", limits=limits or LIMITS):
        pass
    return names


def test_names_come_with_their_namespace() -> None:
    assert read(b'<a xmlns="urn:x"><b/><y:c xmlns:y="urn:y"/></a>') == ["urn:x a", "urn:x b", "urn:y c"]


@pytest.mark.parametrize("text", [b"<!DOCTYPE a><a/>", b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'])
def test_a_document_type_is_refused_with_its_line(text: bytes) -> None:
    with pytest.raises(UnsafeXml) as fault:
        read(b"\n\n".join([b'<?xml version="1.0"?>', text]))
    assert fault.value.data["why"] == "doctype"
    assert fault.value.data["line"] == 3


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
    assert fault.value.data["why"] == "malformed-xml"
    assert fault.value.data["line"] == 1


def test_a_tag_without_end_and_too_many_bytes_are_refused() -> None:
    with pytest.raises(UnsafeXml, match="limits"):
        read(b'<a b="' + b"c" * (MAX_TOKEN_BYTES + 2 * BLOCK_BYTES))
    with pytest.raises(UnsafeXml, match="size"):
        read(b"<a>" + b" " * 100 + b"</a>", XmlLimits(max_bytes=100))


def test_a_text_without_end_is_refused_and_a_long_one_is_not() -> None:
    parser = event_parser("a.xml")
    check_text(["x" * (MAX_TEXT // 10)] * 10, parser, "a.xml")
    check_text(["x" * MAX_TEXT] * 8, parser, "a.xml")
    with pytest.raises(UnsafeXml, match="limits"):
        check_text(["x" * (MAX_TEXT // 10)] * 11, parser, "a.xml")


def test_how_much_was_read_is_told_block_by_block() -> None:
    text = b"<a>" + b" " * (2 * BLOCK_BYTES) + b"</a>"
    parser = event_parser("a.xml")
    assert list(feed(parser, io.BytesIO(text), "a.xml")) == [BLOCK_BYTES, 2 * BLOCK_BYTES, len(text)]
