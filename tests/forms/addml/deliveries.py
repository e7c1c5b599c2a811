"""Deliveries of flat files as others write them: an ADDML description by string building, and data by hand or `csv`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

NAMESPACE = "http://www.arkivverket.no/standarder/addml"
DELIMITED = (
    "<delimFileFormat><recordSeparator>CRLF</recordSeparator><fieldSeparatingChar>;</fieldSeparatingChar>"
    "<quotingChar>&quot;</quotingChar></delimFileFormat>"
)
FIXED = "<fixedFileFormat><recordSeparator>LF</recordSeparator></fixedFileFormat>"
ADJOINING = "<fixedFileFormat/>"
TYPES: Mapping[str, str] = {
    "tekst": "<dataType>string</dataType>",
    "tall": "<dataType>integer</dataType>",
    "belop": "<dataType>float</dataType><fieldFormat>n.nnn,nn</fieldFormat>",
    "dato": "<dataType>date</dataType><fieldFormat>dd.MM.yyyy</fieldFormat>"
    "<nullValues><nullValue>00.00.0000</nullValue></nullValues>",
    "stempel": "<dataType>date</dataType><fieldFormat>yyyyMMddHHmmss</fieldFormat>",
    "flagg": "<dataType>boolean</dataType><fieldFormat>J/N</fieldFormat>",
}


@dataclass(frozen=True)
class Column:
    """A field: its name, a type of `TYPES`, and its span in files of positions."""

    name: str
    type: str = "tekst"
    span: tuple[int, int] | None = None

    def xml(self) -> str:
        """Its definition."""
        places = f"<startPos>{self.span[0]}</startPos><endPos>{self.span[1]}</endPos>" if self.span else ""
        names = f"name={quoteattr(self.name)} typeReference={quoteattr(self.type)}"
        return f"<fieldDefinition {names}>{places}</fieldDefinition>"


def references(names: Sequence[str]) -> str:
    inner = "".join(f"<fieldDefinitionReference name={quoteattr(name)}/>" for name in names)
    return f"<fieldDefinitionReferences>{inner}</fieldDefinitionReferences>"


def primary(*names: str) -> str:
    return f"<key name='pk'><primaryKey/>{references(names)}</key>"


def foreign(name: str, definition: str, record: str, referred: str) -> str:
    target = (
        f"<flatFileDefinitionReference name={quoteattr(definition)}><recordDefinitionReferences>"
        f"<recordDefinitionReference name={quoteattr(record)}>{references([referred])}</recordDefinitionReference>"
        "</recordDefinitionReferences></flatFileDefinitionReference><relationType>n:1</relationType>"
    )
    return f"<key name='fk'><foreignKey>{target}</foreignKey>{references([name])}</key>"


def record(
    name: str, columns: Sequence[Column], keys: str = "", *, mark: str = "", more: str = "", tail: str = ""
) -> str:
    """A record definition. `more` stands before its keys, `tail` at its end."""
    value = f"<recordDefinitionFieldValue>{escape(mark)}</recordDefinitionFieldValue>" if mark else ""
    inner = "".join(column.xml() for column in columns)
    keys = f"<keys>{keys}</keys>" if keys else ""
    return (
        f"<recordDefinition name={quoteattr(name)}>{value}{more}{keys}"
        f"<fieldDefinitions>{inner}</fieldDefinitions>{tail}</recordDefinition>"
    )


def definition(name: str, *records: str, layout: str = "fil", identifier: str = "") -> str:
    told = f"<recordDefinitionFieldIdentifier>{identifier}</recordDefinitionFieldIdentifier>" if identifier else ""
    return (
        f"<flatFileDefinition name={quoteattr(name)} typeReference={quoteattr(layout)}>{told}"
        f"<recordDefinitions>{''.join(records)}</recordDefinitions></flatFileDefinition>"
    )


def flat_file(name: str, path: str, defined: str, data: bytes | None = None, count: int | None = None) -> str:
    """A file with its properties; with `data` its checksum, too."""
    told = f"<property name='fileName'><value>{escape(path)}</value></property>"
    if data is not None:
        told += (
            "<property name='checksum'><properties><property name='algorithm'><value>SHA-256</value></property>"
            f"<property name='value'><value>{hashlib.sha256(data).hexdigest().upper()}</value></property>"
            "</properties></property>"
        )
    if count is not None:
        told += f"<property name='numberOfRecords'><value>{count}</value></property>"
    return (
        f"<flatFile name={quoteattr(name)} definitionReference={quoteattr(defined)}>"
        f"<properties>{told}</properties></flatFile>"
    )


def layout(form: str = DELIMITED, charset: str = "ISO-8859-1", name: str = "fil") -> str:
    return f"<flatFileType name={quoteattr(name)}><charset>{charset}</charset>{form}</flatFileType>"


def description(
    files: Sequence[str], definitions: Sequence[str], layouts: Sequence[str], types: Mapping[str, str] = TYPES
) -> bytes:
    """The whole document."""
    told = "".join(f"<fieldType name={quoteattr(name)}>{inner}</fieldType>" for name, inner in types.items())
    return (
        f"<?xml version='1.0' encoding='UTF-8'?>\n<addml xmlns='{NAMESPACE}' name='uttrekk'><dataset name='d'>"
        "<reference><context><additionalElements><additionalElement name='recordCreators'><value>Byen</value>"
        "</additionalElement></additionalElements></context></reference>"
        f"<flatFiles>{''.join(files)}<flatFileDefinitions>{''.join(definitions)}</flatFileDefinitions>"
        f"<structureTypes><flatFileTypes>{''.join(layouts)}</flatFileTypes><fieldTypes>{told}</fieldTypes>"
        "</structureTypes></flatFiles></dataset></addml>"
    ).encode()


CASE_LINES = (
    'S1;"Søknad; om ""tilskudd""";1.234,50;31.12.2001;J;123',
    "S2;Høring;12,5;00.00.0000;N;",
    'S3;"To\r\nlinjer";;30.02.2001;N;456',
)
LETTERS = (
    "1         S1 20010102030405DATA/brev/1.txt ",
    "2         S1 20010102030406DATA/brev/2.txt ",
    "3         S2                               ",
)
CASE_COLUMNS = (
    Column("SAKSNR"),
    Column("TITTEL"),
    Column("BELOP", "belop"),
    Column("DATO", "dato"),
    Column("AVSLUTTET", "flagg"),
    Column("KLASSE"),
)
LETTER_COLUMNS = (
    Column("ID", "tall", (1, 10)),
    Column("SAK", "tekst", (11, 13)),
    Column("NAAR", "stempel", (14, 27)),
    Column("FIL", "tekst", (28, 43)),
)


def delivery(place: Path, *, cases: Sequence[str] = CASE_LINES, wrong: bool = False, usual: str = "addml.xml") -> Path:
    """Case files in a delimited file, letters in one of positions with documents beside them, and a paper."""
    (place / "DATA/brev").mkdir(parents=True)
    data = "".join(f"{line}\r\n" for line in cases).encode("latin-1")
    letters = "".join(f"{line}\n" for line in LETTERS).encode()
    (place / "DATA/sak.dat").write_bytes(data)
    (place / "DATA/brev.dat").write_bytes(letters)
    (place / "DATA/brev/1.txt").write_bytes(b"en")
    (place / "DATA/brev/2.txt").write_bytes(b"to")
    (place / "les meg.txt").write_bytes(b"om uttrekket")
    proven = b"other" if wrong else data
    text = description(
        [
            flat_file("sak", "DATA\\sak.dat", "SAK", proven, len(cases)),
            flat_file("brev", "DATA/brev.dat", "BREV", letters, len(LETTERS)),
        ],
        [
            definition("SAK", record("sak", CASE_COLUMNS, primary("SAKSNR"))),
            definition(
                "BREV",
                record("brev", LETTER_COLUMNS, primary("ID") + foreign("SAK", "SAK", "sak", "SAKSNR")),
                layout="faste",
            ),
        ],
        [layout(), layout(FIXED, "UTF-8", "faste")],
    )
    (place / usual).write_bytes(text)
    return place
