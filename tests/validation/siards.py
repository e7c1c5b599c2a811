"""SIARD archives that are broken in one way each: a good one, unpacked into a mapping, changed, and packed again."""

from __future__ import annotations

import hashlib
import io
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from noarkit.forms.siard.model import Attribute, Column, Key, Schema, Table, UserType
from noarkit.forms.siard.spec import Version
from noarkit.forms.siard.write.archive import SiardOrder, write_siard
from tests.forms.siard.databases import CASES, NOTES, Memory, archive_of, case_row

Files = dict[str, bytes]
META = "header/metadata.xml"
T0 = "content/schema0/table0/table0"
T1 = "content/schema0/table1/table1"
T2 = "content/schema0/table2/table2"
BIN = "content/schema0/table0/lob8/record0.bin"
TXT = "content/schema0/table0/lob9/record0.txt"

TYPES = (
    UserType("place", "udt", final=False, attributes=(Attribute("x", "INTEGER"), Attribute("y", "INTEGER"))),
    UserType("day", "distinct", base="DATE"),
)
SHAPES = Table(
    "shapes",
    columns=(
        Column("at", type_schema="public", type_name="place"),
        Column("day", type_schema="public", type_name="day"),
        Column("words", type="CHARACTER VARYING(20)", cardinality=0),
    ),
    candidate_keys=(Key("one_day", ("day",)),),
)


def good(version: Version = "2.2") -> Files:
    """The files of an archive with three tables, in the order in which they stand."""
    rows = {
        "cases": [case_row(1, scan=bytes(5_000), note="ø" * 5_000), (2, *[None] * 9)],
        "notes": [(1, "first"), (1, "")],
        "shapes": [((1, None), "2020-02-29Z", ["a", None, "c"]), (None, None, [])],
    }
    archive = archive_of(CASES, NOTES, SHAPES)
    (schema,) = archive.schemas
    typed = Schema(schema.name, types=TYPES, tables=schema.tables, views=schema.views)
    source = Memory(type(archive)(**{**_facts(archive), "schemas": (typed,)}), rows)  # type: ignore[arg-type]  # as it is
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "good.siard")
        write_siard(source, target, SiardOrder(version))
        with zipfile.ZipFile(target) as archive_file:
            return {name: archive_file.read(name) for name in archive_file.namelist()}


def _facts(archive: object) -> dict[str, object]:
    return {name: getattr(archive, name) for name in archive.__slots__}  # type: ignore[attr-defined]  # it is slotted


def packed(files: Mapping[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """The files as a ZIP; the message digest is made right again."""
    whole = _zip(files, method)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        headers = [info.header_offset for info in archive.infolist() if info.filename.startswith("header")]
    if META not in files or not headers or b"<digest>" not in files[META]:
        return whole
    digest = hashlib.sha256(whole[: min(headers)]).hexdigest().encode()
    before, _, after = files[META].partition(b"<digest>")
    return _zip({**files, META: before + b"<digest>" + digest + after[after.index(b"</digest>") :]}, method)


def _zip(files: Mapping[str, bytes], method: int) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return held.getvalue()


def swap(name: str, old: str, new: str, count: int = 1) -> Callable[[Files], Files]:
    """What changes one text of a file."""

    def change(files: Files) -> Files:
        assert old.encode() in files[name], f"{name} has no {old}"
        return {**files, name: files[name].replace(old.encode(), new.encode(), count)}

    return change


def more(name: str, content: bytes = b"x") -> Callable[[Files], Files]:
    """What adds a file; it stands before the header."""
    return lambda files: {name: content, **files}


def less(name: str) -> Callable[[Files], Files]:
    """What takes a file away."""
    return lambda files: {one: content for one, content in files.items() if one != name}


def column(table: str, name: str, old: str, new: str) -> Callable[[Files], Files]:
    """What changes a text in the metadata of one column."""

    def change(files: Files) -> Files:
        text = files[META].decode()
        at = text.index(f"<name>{name}</name>", text.index(f"<name>{table}</name>"))
        place = text.index(old, at)
        return {**files, META: (text[:place] + new + text[place + len(old) :]).encode()}

    return change


BROKEN: dict[str, list[Callable[[Files], Files]]] = {
    "SIARD-P_4.2-1": [more("readme.txt"), more("other/x.txt")],
    "SIARD-P_4.2-2": [more("content/x.txt"), more("content/schema0/x.txt")],
    "SIARD-P_4.2-3": [more("content/schema0/table0/x.txt"), more("content/schema0/table0/lob8/deep/record9.bin")],
    "SIARD-P_4.2-4": [less("header/siardversion/2.2/"), more("header/siardversion/2.1/", b"")],
    "SIARD-P_4.2-5": [less("header/metadata.xsd"), less(META)],
    "SIARD-P_4.2-6": [more("header/1style.xsl"), more("header/style sheet.xsl"), more("header/a.b.c")],
    "SIARD-P_4.2-6-LENGTH": [more("header/a_very_long_name_of_a_style.xsl")],
    "SIARD-P_4.3-1": [less(f"{T1}.xml"), less(f"{T1}.xsd")],
    "SIARD-P_4.3-1-MORE": [more("content/schema0/table9/table9.xml", b"<table/>")],
    "SIARD-P_4.3-2": [swap(f"{T1}.xsd", '<xs:element name="c2" type="xs:string" minOccurs="0"/>', "")],
    "SIARD-P_4.3-3": [
        swap(f"{T1}.xsd", 'name="c1" type="xs:integer"', 'name="c1" type="xs:string"'),
        column("notes", "case_id", "INTEGER", "DATE"),
    ],
    "SIARD-P_4.3-4": [swap(f"{T2}.xsd", 'name="c2" type="dateType"', 'name="c2" type="xs:string"')],
    "SIARD-P_4.3-5": [swap(f"{T2}.xsd", 'name="a2" type="xs:string"', 'name="a2" type="xs:integer"')],
    "SIARD-P_4.3-6": [swap(f"{T2}.xsd", 'name="u1" type="xs:integer"', 'name="u1" type="xs:string"')],
    "SIARD-P_4.3-7": [
        column("cases", "id", "<nullable>false</nullable>", "<nullable>true</nullable>"),
        swap(f"{T0}.xsd", 'type="xs:integer"/>', 'type="xs:integer" minOccurs="0"/>'),
    ],
    "SIARD-P_4.3-8": [swap(f"{T1}.xsd", 'name="c2"', 'name="d2"')],
    "SIARD-P_4.3-9": [swap(f"{T2}.xsd", '<xs:element name="u2" type="xs:integer" minOccurs="0"/>', "")],
    "SIARD-P_4.3-10": [
        swap(META, "<rows>2</rows>", "<rows>3</rows>"),
        swap(f"{T1}.xml", "</table>", "<row/></table>"),
        swap(f"{T1}.xsd", 'maxOccurs="unbounded"', 'maxOccurs="1"'),
    ],
    "SIARD-M_5.0-1": [
        swap(META, "<dbname>records</dbname>", ""),
        swap(META, "<archivalDate>2024-05-06<", "<archivalDate>May<"),
        swap(META, "<users>", "<odd/><users>"),
        swap(META, 'version="2.2"', 'version="7.0"'),
        swap(META, "</siardArchive>", ""),
        swap(META, "<digestType>SHA-256</digestType>", "<digestType>SHA-3</digestType>"),
    ],
    "SIARD-M_5.0-1-UNJUDGED": [swap(META, "siard/2/metadata.xsd", "siard/2.x/metadata.xsd", 2)],
    "SIARD-M_5.1-1-11-NONE": [
        lambda files: {
            **files,
            META: files[META][: files[META].index(b" <messageDigest>")]
            + files[META][files[META].index(b"</messageDigest>") + 16 :],
        }
    ],
    "SIARD-M_5.2-1": [swap(META, "<name>public</name>\n   <folder>", "<name> </name>\n   <folder>")],
    "SIARD-M_5.5-1": [swap(META, "<name>shapes</name>", "<name>notes</name>")],
    "SIARD-M_5.6-1": [swap(META, "<name>line</name>", "<name>case_id</name>")],
    "SIARD-M_5.6-1-TYPE": [column("shapes", "at", "place", "nowhere")],
    "SIARD-M_5.8-1": [
        swap(META, "<name>pk_cases</name>\n      <column>id<", "<name>pk_cases</name>\n      <column>no<")
    ],
    "SIARD-M_5.9-1": [swap(META, "<referencedTable>cases<", "<referencedTable>none<")],
    "SIARD-M_5.10-1": [
        swap(META, "<referenced>id<", "<referenced>none<"),
        swap(META, "<column>case_id<", "<column>none<"),
    ],
    "SIARD-M_5.11-1": [
        swap(META, "<name>one_day</name>\n       <column>day<", "<name>one_day</name>\n       <column>no<")
    ],
    "SIARD-T_6.0-1": [
        swap(f"{T1}.xml", "<c1>1</c1><c2>first</c2>", "<c2>first</c2><c1>1</c1>"),
        swap(f"{T0}.xml", "<c1>1</c1>", ""),
        swap(f"{T1}.xml", "<c1>1</c1>", "<c1>1</c1><c1>1</c1>"),
    ],
    "SIARD-T_6.0-1-VALUE": [
        swap(f"{T1}.xml", "<c1>1</c1>", "<c1>one</c1>"),
        swap(f"{T0}.xml", "<c3>2020-02-29Z</c3>", "<c3>2021-02-29Z</c3>"),
        swap(f"{T0}.xml", "<c10>FF00</c10>", "<c10>FF0</c10>"),
        swap(f"{T0}.xml", "<c7>true</c7>", "<c7>yes</c7>"),
        swap(f"{T2}.xml", "<u1>1</u1>", "<u1>x</u1>"),
    ],
    "SIARD-T_6.0-1-XML": [swap(f"{T1}.xml", "</table>", ""), swap(f"{T1}.xml", "first</c2>", "first</c3>")],
    "SIARD-T_6.1-1": [
        lambda files: {**files, f"{T1}.xsd": b"<x/>"},
        swap(f"{T1}.xsd", "</xs:schema>", ""),
        swap(f"{T1}.xsd", 'name="row"', 'name="line"'),
    ],
    "SIARD-T_6.3-1": [
        swap(f"{T0}.xml", "<c3>2020-02-29Z</c3>", "<c3>12020-02-29Z</c3>"),
        swap(f"{T0}.xml", "12:30:00.5Z", "12:30:00.5+02:00"),
        swap(f"{T0}.xsd", '"10000-01-01Z"', '"20000-01-01Z"'),
    ],
    "SIARD-T_6.4-2": [
        swap(f"{T1}.xml", "<c1>1</c1>", "<c1>1</c1><d>1</d>"),
        swap(f"{T1}.xml", "<row>", "<line>x</line><row>"),
    ],
    "SIARD-ESCAPE": [swap(f"{T1}.xml", "first", "fir\\st")],
    "SIARD-T_6.4-5": [swap(f"{T0}.xml", ' length="5000"', "")],
    "SIARD-T_6.4-5-NO-DIGEST": [swap(f"{T0}.xml", ' digestType="SHA-256"', "")],
    "SIARD-T_6.4-5-PLACE": [swap(f"{T0}.xml", BIN, "odd/record0.bin")],
    "SIARD-T_6.4-5-UNIT": [swap(f"{T0}.xml", 'record0.txt" length="5000"', 'record0.txt" length="10000"')],
    "SIARD-T_6.4-5-FILE": [swap(f"{T0}.xml", "lob8/record0.bin", "lob8/record7.bin")],
    "SIARD-T_6.4-5-PATH": [
        swap(f"{T0}.xml", BIN, "../../etc/passwd"),
        swap(f"{T0}.xml", BIN, "/etc/passwd"),
        swap(f"{T0}.xml", BIN, "..\\..\\etc\\passwd"),
        swap(f"{T0}.xml", BIN, "file:///etc/passwd"),
    ],
    "SIARD-T_6.4-5-LENGTH": [lambda files: {**files, BIN: files[BIN][:-1]}, swap(f"{T0}.xml", '"5000"', '"9999"', 2)],
    "SIARD-T_6.4-5-DIGEST": [lambda files: {**files, BIN: b"\x01" + files[BIN][1:]}],
    "SIARD-T_6.4-5-TEXT": [lambda files: {**files, TXT: b"\xff" + files[TXT][1:]}],
    "SIARD-T_6.4-5-UNUSED": [more("content/schema0/table0/lob8/record9.bin")],
}
"""Each rule that a change of files can break, with changes that break it."""

ALONG: dict[str, set[str]] = {
    "SIARD-P_4.2-3": {"SIARD-T_6.4-5-UNUSED"},
    "SIARD-P_4.2-6-LENGTH": set(),
    "SIARD-P_4.3-2": {"SIARD-T_6.4-2"},
    "SIARD-P_4.3-3": {"SIARD-P_4.3-3"},
    "SIARD-P_4.3-5": {"SIARD-T_6.0-1-VALUE"},
    "SIARD-P_4.3-8": {"SIARD-T_6.4-2"},
    "SIARD-P_4.3-9": set(),
    "SIARD-M_5.2-1": {"SIARD-M_5.6-1-TYPE", "SIARD-M_5.9-1"},
    "SIARD-M_5.5-1": set(),
    "SIARD-P_4.3-10": set(),
    "SIARD-T_6.0-1-VALUE": set(),
    "SIARD-T_6.4-2": {"SIARD-P_4.3-10"},
    "SIARD-T_6.4-5-FILE": {"SIARD-T_6.4-5-UNUSED"},
    "SIARD-T_6.4-5-PATH": {"SIARD-T_6.4-5-UNUSED"},
    "SIARD-T_6.4-5-LENGTH": {"SIARD-T_6.4-5-DIGEST"},
    "SIARD-P_4.2-5": set(),
}
"""What is told beside it, where one fault makes another."""
