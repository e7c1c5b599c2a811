"""Documents told to a handler: the same promises as for those that are built as trees."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.safe.xml import XmlLimits, read


class Heard:
    """Writes down what is told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.depth = 0
        self._line: Callable[[], int] = int

    def place(self, line: Callable[[], int], /) -> None:
        self._line = line

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        self.depth += 1
        self.told.append(f"<{name} {attributes} {self._line()}")

    def end(self, name: str, /) -> None:
        self.depth -= 1
        self.told.append(f">{name}")

    def data(self, text: str, /) -> None:
        self.told.append(text)


def heard(content: bytes, limits: XmlLimits | None = None) -> list[str]:
    handler = Heard()
    for _ in read(io.BytesIO(content), handler, limits=limits or XmlLimits()):
        pass
    return handler.told


def test_elements_attributes_lines_and_text_are_told_in_order() -> None:
    told = heard(b'<a xmlns="urn:x">\n<b c="1">t&amp;u</b><!-- no --></a>')
    assert told == ["<urn:x}a {} 1", "\n", "<urn:x}b {'c': '1'} 2", "t&u", ">urn:x}b", ">urn:x}a"]


def test_a_document_that_is_larger_than_a_block_pauses_on_the_way() -> None:
    content = b"<a>" + b"<b>x</b>" * 50_000 + b"</a>"
    handler = Heard()
    pauses = sum(1 for _ in read(io.BytesIO(content), handler))
    assert pauses > 5
    assert len(handler.told) == 2 + 3 * 50_000


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_a_document_type_is_refused_in_any_encoding(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE a [<!ENTITY b "bbbb">]><a>&b;</a>'
    with pytest.raises(UnsafeXml) as caught:
        heard(text.encode(encoding))
    assert caught.value.data["why"] == "doctype"


def test_a_document_type_that_lies_elsewhere_is_taken_where_that_is_allowed_and_no_other_is() -> None:
    limits = XmlLimits(allows_external_doctype=True)
    assert heard(b'<!DOCTYPE a PUBLIC "-//Eksempel//DTD A 1.0//EN" "a.dtd"><a/>', limits) == ["<a {} 1", ">a"]
    with pytest.raises(UnsafeXml) as caught:
        heard(b'<!DOCTYPE a SYSTEM "a.dtd" [<!ENTITY b "c">]><a>&b;</a>', limits)
    assert caught.value.data["why"] == "doctype"


def test_what_is_too_deep_is_refused_before_it_fills_the_memory() -> None:
    with pytest.raises(UnsafeXml) as caught:
        heard(b"<a>" * 1_000_000)
    assert caught.value.data["why"] == "depth"


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(UnsafeXml) as caught:
        heard(b"<a>" + b" " * 100 + b"</a>", XmlLimits(max_bytes=50))
    assert caught.value.data["why"] == "size"


@pytest.mark.parametrize(
    "content", [b"", b"<a>", b"<a></b>", b"<a>&b;</a>", b'<?xml version="1.0" encoding="x-no"?><a/>']
)
def test_what_is_malformed_is_a_fault_of_the_package(content: bytes) -> None:
    with pytest.raises(PackageFault) as caught:
        heard(content)
    assert caught.value.data["why"] == "malformed-xml"


def test_a_fault_of_the_handler_comes_out_as_it_is() -> None:
    class Failing(Heard):
        def end(self, name: str, /) -> None:
            raise KeyError(name)

    with pytest.raises(KeyError):
        list(read(io.BytesIO(b"<a/>"), Failing()))


def test_the_line_of_what_is_malformed_is_told() -> None:
    with pytest.raises(PackageFault) as caught:
        heard(b"<a>\n\n<b></a>")
    assert caught.value.data["line"] == 3
