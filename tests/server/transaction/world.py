"""A small archive of every kind, made by transactions, for tests to build on; each part is made anew when asked for."""

from __future__ import annotations

from dataclasses import dataclass

from tests.server.transaction.desk import Action, Desk, link, save

UNIT = "ADM"


@dataclass(frozen=True)
class World:
    """The permanent ids of an archive with one series, its primary system, and classes."""

    desk: Desk
    arkiv: str
    arkivskaper: str
    series: str
    system: str
    leaf: str
    branch: str
    twig: str
    foreign_system: str
    foreign: str

    def case_file(self, key: str = "case", **fields: object) -> list[Action]:
        """The actions that make a case file."""
        return [
            save("Saksmappe", key, **{"tittel": "A case", "administrativEnhet": UNIT, **fields}),
            link("Saksmappe", key, "refArkivdel", self.series),
            link("Saksmappe", key, "refPrimaerKlasse", self.leaf),
        ]

    def folder(self, key: str = "folder", **fields: object) -> list[Action]:
        """The actions that make a plain folder."""
        return [save("Mappe", key, **{"tittel": "A folder", **fields}), link("Mappe", key, "refArkivdel", self.series)]

    def record(self, folder: str, key: str = "record", **fields: object) -> list[Action]:
        """The actions that make a basic record in a folder."""
        return [
            save("Basisregistrering", key, **{"tittel": "A record", **fields}),
            link("Basisregistrering", key, "refMappe", folder),
        ]

    def post(self, case: str, key: str = "post", **fields: object) -> list[Action]:
        """The actions that make a registry entry with its one party, called `KEY-party`."""
        return [
            save("Journalpost", key, **{"tittel": "An entry", "journalposttype": "I", **fields}),
            link("Journalpost", key, "refMappe", case),
            save("Korrespondansepart", f"{key}-party", korrespondanseparttype="EA", korrespondansepartNavn="Ola"),
            link("Korrespondansepart", f"{key}-party", "refRegistrering", key),
        ]

    def document(self, record: str, key: str = "document", **fields: object) -> list[Action]:
        """The actions that make a document."""
        return [
            save("Dokument", key, **{"tittel": "A document", "tilknyttetRegistreringSom": "H", **fields}),
            link("Dokument", key, "refRegistrering", record),
        ]

    def version(self, document: str, file_id: str, key: str = "version", **fields: object) -> list[Action]:
        """The actions that make a document version."""
        told = {"variantformat": "P", "format": "txt", "referanseDokumentfil": file_id, **fields}
        return [save("Dokumentversjon", key, **told), link("Dokumentversjon", key, "refDokument", document)]


def fonds() -> list[Action]:
    """The actions that make an Arkiv with its creator."""
    return [
        save("Arkiv", "arkiv", tittel="A fonds"),
        save("Arkivskaper", "skaper", arkivskaperIdent="1", arkivskaperNavn="A creator"),
        link("Arkivskaper", "skaper", "refArkiv", "arkiv"),
    ]


def klasse(key: str, system: str, ident: str = "1", **fields: object) -> list[Action]:
    """The actions that make a class."""
    return [
        save("Klasse", key, klasseIdent=ident, tittel=f"Class {ident}", **fields),
        link("Klasse", key, "refKlassifikasjonssystem", system),
    ]


def make_world(desk: Desk) -> World:
    """Makes the archive."""
    ids = desk.ids(
        *fonds(),
        save("Arkivdel", "series", tittel="A series"),
        link("Arkivdel", "series", "refArkiv", "arkiv"),
        save("Klassifikasjonssystem", "system", tittel="A system"),
        link("Arkivdel", "series", "refPrimaerKlassifikasjonssystem", "system"),
        *klasse("leaf", "system", "1"),
        *klasse("branch", "system", "2"),
        *klasse("twig", "system", "2.1"),
        link("Klasse", "twig", "refForelderKlasse", "branch"),
        save("Klassifikasjonssystem", "other", tittel="Another system"),
        *klasse("foreign", "other", "9"),
    )
    return World(
        desk=desk,
        arkiv=ids["arkiv"],
        arkivskaper=ids["skaper"],
        series=ids["series"],
        system=ids["system"],
        leaf=ids["leaf"],
        branch=ids["branch"],
        twig=ids["twig"],
        foreign_system=ids["other"],
        foreign=ids["foreign"],
    )
