"""Starts an archive, saves a small structure with documents, asks for it, takes it back, and says what it did."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from noarkit.archive.http import connect
from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.query import equals, select
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.token import Credentials
from noarkit.archive.values import Action, Link, Save, SavedObject, file_to_upload
from noarkit.embedded import open_embedded

LETTERS = {
    "soknad.txt": "Søknad om skjenkebevilling for Kafé Blåbær.\n",
    "svar.txt": "Vi har mottatt søknaden deres og svarer innen tre uker.\n",
    "vedtak.txt": "Bevillingen innvilges fra 1. mars.\n",
}


def main() -> int:
    """Tells the journey; 0 where every byte came back."""
    with tempfile.TemporaryDirectory(prefix="noarkit-demo-") as name:
        place = Path(name)
        say("1. I start a Noark 5 archive of my own on this machine, in an empty folder.")
        with open_embedded(place / "archive") as embedded:
            say(f"   It answers at {embedded.url}.")
            credentials = Credentials(embedded.client_id, embedded.client_secret)
            settings = ArchiveSettings(embedded.url, credentials, token_url=embedded.token_url)
            with connect(settings) as archive:
                whole = journey(archive, place)
    say("6. I have stopped the archive; nothing of it is left on this machine.")
    return 0 if whole else 1


def journey(archive: Archive, place: Path) -> bool:
    """Saves, asks and takes back; True where every letter came back as it was."""
    letters = write_letters(place / "letters")
    say(f"2. I wrote {len(letters)} short letters, and uploaded them; each was hashed while it was sent.")
    uploads = {path.name: archive.upload(file_to_upload(path)) for path in letters}
    saved = archive.transaction(structure({name: uploaded.id for name, uploaded in uploads.items()}))
    say(f"3. In one transaction, all or nothing, I saved {len(saved)} objects:")
    say(f"   {count_types(saved)}.")
    case_file = saved["case"]
    found = list(objects(archive, select("Journalpost", equals("refMappe.id", case_file.id), order="id")))
    say(f"4. I asked for the records of case file {case_file.fields['mappeIdent']}, and got {len(found)}:")
    for record in found:
        say(f"   {record.fields['registreringsIdent']}  {record.fields['tittel']}")
    return take_back(archive, case_file, place)


def take_back(archive: Archive, case_file: SavedObject, place: Path) -> bool:
    """Downloads every document of a case file and compares it with what was written."""
    query = select("Dokumentversjon", equals("refDokument.refRegistrering.refMappe.id", case_file.id), order="id")
    alike = 0
    for version in objects(archive, query):
        name = str(version.fields["filnavn"])
        told = str(version.fields["sjekksum"])
        got = archive.download(
            str(version.fields["referanseDokumentfil"]), place / f"back-{name}", expected_sha256=told
        )
        written = hashlib.sha256((place / "letters" / name).read_bytes()).hexdigest()
        alike += written == got.sha256 == told.lower()
    say(f"5. I took the documents back: {alike} of {len(LETTERS)} are the same to the last byte, by SHA-256.")
    return alike == len(LETTERS)


def write_letters(folder: Path) -> list[Path]:
    """The letters as files."""
    folder.mkdir()
    for name, text in LETTERS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in LETTERS]


def structure(file_ids: Mapping[str, str]) -> list[Action]:
    """An archive with one case file, and a record with a document for each letter."""
    actions: list[Action] = [
        Save("Arkiv", "archive", {"tittel": "Kommunens arkiv"}),
        Save("Arkivskaper", "creator", {"arkivskaperIdent": "999999999", "arkivskaperNavn": "Eksempel kommune"}),
        Link("Arkivskaper", "creator", "refArkiv", ("archive",)),
        Save("Klassifikasjonssystem", "system", {"tittel": "Funksjoner"}),
        Save("Klasse", "class", {"klasseIdent": "U63", "tittel": "Skjenkebevilling"}),
        Link("Klasse", "class", "refKlassifikasjonssystem", ("system",)),
        Save("Arkivdel", "series", {"tittel": "Saksarkiv"}),
        Link("Arkivdel", "series", "refArkiv", ("archive",)),
        Link("Arkivdel", "series", "refPrimaerKlassifikasjonssystem", ("system",)),
        Save("Saksmappe", "case", {"tittel": "Skjenkebevilling, Kafé Blåbær", "administrativEnhet": "ADM"}),
        Link("Saksmappe", "case", "refArkivdel", ("series",)),
        Link("Saksmappe", "case", "refPrimaerKlasse", ("class",)),
    ]
    for number, (name, file_id) in enumerate(file_ids.items()):
        actions += letter(f"{number}", name, file_id)
    return actions


def letter(number: str, name: str, file_id: str) -> list[Action]:
    """A record of the case file, with its sender, document and file."""
    record, party, document, version = (f"{kind}-{number}" for kind in ("record", "party", "document", "version"))
    title = name.removesuffix(".txt").capitalize()
    return [
        Save("Journalpost", record, {"tittel": title, "journalposttype": "I"}),
        Link("Journalpost", record, "refMappe", ("case",)),
        Save("Korrespondansepart", party, {"korrespondanseparttype": "EA", "korrespondansepartNavn": "Kafé Blåbær"}),
        Link("Korrespondansepart", party, "refRegistrering", (record,)),
        Save("Dokument", document, {"tittel": title, "tilknyttetRegistreringSom": "H"}),
        Link("Dokument", document, "refRegistrering", (record,)),
        Save("Dokumentversjon", version, {"variantformat": "P", "format": "txt", "referanseDokumentfil": file_id}),
        Link("Dokumentversjon", version, "refDokument", (document,)),
    ]


def count_types(saved: Mapping[str, SavedObject]) -> str:
    """How many of each type, in the order they came."""
    counts: dict[str, int] = {}
    for each in saved.values():
        counts[each.type] = counts.get(each.type, 0) + 1
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def say(line: str) -> None:
    """A line for whoever looks on."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
