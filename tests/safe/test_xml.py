"""XML comes in without entities, document types or network, and not without measure."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from noarkit.errors import PackageFault, UnsafePath, UnsafeXml
from noarkit.safe.xml import XmlLimits, elements, load_schema, parse, stream

LAUGHS = """<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]><a>&c;</a>"""


@pytest.mark.parametrize(
    "text",
    [
        LAUGHS,
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a/>',
        '<?xml version="1.0"?><!-- ' + "x" * 100_000 + " --><!DOCTYPE a><a/>",
        '<!DOCTYPE a [<!ATTLIST a b CDATA "given">]><a/>',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_is_refused_before_it_is_read(text: str, encoding: str) -> None:
    with pytest.raises(UnsafeXml) as fault:
        parse(io.BytesIO(text.encode(encoding)))
    assert fault.value.data["why"] == "doctype"


_ELSEWHERE = '<!DOCTYPE a PUBLIC "-//Eksempel//DTD A 1.0//EN" "a.dtd"><a/>'
_DECLARED = _ELSEWHERE.replace('"a.dtd"', '"a.dtd" [<!ENTITY b "c">]')


@pytest.mark.parametrize("head", ["", '<?xml version="1.0" encoding="Shift_JIS"?>'])
def test_a_document_type_that_lies_elsewhere_is_taken_where_that_is_allowed_and_no_other_is(head: str) -> None:
    limits = XmlLimits(allows_external_doctype=True)
    assert parse(io.BytesIO(f"{head}{_ELSEWHERE}".encode()), limits=limits).tag == "a"
    with pytest.raises(UnsafeXml) as fault:
        parse(io.BytesIO(f"{head}{_DECLARED}".encode()), limits=limits)
    assert fault.value.data["why"] == "doctype"


def test_a_document_type_that_only_gives_values_is_refused_before_the_parser_reads_it() -> None:
    text = _ELSEWHERE.replace('"a.dtd"', '"a.dtd" [<!ATTLIST a b CDATA "given">]')
    with pytest.raises(UnsafeXml):
        parse(io.BytesIO(text.encode()), limits=XmlLimits(allows_external_doctype=True))


def test_a_document_type_in_an_encoding_only_the_parser_knows_is_refused_too() -> None:
    text = '<?xml version="1.0" encoding="EBCDIC-CP-US"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    with pytest.raises((UnsafeXml, PackageFault)):
        parse(io.BytesIO(text.encode("cp037")))


@pytest.mark.parametrize("encoding", ["EUC-JP", "Shift_JIS"])
def test_a_document_type_in_an_encoding_only_the_parser_proper_reads_is_refused(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    with pytest.raises(UnsafeXml) as fault:
        parse(io.BytesIO(text.encode("ascii")))
    assert fault.value.data["why"] == "doctype"
    honest = f'<?xml version="1.0" encoding="{encoding}"?><a>\u65e5</a>'
    assert parse(io.BytesIO(honest.encode(encoding))).text == "\u65e5"


def test_an_encoding_nobody_knows_is_malformed() -> None:
    with pytest.raises(PackageFault):
        parse(io.BytesIO(b'<?xml version="1.0" encoding="nobody-knows"?><a/>'))


def test_too_deep_and_too_large_documents_are_refused() -> None:
    deep = b"<a>" * 101 + b"</a>" * 101
    with pytest.raises(UnsafeXml, match="depth"):
        parse(io.BytesIO(deep))
    with pytest.raises(UnsafeXml, match="size"):
        parse(io.BytesIO(b"<a>" + b"x" * 1000 + b"</a>"), limits=XmlLimits(max_bytes=1000))
    with pytest.raises(UnsafeXml):
        parse(io.BytesIO(b"<a>" * 100_000), limits=XmlLimits(max_depth=10**6))


@pytest.mark.parametrize("text", [b"", b"<a>", b"<a></b>", b"no xml", b"<a>\x00</a>", b"<a>&unknown;</a>"])
def test_malformed_xml_is_a_fault_of_the_package(text: bytes) -> None:
    with pytest.raises((PackageFault, UnsafeXml)):
        parse(io.BytesIO(text))


def test_a_malformed_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<a>\n<b>\n</a>")
    with pytest.raises(PackageFault) as fault:
        parse(path)
    assert (fault.value.data["where"], fault.value.data["line"]) == (str(path), 3)


def test_a_small_document_is_read_whole() -> None:
    root = parse(io.BytesIO("<a x='1'><b>blå</b></a>".encode()))
    assert (root.tag, root.get("x"), root.findtext("b")) == ("a", "1", "blå")


def test_elements_stream_one_by_one_and_are_forgotten() -> None:
    text = b"<r xmlns='urn:n'><m id='1'><m id='in'/></m><x/><m id='2'>text</m></r>"
    seen = [(e.get("id"), e.text, len(e)) for e in elements(io.BytesIO(text), "{urn:n}m")]
    assert seen == [("1", None, 1), ("2", "text", 0)]


def test_a_large_document_is_not_held_in_memory() -> None:
    text = b"<r>" + b"<m>x</m>" * 20_000 + b"</r>"
    assert sum(1 for _ in elements(io.BytesIO(text), "m")) == 20_000
    for count, element in enumerate(elements(io.BytesIO(text), "m")):
        parent = element.getparent()
        assert parent is not None
        assert len(parent) < 8000, count  # what the parser had read ahead, never all


def test_events_come_in_order() -> None:
    assert [(event, e.tag) for event, e in stream(io.BytesIO(b"<a><b/></a>"))] == [
        ("start", "a"),
        ("start", "b"),
        ("end", "b"),
        ("end", "a"),
    ]


XSD = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{}<xs:element name="a" type="xs:string"/></xs:schema>'


def test_a_schema_finds_its_neighbours_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "near.xsd").write_text(XSD.format("").replace('"a"', '"b"'))
    (tmp_path / "good.xsd").write_text(XSD.format('<xs:include schemaLocation="near.xsd"/>'))
    assert load_schema(tmp_path / "good.xsd").validate(parse(io.BytesIO(b"<b>x</b>")))
    for place in ("http://127.0.0.1:9/x.xsd", "../outside.xsd", "file:///etc/passwd"):
        (tmp_path / "bad.xsd").write_text(XSD.format(f'<xs:include schemaLocation="{place}"/>'))
        with pytest.raises((PackageFault, UnsafePath)):
            load_schema(tmp_path / "bad.xsd")
