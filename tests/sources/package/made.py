"""Small extracts, made by hand for one thing each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from noarkit.events import ignore_event
from noarkit.forms.noark5.source import ExtractSource, find_extract
from noarkit.graph.entity import Entity, SetAside
from noarkit.records import Groundwork, SourceItem, SourceRecord

NAMESPACES = (
    'xmlns="http://www.arkivverket.no/standarder/noark5/arkivstruktur" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
)
CONTENT = b"innhold"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def uuid(number: int) -> str:
    """A systemID."""
    return f"00000000-0000-4000-8000-{number:012d}"


def made(when: str = "2020-01-02T03:04:05") -> str:
    """When and by whom."""
    return f"<opprettetDato>{when}</opprettetDato><opprettetAv>Kari</opprettetAv>"


def series(*inside: str, number: int = 2) -> str:
    """An arkivdel."""
    return (
        f"<arkivdel><systemID>{uuid(number)}</systemID><tittel>Saker</tittel>"
        f"<arkivdelstatus>Avsluttet periode</arkivdelstatus>{made()}{''.join(inside)}</arkivdel>"
    )


def classified(*inside: str) -> str:
    """A classification system with one class."""
    return (
        f"<klassifikasjonssystem><systemID>{uuid(3)}</systemID><tittel>K</tittel>{made()}<klasse>"
        f"<systemID>{uuid(4)}</systemID><klasseID>1</klasseID><tittel>En</tittel>{made()}{''.join(inside)}"
        "</klasse></klassifikasjonssystem>"
    )


def folder(number: int, *inside: str, kind: str = "", before: str = "", after: str = "") -> str:
    """A mappe; `before` and `after` are its own elements on either side of what it holds."""
    xsi = f' xsi:type="{kind}"' if kind else ""
    return (
        f"<mappe{xsi}><systemID>{uuid(number)}</systemID><mappeID>2020/{number}</mappeID><tittel>Mappe</tittel>{made()}"
        f"{before}{''.join(inside)}{after}</mappe>"
    )


CASE = (
    "<saksaar>2020</saksaar><sakssekvensnummer>7</sakssekvensnummer><saksdato>2020-01-02</saksdato>"
    "<administrativEnhet>Avdelingen</administrativEnhet><saksansvarlig>Ola</saksansvarlig>"
    "<saksstatus>Avsluttet</saksstatus>"
)
PARTY = (
    "<korrespondansepart><korrespondanseparttype>Avsender</korrespondanseparttype>"
    "<korrespondansepartNavn>Kari</korrespondansepartNavn></korrespondansepart>"
)


def record(number: int, *inside: str, kind: str = "", title: str = "<tittel>Brev</tittel>") -> str:
    """A registrering."""
    xsi = f' xsi:type="{kind}"' if kind else ""
    more = PARTY + "<journalposttype>Inngående dokument</journalposttype>" if kind == "journalpost" else ""
    return (
        f"<registrering{xsi}><systemID>{uuid(number)}</systemID>{made()}{''.join(inside)}{title}{more}</registrering>"
    )


def document(number: int, *versions: str) -> str:
    """A dokumentbeskrivelse."""
    return (
        f"<dokumentbeskrivelse><systemID>{uuid(number)}</systemID><dokumenttype>Brev</dokumenttype>"
        f"<dokumentstatus>Dokumentet er ferdigstilt</dokumentstatus><tittel>Dokument</tittel>{made()}"
        "<tilknyttetRegistreringSom>Hoveddokument</tilknyttetRegistreringSom><dokumentnummer>1</dokumentnummer>"
        f"{''.join(versions)}</dokumentbeskrivelse>"
    )


def version(
    number: int, path: str, checksum: str = SHA256, algorithm: str = "SHA-256", size: str = str(len(CONTENT))
) -> str:
    """A dokumentobjekt; without a number it has no systemID."""
    own = f"<systemID>{uuid(number)}</systemID>" if number else ""
    return (
        f"<dokumentobjekt>{own}<versjonsnummer>1</versjonsnummer><variantformat>Arkivformat</variantformat>"
        f"<format>pdf</format>{made()}<referanseDokumentfil>{path}</referanseDokumentfil><sjekksum>{checksum}</sjekksum>"
        f"<sjekksumAlgoritme>{algorithm}</sjekksumAlgoritme><filstoerrelse>{size}</filstoerrelse></dokumentobjekt>"
    )


def fonds(*inside: str) -> str:
    """A whole arkivstruktur."""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<arkiv {NAMESPACES}><systemID>{uuid(1)}</systemID>'
        f"<tittel>Arkivet</tittel><arkivstatus>Avsluttet</arkivstatus>{made()}<arkivskaper>"
        "<arkivskaperID>987</arkivskaperID><arkivskaperNavn>Kommunen</arkivskaperNavn></arkivskaper>"
        f"{''.join(inside)}</arkiv>"
    )


def package(place: Path, structure: str | bytes, files: Iterable[str] = ()) -> ExtractSource:
    """Lays an extract out; each of the files holds CONTENT."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "arkivstruktur.xml").write_bytes(structure.encode() if isinstance(structure, str) else structure)
    for name in files:
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(CONTENT)
    found = find_extract(str(place))
    assert found is not None
    return found


def items(source: ExtractSource) -> list[SourceItem]:
    """All it yields."""
    return list(source.records(ignore_event))


def records(source: ExtractSource) -> dict[str, SourceRecord]:
    """Its records by key."""
    return {item.key: item for item in items(source) if isinstance(item, SourceRecord)}


def entities(source: ExtractSource) -> dict[str, Entity]:
    """All entities by key, of the spine too."""
    found: dict[str, Entity] = {}
    mapper = source.mapper()
    for item in items(source):
        if isinstance(item, SourceRecord):
            mapped = mapper.map(item)
            found.update({one.key: one for one in getattr(mapped, "entities", ())})
        elif isinstance(item, Groundwork):
            found.update({one.key: one for one in item.entities})
    return found


def set_aside(source: ExtractSource) -> dict[str, SetAside]:
    """What it sets aside, by key."""
    return {item.record_key: item for item in items(source) if isinstance(item, SetAside)}
