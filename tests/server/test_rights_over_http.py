"""The table of rights, asked over HTTP: query, download, full text, logs and transactions agree with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from tests.server.conftest import Archive, serving
from tests.server.rights_table import EVERYWHERE, GRAPH, LISTS, METADATA, PRECEDENTS, ROWS, SERVICE, Grant, Row
from tests.server.wire import Wire, link, save

SERVICES = ("View changelog", "Edit finalized", "Edit journaled", "Journal", "Store documents")
TYPES = {thing.name: thing.type for thing in GRAPH}
# A doctype, a word that only one thing holds, and that thing.
SEARCHES = (
    ("Arkivdel", "Series", "series"),
    ("Mappe", "Case", "case"),
    ("Registrering", "Record", "record"),
    ("Korrespondansepart", "Party", "party"),
    ("Tekst", "bodyword", "version"),
)
LOGGED = frozenset(
    {"Arkiv", "Arkivskaper", "Arkivdel", "Klassifikasjonssystem", "Klasse", "Saksmappe", "Mappe", "Journalpost"}
    | {"Basisregistrering", "Dokument", "Presedens", "Korrespondansepart"}
)
# A text of each type that may be changed at will.
CHANGEABLE = {
    "Noekkelord": "verdi",
    "Korrespondansepart": "kontaktperson",
    "EksternId": "eksternID",
    "Merknad": "tekst",
    "Dokumentversjon": "format",
}
READING = [row for row in ROWS if row.reads & set(TYPES)]
UPDATING = [row for row in ROWS if row.grant.word == "Update" and row.grant.where not in (METADATA, LISTS)]


@dataclass(frozen=True, slots=True)
class Stocked:
    """A live archive that holds the graph, the ids of its things, and a client whose rights a test decides."""

    archive: Archive
    ids: Mapping[str, str]
    file: str
    client: Wire

    @property
    def admin(self) -> Wire:
        """The archive, called by one who may everything."""
        return self.archive.wire


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stocked]:
    with serving(tmp_path_factory.mktemp("rights")) as archive:
        file = str(archive.wire.upload(b"bodyword", "body.txt").json()["id"])
        saves = [save(thing.type, thing.name, **thing.fields) for thing in GRAPH]
        version = next(action for action in saves if action["type"] == "Dokumentversjon")
        version["fields"] = {"variantformat": "P", "format": "txt", "referanseDokumentfil": file}
        links = [link(thing.type, thing.name, ref, to) for thing in GRAPH for ref, to in thing.links.items()]
        ids = {name: str(saved["id"]) for name, saved in archive.wire.saved(*saves, *links).items()}
        text = {"dokumentversjonId": ids["version"], "tekst": "bodyword"}
        assert archive.wire.call("POST", "full-text/set", text).status == 200
        assert archive.wire.call("GET", f"download?id={file}").body == b"bodyword"
        assert archive.wire.call("POST", "query", {"type": "Saksmappe", "limit": 1}).status == 200
        yield Stocked(archive, ids, file, archive.add_client("tested", "tested"))


@contextmanager
def granted(stocked: Stocked, grants: Iterable[Grant], determining: Iterable[str]) -> Iterator[None]:
    """Gives the client these grants, by the calls for it, until the block ends."""
    grants, call = list(grants), stocked.admin.call
    group = {
        "name": "Tested",
        "claims": ["tested"],
        "globalPermissions": [grant.word for grant in grants if grant.where == EVERYWHERE],
        "servicePermissions": [*SERVICES, *(grant.word for grant in grants if grant.where == SERVICE)],
    }
    made = call("POST", "access-group", group).json()["id"]
    nodes: dict[str, list[str]] = {}
    for grant in grants:
        if grant.where not in (EVERYWHERE, SERVICE):
            nodes.setdefault(grant.where, []).append(grant.word)
    for where, words in nodes.items():
        path, names = address(stocked, where)
        reply = call("POST", path, {"accessGroupId": made, **names, "explicitPermissions": words})
        assert reply.status == 201, reply
    determine(stocked, determining, decides=True)
    try:
        yield
    finally:
        determine(stocked, determining, decides=False)
        assert call("DELETE", f"access-group/{made}").status == 202


def address(stocked: Stocked, where: str) -> tuple[str, dict[str, str]]:
    """The call by which permissions are granted at a place of the table, and the members that name it."""
    words = where.split()
    if where in stocked.ids:
        return "permission/entity", {"objectType": TYPES[where], "objectId": stocked.ids[where]}
    if where in (METADATA, PRECEDENTS):
        return ("permission/bsm-registry" if where == METADATA else "permission/precedent-registry"), {}
    if where == LISTS:
        return "permission/code-list", {"listType": "all"}
    return "permission/code-list", dict(zip(("listType", "code"), words[1:], strict=False))


def determine(stocked: Stocked, names: Iterable[str], *, decides: bool) -> None:
    """Says what determines access control."""
    for name in names:
        kind = "klassifikasjons-system" if name in stocked.ids else "code-list"
        body = {"id": stocked.ids.get(name, name), "determinesAccessControl": decides}
        assert stocked.admin.call("POST", f"access-modifier/{kind}", body).status == 200


def queried(stocked: Stocked) -> set[str]:
    """The things that queries find."""
    found: set[str] = set()
    for type_name in set(TYPES.values()):
        reply = stocked.client.call("POST", "query", {"type": type_name, "limit": 100, "publicUse": False})
        results = reply.json()["results"]
        assert isinstance(results, list)
        found.update(str(result["id"]) for result in results)
    return {name for name, object_id in stocked.ids.items() if object_id in found}


def logged(stocked: Stocked) -> set[str]:
    """The things whose history is told."""
    statuses = {
        name: stocked.client.call("POST", "logs/change-log", {"id": stocked.ids[name]}).status
        for name, type_name in TYPES.items()
        if type_name in LOGGED
    }
    assert set(statuses.values()) <= {200, 404}
    return {name for name, status in statuses.items() if status == 200}


def noted(stocked: Stocked, log: str, name: str, **asked: str) -> set[str]:
    """The thing, where the log of reads or of downloads tells of it."""
    results = stocked.client.call("POST", f"logs/{log}", {"limit": 100, **asked}).json()["results"]
    return {name} if results else set()


def searched(stocked: Stocked, readable: set[str]) -> set[str]:
    """The things that full-text search finds; with them it names nothing that is not readable."""
    found = set()
    for doctype, word, name in SEARCHES:
        asked = {"doctype": doctype, "query": word, "publicUse": False}
        told = stocked.client.call("POST", "full-text/search", asked).json()
        if told["total"]:
            found.add(name)
        results = told["results"]
        assert isinstance(results, list)
        named = {each for result in results for ids in result["ids"].values() for each in ids}
        assert named <= {stocked.ids[thing] for thing in readable}
    return found


@pytest.mark.parametrize("row", READING, ids=lambda row: row.title)
def test_what_a_permission_opens_is_found_everywhere_and_without_it_nowhere(stocked: Stocked, row: Row) -> None:
    opened = row.reads & set(TYPES)
    findable = {name for _, _, name in SEARCHES}
    loggable = {name for name, type_name in TYPES.items() if type_name in LOGGED}
    before: dict[str, set[str]] = {}
    for grants in (row.beside, (*row.beside, row.grant)):
        with granted(stocked, grants, row.determining):
            download = stocked.client.call("GET", f"download?id={stocked.file}").status
            readable = queried(stocked)
            seen = {
                "query": readable,
                "log": logged(stocked),
                "text": searched(stocked, readable),
                "file": {"version"} if download == 200 else set(),
                "download-log": noted(stocked, "download-log", "version"),
                "access-log": noted(stocked, "access-log", "case", objectType="Saksmappe"),
            }
            assert download in (200, 404)
        before = before or seen
    assert seen["query"] - before["query"] == opened
    assert seen["log"] - before["log"] == opened & loggable
    assert seen["text"] - before["text"] == opened & findable
    for what, name in (("file", "version"), ("download-log", "version"), ("access-log", "case")):
        assert seen[what] - before[what] == opened & {name}


@pytest.mark.parametrize("row", UPDATING, ids=lambda row: row.title)
def test_what_update_opens_can_be_changed_and_nothing_else(stocked: Stocked, row: Row) -> None:
    opened = {sight.name for sight in row.opens if sight.what == "change" and sight.word == "Update"}
    with granted(stocked, (*row.beside, row.grant), row.determining):
        statuses = {
            name: stocked.client.transaction(
                save(type_name, stocked.ids[name], **{CHANGEABLE.get(type_name, "beskrivelse"): row.title})
            ).status
            for name, type_name in TYPES.items()
        }
    assert set(statuses.values()) <= {200, 403}
    assert {name for name, status in statuses.items() if status == 200} == opened & set(TYPES)
