"""Makes a good Noark 5 package of any size: journalposter with a party, a document and a version each, in case files.

Everything is streamed; the checksums of the description are made while the files are written.
"""

from __future__ import annotations

import hashlib
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

from noarkit.forms.noark5 import spec
from samples.packages.describe import describe
from samples.packages.good import PDF, ROOT

DOCUMENT_BYTES = 1500
_CASE = 10
_PER_FOLDER = 1000
_DAY = "2019-03-04"
_TIME = f"{_DAY}T10:00:00"
_MADE = f"<opprettetDato>{_TIME}</opprettetDato><opprettetAv>Kari Nordmann</opprettetAv>"
_CLOSED = "<avsluttetDato>2019-06-05T10:00:00</avsluttetDato><avsluttetAv>Kari Nordmann</avsluttetAv>"
_ADDRESS = "<postadresse>Storgata 1</postadresse><postnummer>0001</postnummer><poststed>Oslo</poststed>"


def make_package(folder: Path, posts: int) -> None:
    """Writes a package of that many journalposter and files into a new folder."""
    (folder / spec.DOCUMENT_FOLDER).mkdir(parents=True)
    for name in spec.schema_files("5.0"):
        shutil.copy(ROOT / "schemas" / "noark5" / "5.0" / name, folder / name)
    _write(folder / "arkivstruktur.xml", _structure(folder, posts))
    _write(folder / "endringslogg.xml", _changes(posts))
    _write(folder / "loependeJournal.xml", _journal("loependeJournal", posts))
    _write(folder / "offentligJournal.xml", _journal("offentligJournal", posts))
    counts = {"mappe": -(-posts // _CASE), "registrering": posts, "endring": -(-posts // 100)}
    describe(folder, {**counts, "journalregistrering": posts}, documents=posts)


def _id(kind: int, number: int) -> str:
    return str(uuid.UUID(int=(hash_of(kind, number) << 64) | (kind << 40) | number))


def hash_of(kind: int, number: int) -> int:
    """Ids are spread as those of real packages are."""
    return (number * 0x9E3779B97F4A7C15 + kind * 0xC2B2AE3D27D4EB4F) & 0xFFFFFFFFFFFFFFFF


def _write(path: Path, parts: Iterator[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for part in parts:
            file.write(part)


def _structure(folder: Path, posts: int) -> Iterator[str]:
    yield (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<arkiv xmlns="{spec.namespace(spec.STRUCTURE)}"'
        f' xmlns:xsi="{spec.XSI_NAMESPACE}">\n<systemID>{_id(1, 0)}</systemID><tittel>Arkiv</tittel>'
        f"<arkivstatus>Avsluttet</arkivstatus>{_MADE}{_CLOSED}\n<arkivskaper><arkivskaperID>1</arkivskaperID>"
        f"<arkivskaperNavn>Prøve kommune</arkivskaperNavn></arkivskaper>\n<arkivdel><systemID>{_id(2, 0)}</systemID>"
        f"<tittel>Saksarkiv</tittel><arkivdelstatus>Avsluttet periode</arkivdelstatus>{_MADE}{_CLOSED}\n"
        f"<klassifikasjonssystem><systemID>{_id(3, 0)}</systemID><tittel>Nøkkel</tittel>{_MADE}\n"
        f"<klasse><systemID>{_id(4, 0)}</systemID><klasseID>1</klasseID><tittel>Klasse</tittel>{_MADE}\n"
    )
    for case in range(-(-posts // _CASE)):
        first = case * _CASE
        yield (
            f'<mappe xsi:type="saksmappe">\n<systemID>{_id(5, case)}</systemID>\n<mappeID>2019/{case}</mappeID>\n'
            f"<tittel>Sak nummer {case} om noe</tittel>\n{_MADE}\n{_CLOSED}\n"
        )
        for number in range(first, min(first + _CASE, posts)):
            yield _post(folder, number)
        yield (
            f"<saksaar>2019</saksaar>\n<sakssekvensnummer>{case + 1}</sakssekvensnummer>\n<saksdato>{_DAY}</saksdato>\n"
            "<administrativEnhet>Enhet</administrativEnhet>\n<saksansvarlig>Ola Nordmann</saksansvarlig>\n"
            "<saksstatus>Avsluttet</saksstatus>\n</mappe>\n"
        )
    yield "</klasse></klassifikasjonssystem></arkivdel></arkiv>\n"


def _post(folder: Path, number: int) -> str:
    name, content = _document(number)
    path = folder / name
    if number % _PER_FOLDER == 0:
        path.parent.mkdir()
    path.write_bytes(content)
    return (
        f'<registrering xsi:type="journalpost">\n<systemID>{_id(6, number)}</systemID>\n{_lines(_MADE)}'
        f"<arkivertDato>{_TIME}</arkivertDato>\n<arkivertAv>Kari Nordmann</arkivertAv>\n<dokumentbeskrivelse>\n"
        f"<systemID>{_id(7, number)}</systemID>\n<dokumenttype>Brev</dokumenttype>\n"
        "<dokumentstatus>Dokumentet er ferdigstilt</dokumentstatus>\n"
        f"<tittel>Dokument nummer {number}</tittel>\n{_lines(_MADE)}"
        "<tilknyttetRegistreringSom>Hoveddokument</tilknyttetRegistreringSom>\n<dokumentnummer>1</dokumentnummer>\n"
        f"<tilknyttetDato>{_TIME}</tilknyttetDato>\n<tilknyttetAv>Kari Nordmann</tilknyttetAv>\n<dokumentobjekt>\n"
        f"<systemID>{_id(8, number)}</systemID>\n<versjonsnummer>1</versjonsnummer>\n"
        f"<variantformat>Arkivformat</variantformat>\n<format>pdf</format>\n{_lines(_MADE)}"
        f"<referanseDokumentfil>{name}</referanseDokumentfil>\n"
        f"<sjekksum>{hashlib.sha256(content).hexdigest()}</sjekksum>\n<sjekksumAlgoritme>SHA-256</sjekksumAlgoritme>\n"
        f"<filstoerrelse>{len(content)}</filstoerrelse>\n</dokumentobjekt>\n</dokumentbeskrivelse>\n"
        f"<registreringsID>{number}/2019</registreringsID>\n<tittel>Brev nummer {number} om noe</tittel>\n"
        "<korrespondansepart>\n<korrespondanseparttype>Avsender</korrespondanseparttype>\n"
        f"<korrespondansepartNavn>Kari Nordmann</korrespondansepartNavn>\n{_lines(_ADDRESS)}</korrespondansepart>\n"
        f"<journalaar>2019</journalaar>\n<journalsekvensnummer>{number + 1}</journalsekvensnummer>\n"
        f"<journalpostnummer>{number % _CASE + 1}</journalpostnummer>\n"
        "<journalposttype>Inngående dokument</journalposttype>\n<journalstatus>Arkivert</journalstatus>\n"
        f"<journaldato>{_DAY}</journaldato>\n<dokumentetsDato>{_DAY}</dokumentetsDato>\n"
        f"<mottattDato>{_TIME}</mottattDato>\n</registrering>\n"
    )


def _lines(elements: str) -> str:
    return elements.replace("><", ">\n<").replace(">\n</", "></") + "\n"


def _document(number: int) -> tuple[str, bytes]:
    content = PDF + f"{number}".encode()
    content += b"." * (DOCUMENT_BYTES - len(content))
    return f"{spec.DOCUMENT_FOLDER}/{number // _PER_FOLDER}/{number}.pdf", content


def _changes(posts: int) -> Iterator[str]:
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<endringslogg xmlns="{spec.namespace(spec.CHANGE_LOG)}">\n'
    for number in range(0, posts, 100):
        yield (
            f"<endring>\n<referanseArkivenhet>{_id(6, number)}</referanseArkivenhet>\n"
            f"<referanseMetadata>tittel</referanseMetadata>\n<endretDato>{_TIME}</endretDato>\n"
            "<endretAv>Ola Nordmann</endretAv>\n<tidligereVerdi>Brev</tidligereVerdi>\n"
            f"<nyVerdi>Brev nummer {number} om noe</nyVerdi>\n"
            "</endring>\n"
        )
    yield "</endringslogg>\n"


def _journal(journal: str, posts: int) -> Iterator[str]:
    running = journal == spec.RUNNING_JOURNAL
    yield (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<{journal} xmlns="{spec.namespace(journal)}">\n<journalhode>\n'
        f"<journalStartDato>{_DAY}</journalStartDato>\n<journalSluttDato>{_DAY}</journalSluttDato>\n"
        f"<antallJournalposter>{posts}</antallJournalposter>\n<arkivskaper>\n<arkivskaperID>1</arkivskaperID>\n"
        "<arkivskaperNavn>Prøve kommune</arkivskaperNavn>\n</arkivskaper>\n</journalhode>\n"
    )
    for number in range(posts):
        case = number // _CASE
        title = f"<tittel>Brev nummer {number} om noe</tittel>\n" if running else ""
        case_title = f"<tittel>Sak nummer {case} om noe</tittel>\n" if running else ""
        yield (
            f"<journalregistrering>\n<klasse>\n<klasseID>1</klasseID>\n<tittel>Klasse</tittel>\n</klasse>\n<saksmappe>\n"
            f"<saksaar>2019</saksaar>\n<sakssekvensnummer>{case + 1}</sakssekvensnummer>\n{case_title}"
            f"<offentligTittel>Sak nummer {case} om noe</offentligTittel>\n</saksmappe>\n<journalpost>\n"
            f"<systemID>{_id(6, number)}</systemID>\n<journalaar>2019</journalaar>\n"
            f"<journalsekvensnummer>{number + 1}</journalsekvensnummer>\n"
            f"<journalpostnummer>{number % _CASE + 1}</journalpostnummer>\n{title}"
            f"<offentligTittel>Brev nummer {number} om noe</offentligTittel>\n<journaldato>{_DAY}</journaldato>\n"
            f"<dokumentetsDato>{_DAY}</dokumentetsDato>\n<korrespondansepart>\n"
            "<korrespondanseparttype>Avsender</korrespondanseparttype>\n"
            "<korrespondansepartNavn>Kari Nordmann</korrespondansepartNavn>\n</korrespondansepart>\n</journalpost>\n"
            "</journalregistrering>\n"
        )
    yield f"</{journal}>\n"
