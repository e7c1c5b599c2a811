"""What somebody did to the archive by its own calls after the run: found too, and told as done since where the archive
says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from noarkit.archive.values import Action, Delete, Link, Save, Unlink, bytes_to_upload
from tests.loading.damage.damage import Damage, Step, counts
from tests.loading.damage.library import Library
from tests.loading.damage.records import SYSTEM
from tests.roundtrip.circle import WholeArchive

RECORD, FOLDER, DOCUMENT, VERSION = "abstraktregistrering", "abstraktmappe", "dokument", "dokumentversjon"
CROSSING = (
    "p_abstraktregistrering_refkryssreferansefraregistrering_abstraktregistrering_refkryssreferansetilregistrering"
)
SECONDARY = "p_abstraktmappe_refsekundaerklasse_klasse_refmappesomsekundaer"
Actions = Callable[[Callable[[str], str], WholeArchive], Sequence[Action]]
# what the change log makes of a difference where another user is behind it
SINCE = {
    "V206": "V501",
    "V207": "V501",
    "V210": "V501",
    "V211": "V501",
    "V212": "V501",
    "V213": "V501",
    "V214": "V501",
    "V215": "V501",
    "V220": "V502",
    "V221": "V502",
    "V231": "V501",
    "V302": "V501",
}


@dataclass(frozen=True, slots=True)
class _Call:
    """What can be done to the archive by a call: by the account that loaded the run, or by another user."""

    name: str
    code: str
    touched: str
    actions: Actions
    shown: bool = True

    def by_loader(self) -> Damage:
        """Done by the account that loaded the run: nobody but noarkit should, so it is no excuse."""
        return Damage(self.name, "api", (self._step("admin"),), counts(self.touched), self.code, self.shown)

    def by_another(self) -> Damage:
        """Done by another user: told as done since, where the archive's change log says so."""
        code = SINCE.get(self.code, self.code)
        return Damage(
            f"{self.name} by another user", "api", (self._step("other"),), counts(self.touched), code, self.shown
        )

    def _step(self, account: str) -> Step:
        def step(library: Library) -> None:
            with library.serving(account) as archive:
                archive.transaction(self.actions(lambda key: str(library.id(key)), archive))

        return step


def _saved(name: str, code: str, touched: str, kind: str, key: str, **fields: str | int | None) -> _Call:
    return _Call(name, code, touched, lambda id_of, _: (Save(kind, id_of(key), fields),))


def _moved(name: str, code: str, touched: str, kind: str, key: str, reference: str, *, away: str, to: str) -> _Call:
    return _Call(
        name,
        code,
        touched,
        lambda id_of, _: (
            Unlink(kind, id_of(key), reference, (id_of(away),)),
            Link(kind, id_of(key), reference, (id_of(to),)),
        ),
    )


def _linked(
    name: str, code: str, table: str, how: type[Link] | type[Unlink], kind: str, key: str, reference: str, other: str
) -> _Call:
    return _Call(name, code, f"{table} 1", lambda id_of, _: (how(kind, id_of(key), reference, (id_of(other),)),))


def _put(name: str, touched: str, kind: str, owner: str, reference: str, **fields: str | int) -> _Call:
    return _Call(
        name, "V220", touched, lambda id_of, _: (Save(kind, "x", fields), Link(kind, "x", reference, (id_of(owner),)))
    )


def _deleted(name: str, code: str, touched: str, *victims: tuple[str, str]) -> _Call:
    return _Call(name, code, touched, lambda id_of, _: [Delete(kind, id_of(key)) for kind, key in victims])


def _other_file(id_of: Callable[[str], str], archive: WholeArchive) -> Sequence[Action]:
    file_id = archive.upload(bytes_to_upload(b"letter two, page ONE", "p2.txt")).id
    return (Save("Dokumentversjon", id_of("p2#d1v1"), {"referanseDokumentfil": file_id}),)


def _version_more(id_of: Callable[[str], str], archive: WholeArchive) -> Sequence[Action]:
    file_id = archive.upload(bytes_to_upload(b"a version more", "p2.txt")).id
    fields = {"variantformat": "P", "format": "txt", "referanseDokumentfil": file_id}
    return (
        Save("Dokumentversjon", "x", fields),
        Link("Dokumentversjon", "x", "refDokument", (id_of("p2#d1"),)),
    )


def _document_more(id_of: Callable[[str], str], archive: WholeArchive) -> Sequence[Action]:
    file_id = archive.upload(bytes_to_upload(b"a document more", "more.txt")).id
    return (
        Save("Dokument", "d", {"tittel": "More", "tilknyttetRegistreringSom": "V"}),
        Link("Dokument", "d", "refRegistrering", (id_of("r1"),)),
        Save("Dokumentversjon", "x", {"variantformat": "P", "format": "txt", "referanseDokumentfil": file_id}),
        Link("Dokumentversjon", "x", "refDokument", ("d",)),
    )


def _same_key_again(id_of: Callable[[str], str], archive: WholeArchive) -> Sequence[Action]:
    fields = {"eksterntSystem": SYSTEM, "eksternID": "r3"}
    return (Save("EksternId", "x", fields), Link("EksternId", "x", "refRegistrering", (id_of("r2"),)))


def _record_twice(id_of: Callable[[str], str], archive: WholeArchive) -> Sequence[Action]:
    fields = {"eksterntSystem": SYSTEM, "eksternID": "r3"}
    return (
        Save("Basisregistrering", "r", {"tittel": "Sheet r3", "dokumentetsDato": "2020-02-29"}),
        Link("Basisregistrering", "r", "refMappe", (id_of("inner"),)),
        Save("EksternId", "x", fields),
        Link("EksternId", "x", "refRegistrering", ("r",)),
    )


CALLS = (
    _saved("a title that somebody changed", "V210", f"{RECORD} 1", "Journalpost", "p1", tittel="Other"),
    _saved("a folder's title that somebody changed", "V210", f"{FOLDER} 1", "Saksmappe", "case", tittel="Other"),
    _saved("screening that somebody added", "V213", f"{RECORD} 1", "Basisregistrering", "r1", skjerming="UO13"),
    _saved("screening that somebody lifted", "V213", f"{RECORD} 1", "Journalpost", "p1", skjerming=None),
    _saved("a date that somebody changed", "V210", f"{RECORD} 1", "Journalpost", "p1", dokumentetsDato="2021-05-08"),
    _saved("a party that somebody renamed", "V210", "sakspart 1", "Sakspart", "case#part", sakspartNavn="Ola"),
    _saved("a keyword that somebody changed", "V210", "noekkelord 1", "Noekkelord", "r1#word", verdi="other"),
    _saved("a letter that somebody reopened", "V214", f"{RECORD} 1", "Journalpost", "p1", journalstatus="J"),
    _saved("a case that somebody reopened", "V214", f"{FOLDER} 1", "Saksmappe", "case", saksstatus="B"),
    _saved("a document that somebody reopened", "V214", f"{DOCUMENT} 1", "Dokument", "p1#d1", dokumentstatus="B"),
    _saved("a format that somebody changed", "V210", f"{VERSION} 1", "Dokumentversjon", "r1#d1v1", format="pdf"),
    _saved(
        "versions that somebody numbered anew", "V215", f"{VERSION} 1", "Dokumentversjon", "p1#d1v1", versjonsnummer=9
    ),
    _moved(
        "a record that somebody moved",
        "V206",
        f"{RECORD} 1",
        "Basisregistrering",
        "r1",
        "refMappe",
        away="inner",
        to="beside",
    ),
    _moved(
        "a folder that somebody moved",
        "V206",
        f"{FOLDER} 1",
        "Mappe",
        "outer",
        "refArkivdel",
        away="arkivdel:b",
        to="arkivdel:a",
    ),
    _moved(
        "a document that somebody moved",
        "V206",
        f"{DOCUMENT} 1",
        "Dokument",
        "p1#d2",
        "refRegistrering",
        away="p1",
        to="p2",
    ),
    _moved(
        "a case that somebody classed anew",
        "V207",
        f"{FOLDER} 1",
        "Saksmappe",
        "case",
        "refPrimaerKlasse",
        away="klasse:21",
        to="klasse:22",
    ),
    _linked(
        "a reference that somebody added",
        "V207",
        CROSSING,
        Link,
        "Basisregistrering",
        "r1",
        "refKryssreferanseTilRegistrering",
        "r2",
    ),
    _linked(
        "a reference that somebody took away",
        "V207",
        CROSSING,
        Unlink,
        "Journalpost",
        "p2",
        "refKryssreferanseTilRegistrering",
        "p1",
    ),
    _linked(
        "a secondary class that somebody took away",
        "V207",
        SECONDARY,
        Unlink,
        "Saksmappe",
        "case",
        "refSekundaerKlasse",
        "klasse:22",
    ),
    _put(
        "a note that somebody added", "merknad 1", "Merknad", "r1", "refRegistrering", tekst="Later", merknadstype="MER"
    ),
    _put("a keyword that somebody added", "noekkelord 1", "Noekkelord", "r2", "refRegistrering", verdi="later"),
    _put(
        "a party that somebody added",
        "sakspart 1",
        "Sakspart",
        "case",
        "refMappe",
        sakspartNavn="Ola",
        sakspartRolle="Klager",
    ),
    _put("a folder that somebody added", f"{FOLDER} 1", "Mappe", "outer", "refForelderMappe", tittel="Later"),
    _put("a record that somebody added", f"{RECORD} 1", "Basisregistrering", "inner", "refMappe", tittel="Later"),
    _deleted("a keyword that somebody deleted", "V204", "noekkelord 1", ("Noekkelord", "case#word1")),
    _deleted("a note that somebody deleted", "V204", "merknad 1", ("Merknad", "p1#note")),
    _deleted("a version that somebody deleted", "V204", f"{VERSION} 1, stored_file 1", ("Dokumentversjon", "p1#d1v2")),
    _deleted(
        "a document that somebody deleted", "V204", f"{DOCUMENT} 1, {VERSION} 1, stored_file 1", ("Dokument", "p1#d2")
    ),
    _deleted(
        "a record that somebody deleted",
        "V201",
        f"{RECORD} 1, {DOCUMENT} 1, {VERSION} 1, eksternid 1, stored_file 1",
        ("Basisregistrering", "r3"),
    ),
    _Call("a file that somebody exchanged", "V302", f"{VERSION} 1, files 1, stored_file 2", _other_file),
    _Call("a version that somebody added", "V221", f"{VERSION} 1, files 1, stored_file 1", _version_more),
    _Call(
        "a document that somebody added", "V220", f"{DOCUMENT} 1, {VERSION} 1, files 1, stored_file 1", _document_more
    ),
    _Call("a key that somebody gave twice", "V202", "eksternid 1", _same_key_again),
    _Call("a record that somebody loaded again", "V202", f"{RECORD} 1, eksternid 1", _record_twice),
)

DAMAGES = (*(call.by_loader() for call in CALLS), *(call.by_another() for call in CALLS))
