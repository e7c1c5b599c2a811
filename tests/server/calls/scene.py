"""A stage for calls: one of each kind of object in a live archive, more on request, and accounts with chosen rights."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.server.calls.shapes import refused
from tests.server.conftest import Archive
from tests.server.wire import Wire

_NUMBERS = itertools.count(1)
READER = ("ReadThis", "Read")
WRITER = ("ReadThis", "Read", "Create", "Update", "Move")

Body = dict[str, object]


@dataclass(frozen=True, slots=True)
class Scene:
    """A live archive; `ids` holds the permanent ids of what `make_scene` made, and `file` an uploaded file's id."""

    archive: Archive
    ids: Mapping[str, str]
    file: str
    _accounts: dict[tuple[tuple[str, ...], tuple[str, ...]], Wire] = field(default_factory=dict)

    @property
    def wire(self) -> Wire:
        """The archive, called by one who may everything."""
        return self.archive.wire

    def account(self, service: Sequence[str] = (), everywhere: Sequence[str] = ()) -> Wire:
        """The archive, called by one who has these service permissions and these permissions everywhere."""
        key = tuple(service), tuple(everywhere)
        if key not in self._accounts:
            self._accounts[key] = self.new_account(*key)[0]
        return self._accounts[key]

    def new_account(self, service: Sequence[str] = (), everywhere: Sequence[str] = ()) -> tuple[Wire, int]:
        """The same, of the test's own, with the id of its group."""
        name = f"caller{next(_NUMBERS)}"
        group = {
            "name": name,
            "claims": [name],
            "servicePermissions": list(service),
            "globalPermissions": list(everywhere),
        }
        made = self.wire.call("POST", "access-group", group)
        assert made.status == 201, made
        return self.archive.add_client(name, name), int(str(made.json()["id"]))

    def made(self, *actions: Mapping[str, object], by: Wire | None = None) -> dict[str, str]:
        """The permanent ids of what the actions saved, by the ids they used."""
        told = (by or self.wire).saved(*actions)
        return {name: str(each["id"]) for name, each in told.items()}

    def folder(self, **fields: object) -> str:
        """A new plain folder."""
        save = {"action": "save", "type": "Mappe", "id": "@m", "fields": {"tittel": "En mappe", **fields}}
        up = {"action": "link", "type": "Mappe", "id": "@m", "ref": "refArkivdel", "linkToId": self.ids["series"]}
        return self.made(save, up)["@m"]

    def case(self, **fields: object) -> str:
        """A new case file."""
        return self.made(*self.case_actions(**fields))["@s"]

    def case_actions(self, **fields: object) -> list[Body]:
        """The actions that make a case file `@s`."""
        told = {"tittel": "En sak", "administrativEnhet": "ADM", **fields}
        return [
            {"action": "save", "type": "Saksmappe", "id": "@s", "fields": told},
            {"action": "link", "type": "Saksmappe", "id": "@s", "ref": "refArkivdel", "linkToId": self.ids["series"]},
            {
                "action": "link",
                "type": "Saksmappe",
                "id": "@s",
                "ref": "refPrimaerKlasse",
                "linkToId": self.ids["class"],
            },
        ]

    def record(self, folder: str, **fields: object) -> str:
        """A new basic record in a folder."""
        save = {"action": "save", "type": "Basisregistrering", "id": "@r", "fields": {"tittel": "En post", **fields}}
        up = {"action": "link", "type": "Basisregistrering", "id": "@r", "ref": "refMappe", "linkToId": folder}
        return self.made(save, up)["@r"]

    def entry(self, case: str, **fields: object) -> str:
        """A new registry entry in a case file."""
        return self.made(*entry_actions(case, **fields))["@j"]

    def document(self, record: str, **fields: object) -> str:
        """A new document of a record."""
        told = {"tittel": "Et dokument", "tilknyttetRegistreringSom": "H", **fields}
        save = {"action": "save", "type": "Dokument", "id": "@d", "fields": told}
        up = {"action": "link", "type": "Dokument", "id": "@d", "ref": "refRegistrering", "linkToId": record}
        return self.made(save, up)["@d"]

    def version(self, document: str, file: str) -> str:
        """A new version of a document, with an uploaded file."""
        return self.made(*version_actions(document, file))["@v"]

    def uploaded(self, content: bytes = b"a text", name: str = "brev.txt") -> str:
        """The id of a file that was just uploaded."""
        return str(self.wire.upload(content, name).json()["id"])

    def get(self, type_name: str, object_id: str, by: Wire | None = None) -> Body | None:
        """One object as a query tells it; None where there is none to be read."""
        asked = {
            "type": type_name,
            "limit": 1,
            "publicUse": False,
            "query": "id = @id",
            "parameters": {"@id": object_id},
        }
        results = (by or self.wire).call("POST", "query", asked).json()["results"]
        assert isinstance(results, list)
        found: list[Body] = results
        return found[0] if found else None

    def fields(self, type_name: str, object_id: str) -> Body:
        """The fields of one object that must be there."""
        told = self.get(type_name, object_id)
        assert told is not None
        fields = told["fields"]
        assert isinstance(fields, dict)
        return fields


def entry_actions(case: str, **fields: object) -> list[Body]:
    """The actions that make a registry entry `@j` with its party `@k`."""
    told = {"tittel": "Et brev", "journalposttype": "I", **fields}
    party = {"korrespondanseparttype": "EA", "korrespondansepartNavn": "Kari Nordmann"}
    return [
        {"action": "save", "type": "Journalpost", "id": "@j", "fields": told},
        {"action": "link", "type": "Journalpost", "id": "@j", "ref": "refMappe", "linkToId": case},
        {"action": "save", "type": "Korrespondansepart", "id": "@k", "fields": party},
        {"action": "link", "type": "Korrespondansepart", "id": "@k", "ref": "refRegistrering", "linkToId": "@j"},
    ]


def version_actions(document: str, file: object) -> list[Body]:
    """The actions that make a document version `@v`."""
    told = {"variantformat": "P", "format": "pdf", "referanseDokumentfil": file}
    return [
        {"action": "save", "type": "Dokumentversjon", "id": "@v", "fields": told},
        {"action": "link", "type": "Dokumentversjon", "id": "@v", "ref": "refDokument", "linkToId": document},
    ]


def unlink(type_name: str, object_id: str, ref: str, *others: str) -> Body:
    """An unlink action."""
    return {"action": "unlink", "type": type_name, "id": object_id, "ref": ref, "unlinkFromId": list(others)}


def refuses(scene: Scene, status: int, words: tuple[str, ...], *actions: object, by: Wire | None = None) -> None:
    """A transaction that must be refused in both formats, with the words in the description."""
    refused(by or scene.wire, ("POST", "transaction"), {"actions": list(actions)}, status, *words)


def make_scene(archive: Archive) -> Scene:
    """Makes one of each: creator fonds series system class case entry party document version folder record."""
    file = str(archive.wire.upload(b"the first text", "brev.txt").json()["id"])
    told = archive.wire.saved(*_first_actions(file))
    return Scene(archive, {name.lstrip("@"): str(each["id"]) for name, each in told.items()}, file)


def _first_actions(file: str) -> Iterator[Body]:
    saves: dict[str, tuple[str, Body]] = {
        "@creator": ("Arkivskaper", {"arkivskaperIdent": "974760673", "arkivskaperNavn": "Kommunen"}),
        "@fonds": ("Arkiv", {"tittel": "Arkivet"}),
        "@series": ("Arkivdel", {"tittel": "Sakarkivet"}),
        "@system": ("Klassifikasjonssystem", {"tittel": "Nøkkelen"}),
        "@class": ("Klasse", {"klasseIdent": "614", "tittel": "Byggesaker"}),
        "@case": ("Saksmappe", {"tittel": "Saken", "administrativEnhet": "ADM"}),
        "@entry": ("Journalpost", {"tittel": "Brevet", "journalposttype": "I"}),
        "@party": ("Korrespondansepart", {"korrespondanseparttype": "EA", "korrespondansepartNavn": "Ola Nordmann"}),
        "@document": ("Dokument", {"tittel": "Dokumentet", "tilknyttetRegistreringSom": "H"}),
        "@version": ("Dokumentversjon", {"variantformat": "P", "format": "txt", "referanseDokumentfil": file}),
        "@folder": ("Mappe", {"tittel": "Mappen"}),
        "@record": ("Basisregistrering", {"tittel": "Posten"}),
    }
    links = (
        ("@creator", "refArkiv", "@fonds"),
        ("@series", "refArkiv", "@fonds"),
        ("@series", "refPrimaerKlassifikasjonssystem", "@system"),
        ("@class", "refKlassifikasjonssystem", "@system"),
        ("@case", "refArkivdel", "@series"),
        ("@case", "refPrimaerKlasse", "@class"),
        ("@entry", "refMappe", "@case"),
        ("@party", "refRegistrering", "@entry"),
        ("@document", "refRegistrering", "@entry"),
        ("@version", "refDokument", "@document"),
        ("@folder", "refArkivdel", "@series"),
        ("@record", "refMappe", "@folder"),
    )
    for name, (type_name, fields) in saves.items():
        yield {"action": "save", "type": type_name, "id": name, "fields": fields}
    for name, reference, target in links:
        yield {"action": "link", "type": saves[name][0], "id": name, "ref": reference, "linkToId": [target]}
