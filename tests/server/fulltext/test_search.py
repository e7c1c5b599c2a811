"""Full-text search over a small archive that real transactions made."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noarkit.server import transaction
from noarkit.server.areas import open_service
from noarkit.server.calling import Call, Handler
from noarkit.server.fulltext.index import catch_up, set_text
from noarkit.server.fulltext.search import search
from noarkit.server.service import Service
from noarkit.server.wire import Caller, Refusal
from tests.server.wire import link, save


@dataclass
class Sight:
    """Rights that hide some objects, and may leave out changing."""

    hidden: frozenset[int] = frozenset()
    changes: bool = True
    service: frozenset[str] = frozenset({"Edit list values", "Journal", "Store documents"})

    @property
    def reads_everything(self) -> bool:
        return not self.hidden

    def writes_everything(self, permission: str) -> bool:
        return self.changes

    def may_read(self, db: sqlite3.Connection, family: str, object_id: int) -> bool:
        return object_id not in self.hidden

    def may_change(self, db: sqlite3.Connection, permission: str, family: str, object_id: int) -> bool:
        return self.changes

    def may_below(self, db: sqlite3.Connection, permission: str, family: str, object_id: int) -> bool:
        return self.changes


class Archive:
    """An archive without a socket: its transactions, its searches, and the ids of what was saved, by name."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.ids: dict[str, int] = {}
        self._transaction: Handler = transaction.routes()[0].handler

    def save(self, *actions: object) -> None:
        answer = self._transaction(self._call({"actions": list(actions)}))
        body = answer.body
        if answer.raw is not None:
            body = orjson.loads(answer.raw)
        assert isinstance(body, dict)
        self.ids |= {name: int(told["id"]) for name, told in body["saved"].items() if not name.isdigit()}

    def search(
        self, doctype: str, query: str, *, hidden: tuple[str, ...] = (), public: bool = False, **members: object
    ) -> dict[str, object]:
        body = {"doctype": doctype, "query": query, "publicUse": public, **members}
        answer = search(self._call(body, Sight(frozenset(self.ids[name] for name in hidden)))).body
        assert isinstance(answer, dict)
        return answer

    def found(self, doctype: str, query: str, *, hidden: tuple[str, ...] = (), public: bool = False) -> list[str]:
        """The names of what is found."""
        key = {"Tekst": "Dokument", "Registrering": "AbstraktRegistrering", "Mappe": "AbstraktMappe"}.get(
            doctype, doctype
        )
        told = self.search(doctype, query, hidden=hidden, public=public)
        names = {str(number): name for name, number in self.ids.items()}
        results = told["results"]
        assert isinstance(results, list)
        assert told["total"] == len(results)
        return sorted(names[each["ids"][f"{key}.id"][0]] for each in results)

    def set_text(self, version: str, text: str | None, rights: Sight | None = None) -> None:
        body = {"dokumentversjonId": str(self.ids[version])} | ({} if text is None else {"tekst": text})
        assert set_text(self._call(body, rights)).status == 200

    def _call(self, body: object, rights: Sight | None = None) -> Call:
        return Call(self.service, Caller("x", "X", rights or Sight()), body=body)


def record(name: str, title: str, parent: str, party: str, **more: object) -> list[object]:
    """A record with a party, a document and a version without a file."""
    return [
        save("Basisregistrering", name, tittel=title, **more),
        link("Basisregistrering", name, "refMappe", parent),
        save("Korrespondansepart", f"{name}-party", korrespondanseparttype="EA", korrespondansepartNavn=party,
             epostadresse=f"{party.lower()}@example.org"),
        link("Korrespondansepart", f"{name}-party", "refRegistrering", name),
        save("Dokument", f"{name}-doc", tittel=f"{title} vedlegg", tilknyttetRegistreringSom="H"),
        link("Dokument", f"{name}-doc", "refRegistrering", name),
    ]  # fmt: skip


def small_archive(service: Service) -> Archive:
    """A series with two folders, the second of them screened, and a record in each."""
    archive = Archive(service)
    archive.save(
        save("Arkivskaper", "creator", arkivskaperIdent="1", arkivskaperNavn="Kommunen"),
        save("Arkiv", "fonds", tittel="Arkivet"),
        link("Arkiv", "fonds", "refArkivskaper", "creator"),
        save("Arkivdel", "series", tittel="Byggesaker"),
        link("Arkivdel", "series", "refArkiv", "fonds"),
        save("Mappe", "open", tittel="Rød låve", mappeIdent="2021/1"),
        link("Mappe", "open", "refArkivdel", "series"),
        save("Noekkelord", "keyword", verdi="landbruk"),
        link("Noekkelord", "keyword", "refMappe", "open"),
        save("Mappe", "closed", tittel="Hemmelig garasje", mappeIdent="2021/2", offentligTittel="Garasje"),
        link("Mappe", "closed", "refArkivdel", "series"),
        *record("letter", "Søknad om tak", "open", "Timothy"),
        *record("answer", "Svar om vegg", "closed", "Ragnhild"),
    )
    with service.db.transaction() as db:
        for number, (name, document, nth) in enumerate(
            (("v1", "letter-doc", 1), ("v2", "letter-doc", 2), ("w1", "answer-doc", 1)), start=9_000_001
        ):
            archive.ids[name] = number
            db.execute(
                "INSERT INTO o_dokumentversjon (id, type, version, uuid, versjonsnummer, refDokument)"
                " VALUES (?, 'Dokumentversjon', 1, ?, ?, ?)",
                (number, name, nth, archive.ids[document]),
            )
        db.execute("UPDATE o_abstraktmappe SET skjerming = 'UO' WHERE id = ?", (archive.ids["closed"],))
    archive.set_text("v1", "en gammel tekst om kobber")
    archive.set_text("v2", "en ny tekst om skifer " + "fyll " * 200)
    archive.set_text("w1", "mur og betong")
    return archive


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    service = open_service(tmp_path_factory.mktemp("archive"))
    yield small_archive(service)
    service.close()


@pytest.fixture
def changing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    service = open_service(tmp_path_factory.mktemp("archive"))
    yield small_archive(service)
    service.close()


@pytest.mark.parametrize(
    ("doctype", "query", "found"),
    [
        ("Tekst", "skifer", ["letter-doc"]),
        ("Tekst", "kobber", []),  # only the latest version counts
        ("Tekst", "tak", ["letter-doc"]),
        ("Tekst", "låve skifer timothy byggesaker landbruk", ["letter-doc"]),
        ("Tekst", "låve betong", []),
        ("Tekst", "skifer OR betong", ["answer-doc", "letter-doc"]),
        ("Tekst", '"ny tekst"', ["letter-doc"]),
        ("Tekst", '"tekst ny"', []),
        ("Tekst", "betong*", ["answer-doc"]),
        ("Tekst", "bet*", ["answer-doc"]),
        ("Tekst", "bet", []),
        ("Tekst", "SKIFER", ["letter-doc"]),
        ("Tekst", "lave", []),  # å is a letter of its own
        ("Tekst", "*", ["answer-doc", "letter-doc"]),
        ("Tekst", "byggesaker", ["answer-doc", "letter-doc"]),
        ("Tekst", "2021/1", ["letter-doc"]),
        ("Registrering", "tak", ["letter"]),
        ("Registrering", "låve", []),  # a record is not found by its folder
        ("Registrering", "byggesaker ragnhild", ["answer"]),
        ("Mappe", "landbruk", ["open"]),
        ("Mappe", "tak", []),
        ("Korrespondansepart", "timothy@example.org", ["letter-party"]),
        ("Korrespondansepart", "tak", []),
        ("Arkivdel", "byggesaker", ["series"]),
        ("Arkivdel", "arkivet", []),
    ],
)
def test_a_doctype_is_found_by_the_words_of_what_belongs_to_it(
    archive: Archive, doctype: str, query: str, found: list[str]
) -> None:
    assert archive.found(doctype, query) == found


def test_a_find_names_what_belongs_to_it(archive: Archive) -> None:
    told = archive.search("Tekst", "skifer")["results"]
    assert isinstance(told, list)
    ids = archive.ids
    assert told[0]["ids"] == {
        "AbstraktMappe.id": [str(ids["open"])],
        "AbstraktRegistrering.id": [str(ids["letter"])],
        "Dokument.id": [str(ids["letter-doc"])],
        "Dokumentversjon.id": [str(ids["v2"])],
        "Arkivdel.id": [str(ids["series"])],
        "Korrespondansepart.id": [str(ids["letter-party"])],
    }
    assert told[0]["expand"] == {}


def test_highlights_mark_the_words_in_their_fields(archive: Archive) -> None:
    told = archive.search("Tekst", "timothy OR tak skifer")["results"]
    assert isinstance(told, list)
    highlights = told[0]["highlights"]
    assert highlights["Korrespondansepart.korrespondansepartNavn"] == ["|=hlstart=|Timothy|=hlstop=|"]
    assert highlights["AbstraktRegistrering.tittel"] == ["Søknad om |=hlstart=|tak|=hlstop=|"]
    assert "om |=hlstart=|skifer|=hlstop=| fyll" in highlights["Dokumentversjon.tekst"][0]
    assert len(highlights["Dokumentversjon.tekst"][0]) < 400  # a piece of the text, not all of it
    assert "AbstraktMappe.tittel" not in highlights


def test_expand_shows_the_objects_themselves(archive: Archive) -> None:
    told = archive.search("Tekst", "betong", expand=["AbstraktMappe", "Klasse"])["results"]
    assert isinstance(told, list)
    assert [each["fields"]["tittel"] for each in told[0]["expand"]["AbstraktMappe"]] == ["Hemmelig garasje"]
    assert told[0]["expand"]["Klasse"] == []
    public = archive.search("Tekst", "2021/2", public=True, expand=["AbstraktMappe"])["results"]
    assert isinstance(public, list)
    assert "tittel" not in public[0]["expand"]["AbstraktMappe"][0]["fields"]


def facet(told: dict[str, object], field: str) -> dict[str, int]:
    facets = told["facets"]
    assert isinstance(facets, list)
    (values,) = [each["values"] for each in facets if each["field"] == field]
    assert isinstance(values, dict)
    return values


def test_facets_count_all_finds_whatever_the_page(archive: Archive) -> None:
    told = archive.search("Tekst", "byggesaker", limit=1)
    assert facet(told, "Arkivdel.tittel") == {"Byggesaker": 2}
    assert facet(told, "AbstraktMappe.mappeIdent_tittel") == {"2021/1_Rød låve": 1, "2021/2_Hemmelig garasje": 1}
    assert facet(told, "Noekkelord.verdi") == {"landbruk": 1}


def test_values_of_one_filter_are_alternatives_and_filters_add_up(archive: Archive) -> None:
    def total(**filters: list[str]) -> object:
        return archive.search("Tekst", "*", filters={name.replace("__", "."): each for name, each in filters.items()})[
            "total"
        ]

    assert total(AbstraktMappe__mappeIdent=["2021/1", "2021/2"]) == 2
    assert total(AbstraktMappe__mappeIdent=["2021/1", "x"], Noekkelord__verdi=["landbruk"]) == 1
    assert total(AbstraktMappe__mappeIdent=["2021/2"], Noekkelord__verdi=["landbruk"]) == 0
    assert total(AbstraktMappe__mappeIdent_tittel=["2021/1_Rød låve"]) == 1
    assert total(AbstraktMappe__mappeIdent=[]) == 0


def test_pages_follow_each_other(archive: Archive) -> None:
    told = [archive.search("Tekst", "byggesaker", offset=offset, limit=1) for offset in range(3)]
    results = [each["results"] for each in told]
    assert [len(each) for each in results if isinstance(each, list)] == [1, 1, 0]
    assert [each["total"] for each in told] == [2, 2, 2]
    assert results[0] != results[1]


def test_what_may_not_be_read_is_nowhere(archive: Archive) -> None:
    assert archive.found("Tekst", "byggesaker", hidden=("answer-doc",)) == ["letter-doc"]
    assert archive.found("Tekst", "ragnhild", hidden=("answer-party",)) == []
    assert archive.found("Tekst", "*", hidden=("answer-doc",)) == ["letter-doc"]
    told = archive.search("Tekst", "*", hidden=("closed", "letter-party"))
    assert facet(told, "AbstraktMappe.mappeIdent_tittel") == {"2021/1_Rød låve": 1}
    assert facet(told, "Korrespondansepart.epostadresse") == {"ragnhild@example.org": 1}
    assert "garasje" not in str(told)
    assert "timothy" not in str(told).lower()
    either = archive.search("Tekst", "skifer OR timothy", hidden=("letter-party",))
    assert "imothy" not in str(either["results"])
    hidden_filter = archive.search("Tekst", "*", hidden=("closed",), filters={"AbstraktMappe.mappeIdent": ["2021/2"]})
    assert hidden_filter["total"] == 0


def test_public_use_hides_the_closed_words_of_the_screened(archive: Archive) -> None:
    assert archive.found("Mappe", "hemmelig") == ["closed"]
    assert archive.found("Mappe", "hemmelig", public=True) == []
    assert archive.found("Mappe", "garasje", public=True) == ["closed"]
    assert archive.found("Tekst", "betong", public=True) == []
    assert archive.found("Tekst", "ragnhild", public=True) == []
    assert archive.found("Tekst", "skifer", public=True) == ["letter-doc"]
    told = archive.search("Mappe", "garasje", public=True)
    assert "emmelig" not in str(told)
    assert facet(told, "AbstraktMappe.mappeIdent_tittel") == {}
    closed_filter: dict[str, list[str]] = {"AbstraktMappe.tittel": ["Hemmelig garasje"]}
    assert archive.search("Mappe", "*", public=True, filters=closed_filter)["total"] == 0
    assert archive.search("Mappe", "*", filters=closed_filter)["total"] == 1


def test_what_was_committed_is_found_by_the_next_search(changing: Archive) -> None:
    assert changing.found("Mappe", "fjøs") == []
    changing.save(save("Mappe", str(changing.ids["open"]), tittel="Grønt fjøs"))
    assert changing.found("Mappe", "fjøs") == ["open"]
    assert changing.found("Mappe", "låve") == []
    changing.save(*record("late", "Sen søknad", str(changing.ids["open"]), "Olava"))
    assert changing.found("Registrering", "olava") == ["late"]
    changing.save({"action": "delete", "type": "Basisregistrering", "id": str(changing.ids["late"])})
    assert changing.found("Registrering", "olava") == []
    assert changing.found("Tekst", "sen") == []


def test_a_moved_record_is_found_by_its_new_folder(changing: Archive) -> None:
    letter, old, new = (str(changing.ids[name]) for name in ("letter", "open", "closed"))
    assert changing.found("Tekst", "hemmelig skifer") == []
    unlink = {"action": "unlink", "type": "Basisregistrering", "id": letter, "ref": "refMappe", "unlinkFromId": old}
    changing.save(unlink, link("Basisregistrering", letter, "refMappe", new))
    assert changing.found("Tekst", "hemmelig skifer") == ["letter-doc"]
    assert changing.found("Tekst", "låve skifer") == []


def test_catching_up_reads_each_change_once(changing: Archive) -> None:
    assert catch_up(changing.service) > 10
    assert catch_up(changing.service) == 0


def test_a_text_can_be_replaced_and_taken_away(changing: Archive) -> None:
    changing.set_text("w1", "helt andre ord")
    assert changing.found("Tekst", "betong") == []
    assert changing.found("Tekst", "andre ord") == ["answer-doc"]
    changing.set_text("w1", None)
    assert changing.found("Tekst", "andre") == []


def test_texts_are_set_only_on_versions_that_may_be_changed(archive: Archive) -> None:
    cases: list[tuple[Sight, Literal[403, 404]]] = [
        (Sight(changes=False), 403),
        (Sight(frozenset({archive.ids["v1"]})), 404),
    ]
    for rights, status in cases:
        with pytest.raises(Refusal) as refused:
            archive.set_text("v1", "ord", rights)
        assert refused.value.status == status
    archive.ids["none"] = 77_777_777
    with pytest.raises(Refusal) as refused:
        archive.set_text("none", "ord")
    assert refused.value.status == 404


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"doctype": "Bok"}, "doctype"),
        ({"doctype": None}, "doctype"),
        ({"query": None}, "query"),
        ({"query": ["a"]}, "query"),
        ({"query": "a" * 5_000}, "query"),
        ({"query": "a " * 100}, "query"),
        ({"limit": -1}, "limit"),
        ({"limit": 501}, "limit"),
        ({"offset": -1}, "offset"),
        ({"publicUse": 3}, "publicUse"),
        ({"expand": ["Arkiv"]}, "expand"),
        ({"expand": "Klasse"}, "expand"),
        ({"filters": []}, "filters"),
        ({"filters": {"AbstraktMappe.tittel": "x"}}, "AbstraktMappe.tittel"),
        ({"filters": {"AbstraktMappe.tull": ["x"]}}, "AbstraktMappe.tull was not found"),
        ({"filters": {"Presedens.title": ["x"]}}, "Presedens.title was not found"),
        ({"filters": {"tittel": ["x"]}}, "tittel was not found"),
        ({"filters": {"AbstraktMappe.virksomhetsspesifikkeMetadata": ["x"]}}, "was not found"),
    ],
)
def test_what_is_wrong_is_refused_with_its_name(archive: Archive, members: dict[str, object], told: str) -> None:
    body = {"doctype": "Mappe", "query": "x", **members}
    with pytest.raises(Refusal) as refused:
        search(Call(archive.service, Caller("x", "X", Sight()), body=body))
    assert refused.value.status == 400
    assert told in refused.value.description


HOSTILE = st.text(
    alphabet=st.sampled_from(list("abå\"'*()-+:^{}[]|&!~/\\ \x00\t,.;ORNEAT\U0001d11e\u0301\u202e")), max_size=30
)


@settings(max_examples=200, deadline=None)
@given(query=st.one_of(HOSTILE, st.text(max_size=20)), public=st.booleans())
def test_no_words_are_a_fault(archive: Archive, query: str, public: bool) -> None:
    try:
        archive.search("Tekst", query, public=public)
    except Refusal as refused:
        assert refused.status == 400
