"""An archive with something of every kind in it, made in one transaction over a real socket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from noarkit.archive.http import HttpArchive, connect
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.token import Credentials
from noarkit.archive.values import Action, Link, Save, bytes_to_upload
from noarkit.secrets import Secret
from tests.server.conftest import Archive, serving


@dataclass(frozen=True, slots=True)
class World:
    """A live archive and a session with it as `admin`."""

    live: Archive
    archive: HttpArchive


@contextmanager
def world(data_dir: Path, **settings: object) -> Iterator[World]:
    """An archive with nothing in it."""
    with serving(data_dir, settings or None) as live, session(live) as archive:
        yield World(live, archive)


@contextmanager
def session(live: Archive, account: str = "admin") -> Iterator[HttpArchive]:
    """A session as an account of clients.toml."""
    import tomllib

    secret = tomllib.loads((live.data_dir / "clients.toml").read_text("utf-8"))["clients"][account]["secret"]
    settings = ArchiveSettings(live.ready.url, Credentials(account, Secret(secret)), live.ready.token_url)
    with connect(settings) as archive:
        yield archive


def uuid(number: int) -> str:
    """A uuid that is the same in every archive."""
    return f"00000000-0000-4000-8000-{number:012d}"


def spine(**of_series: object) -> list[Action]:
    """A fonds with its creator and a series that has a classification of two levels."""
    return [
        Save("Arkivskaper", "creator", {"arkivskaperIdent": "987", "arkivskaperNavn": "Kommune & sønn"}),
        Save("Arkiv", "fonds", {"tittel": "Arkiv <1>", "uuid": uuid(1), "beskrivelse": "linje 1\r\nlinje 2"}),
        Link("Arkiv", "fonds", "refArkivskaper", ("creator",)),
        Save("Arkivdel", "series", {"tittel": "Saksarkiv", "uuid": uuid(2), **of_series}),  # type: ignore[dict-item]  # wire values
        Link("Arkivdel", "series", "refArkiv", ("fonds",)),
        Save("Klassifikasjonssystem", "system", {"tittel": "K-koder", "uuid": uuid(3), "klassifikasjonstype": "Emne"}),
        Link("Arkivdel", "series", "refPrimaerKlassifikasjonssystem", ("system",)),
        Save("Klasse", "main", {"klasseIdent": "2", "tittel": "Stilling og personell", "uuid": uuid(4)}),
        Link("Klasse", "main", "refKlassifikasjonssystem", ("system",)),
        Save("Klasse", "leaf", {"klasseIdent": "21", "tittel": "Ansettelse", "uuid": uuid(5)}),
        Link("Klasse", "leaf", "refKlassifikasjonssystem", ("system",)),
        Link("Klasse", "leaf", "refForelderKlasse", ("main",)),
        Save("Klasse", "other", {"klasseIdent": "22", "tittel": "Lønn", "uuid": uuid(6)}),
        Link("Klasse", "other", "refKlassifikasjonssystem", ("system",)),
        Link("Klasse", "other", "refForelderKlasse", ("main",)),
    ]


def case(name: str, number: int, **fields: object) -> list[Action]:
    """A case file under the leaf class."""
    given = {"tittel": f"Sak {name}", "administrativEnhet": "ADM", "saksansvarlig": "Kari", "uuid": uuid(number)}
    return [
        Save("Saksmappe", name, {**given, **fields}),  # type: ignore[dict-item]  # wire values
        Link("Saksmappe", name, "refArkivdel", ("series",)),
        Link("Saksmappe", name, "refPrimaerKlasse", ("leaf",)),
    ]


def post(name: str, folder: str, number: int, **fields: object) -> list[Action]:
    """A journal post with a sender, in a case file."""
    given = {"tittel": f"Brev {name}", "journalposttype": "I", "uuid": uuid(number), **fields}
    party = "EM" if given["journalposttype"] == "U" else "EA"
    return [
        Save("Journalpost", name, given),  # type: ignore[arg-type]  # wire values
        Link("Journalpost", name, "refMappe", (folder,)),
        Save(
            "Korrespondansepart", f"{name}p", {"korrespondanseparttype": party, "korrespondansepartNavn": f"Fra {name}"}
        ),
        Link("Korrespondansepart", f"{name}p", "refRegistrering", (name,)),
    ]


def document(archive: HttpArchive, name: str, record: str, number: int, content: bytes = b"text") -> list[Action]:
    """A document with one version of these bytes."""
    file_id = archive.upload(bytes_to_upload(content, f"{name}.txt")).id
    version = {"variantformat": "A", "format": "txt", "referanseDokumentfil": file_id, "uuid": uuid(number + 1)}
    given = {"tittel": f"Dokument {name}", "tilknyttetRegistreringSom": "H", "dokumenttype": "B", "uuid": uuid(number)}
    return [
        Save("Dokument", name, given),
        Link("Dokument", name, "refRegistrering", (record,)),
        Save("Dokumentversjon", f"{name}v", version),
        Link("Dokumentversjon", f"{name}v", "refDokument", (name,)),
    ]


def closing(
    *, documents: tuple[str, ...] = (), posts: tuple[str, ...] = (), cases: tuple[str, ...] = ()
) -> list[Action]:
    """What closes everything, from below."""
    return [
        *(Save("Dokument", name, {"dokumentstatus": "F"}) for name in documents),
        *(Save("Journalpost", name, {"journalstatus": "A"}) for name in posts),
        *(Save("Saksmappe", name, {"saksstatus": "A"}) for name in cases),
        Save("Arkivdel", "series", {"arkivdelstatus": "P"}),
        Save("Arkiv", "fonds", {"arkivstatus": "A"}),
    ]
