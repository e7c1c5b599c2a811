"""One call of /query: what it takes, what it finds, what it refuses."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noarkit.server.areas import open_service
from noarkit.server.calling import Call
from noarkit.server.deadline import Deadline
from noarkit.server.query.run import query
from noarkit.server.service import Service
from noarkit.server.settings import Settings
from noarkit.server.wire import Caller, Refusal


@dataclass
class Sight:
    """Rights that hide some objects."""

    hidden: frozenset[int] = frozenset()
    service: frozenset[str] = frozenset()

    @property
    def reads_everything(self) -> bool:
        return not self.hidden

    def writes_everything(self, permission: str) -> bool:
        return False

    def may_read(self, db: sqlite3.Connection, family: str, object_id: int) -> bool:
        return object_id not in self.hidden

    def may_change(self, db: sqlite3.Connection, permission: str, family: str, object_id: int) -> bool:
        return False

    def may_below(self, db: sqlite3.Connection, permission: str, family: str, object_id: int) -> bool:
        return False


ROWS = (
    ("o_arkivdel", {"id": 1, "type": "Arkivdel", "tittel": "Series", "skjerming": None}),
    ("o_klasse", {"id": 2, "type": "Klasse", "tittel": "Class", "skjerming": "UO"}),
    ("o_abstraktmappe", {"id": 3, "type": "Saksmappe", "tittel": "Case", "refArkivdel": 1, "refPrimaerKlasse": 2,
                         "saksaar": 2021, "sakssekvensnummer": 7, "mappeIdent": "2021/7", "offentligTittel": "Open"}),
    ("o_abstraktmappe", {"id": 4, "type": "Mappe", "tittel": "Folder", "refArkivdel": 1, "mappeIdent": "2021/8",
                         "opprettetDato": 1609459200000,
                         "virksomhetsspesifikkeMetadata": '{"hr": {"grade": {"type": "double", "values": [3]}}}'}),
    ("o_eksternid", {"id": 5, "type": "EksternId", "eksternID": "k1", "eksterntSystem": "s1", "refMappe": 3}),
    ("o_eksternid", {"id": 6, "type": "EksternId", "eksternID": "k2", "eksterntSystem": "s2", "refMappe": 3}),
    ("o_abstraktregistrering", {"id": 7, "type": "Journalpost", "tittel": "Post", "refMappe": 3}),
    ("o_presedens", {"id": 8, "type": "Presedens", "title": "Rule"}),
)  # fmt: skip


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    opened = open_service(tmp_path_factory.mktemp("archive"))
    with opened.db.transaction() as db:
        for table, row in ROWS:
            full = {"version": 1, "uuid": f"u{row['id']}", **row}
            names, marks = ", ".join(full), ", ".join("?" * len(full))
            db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(full.values()))
    yield opened
    opened.close()


def ask(service: Service, hidden: frozenset[int] = frozenset(), /, **body: object) -> dict[str, object]:
    answer = query(Call(service, Caller("x", "X", Sight(hidden)), body={"limit": 500, **body})).body
    assert isinstance(answer, dict)
    return answer


def ids(service: Service, hidden: frozenset[int] = frozenset(), /, **body: object) -> list[str]:
    results = ask(service, hidden, **body)["results"]
    assert isinstance(results, list)
    return [each["id"] for each in results]


def test_an_object_comes_with_strings_for_ids_and_numbers_for_links(service: Service) -> None:
    assert ask(service, type="Saksmappe", publicUse=False, query="id=@id", parameters={"@id": 3}) == {
        "hasMore": False,
        "results": [
            {
                "type": "Saksmappe",
                "id": "3",
                "version": "1",
                "fields": {
                    "uuid": "u3",
                    "mappeIdent": "2021/7",
                    "tittel": "Case",
                    "offentligTittel": "Open",
                    "saksaar": 2021,
                    "sakssekvensnummer": 7,
                },
                "links": {"refArkivdel": 1, "refPrimaerKlasse": 2},
            }
        ],
    }


def test_public_use_is_the_default_and_withholds_what_a_screened_ancestor_covers(service: Service) -> None:
    case, post, folder = (
        ask(service, type=name, query="id=@id", parameters={"@id": number})["results"]
        for name, number in (("Saksmappe", 3), ("Journalpost", 7), ("Mappe", 4))
    )
    assert isinstance(case, list) and isinstance(post, list) and isinstance(folder, list)
    assert case[0]["fields"] == {
        "uuid": "u3",
        "mappeIdent": "2021/7",
        "offentligTittel": "Open",
        "saksaar": 2021,
        "sakssekvensnummer": 7,
    }
    assert post[0]["fields"] == {"uuid": "u7"}
    assert folder[0]["fields"]["tittel"] == "Folder"


def test_business_metadata_tells_the_type_of_each_field(service: Service) -> None:
    found = ask(service, type="Mappe", publicUse="false")["results"]
    assert isinstance(found, list)
    assert found[0]["fields"]["virksomhetsspesifikkeMetadata"] == {"hr": {"grade": {"type": "double", "values": [3]}}}


def test_a_precedent_answers_to_both_names_of_its_title(service: Service) -> None:
    found = ask(service, type="Presedens", query="tittel=@t && title=@t", parameters={"@t": "Rule"}, publicUse=False)
    assert isinstance(found["results"], list)
    assert found["results"][0]["fields"] == {"uuid": "u8", "title": "Rule", "tittel": "Rule"}


def test_two_conditions_on_one_chain_mean_one_linked_object(service: Service) -> None:
    both = {"@e": "k1", "@s": "s2"}
    chained = "refEksternId.eksternID=@e && refEksternId.eksterntSystem=@s"
    assert ids(service, type="Saksmappe", query=chained, parameters=both) == []
    joined = "#a.eksternID=@e && #b.eksterntSystem=@s"
    joins = {"#a": "refEksternId", "#b": "refEksternId"}
    assert ids(service, type="Saksmappe", query=joined, parameters=both, joins=joins) == ["3"]


def test_an_object_without_the_link_is_found_by_null_and_not_by_unequal(service: Service) -> None:
    text = "refEksternId = @null || refEksternId.eksterntSystem != @x"
    assert ids(service, type="AbstraktMappe", query=text, parameters={"@null": None, "@x": "s9"}) == ["4", "3"]
    assert ids(service, type="AbstraktMappe", query="refEksternId.eksterntSystem != @x", parameters={"@x": "s9"}) == [
        "3"
    ]


def test_what_may_not_be_read_cannot_be_probed_through_chains(service: Service) -> None:
    text, known = "refEksternId.eksternID=@e", {"@e": "k1"}
    assert ids(service, frozenset({6}), type="Saksmappe", query=text, parameters=known) == ["3"]
    assert ids(service, frozenset({5}), type="Saksmappe", query=text, parameters=known) == []
    assert ids(service, frozenset({3}), type="AbstraktMappe") == ["4"]
    assert ids(service, frozenset({2}), type="AbstraktMappe", query="refPrimaerKlasse=@c", parameters={"@c": 2}) == []


def test_numbers_and_booleans_may_come_as_strings(service: Service) -> None:
    body = {"limit": "1", "offset": "0", "publicUse": "false"}
    found = ask(service, type="Saksmappe", query="saksaar=@y && id=@i", parameters={"@y": "2021", "@i": "3"}, **body)
    assert found["hasMore"] is False
    assert ids(service, type="AbstraktMappe", **(body | {"offset": "1"})) == ["3"]
    assert ask(service, type="AbstraktMappe", **body)["hasMore"] is True


@pytest.mark.parametrize(
    "form", ["2021-01-01T00:00:00.000Z", "2021-01-01T01:00:00.000+0100", "2021-01-01T01:00:00+01:00"]
)
def test_moments_are_compared_as_instants(service: Service, form: str) -> None:
    text, known = "opprettetDato=[@f:@t]", {"@f": form, "@t": "*"}
    assert ids(service, type="AbstraktMappe", query=text, parameters=known) == ["4"]
    assert ids(service, type="AbstraktMappe", query="opprettetDato={@f:@t]", parameters=known) == []


def test_only_the_percent_sign_is_a_wildcard(service: Service) -> None:
    found = {
        pattern: ids(service, type="Mappe", query="mappeIdent %= @p", parameters={"@p": pattern})
        for pattern in ("2021%", "%/8", "2021_8", "2021*", "%", "2021/%8", "2022%")
    }
    assert [pattern for pattern, hits in found.items() if hits] == ["2021%", "%/8", "%", "2021/%8"]


REFUSED: tuple[tuple[dict[str, object], str], ...] = (
    ({"type": "Saksmappe", "query": "skap=@x", "parameters": {"@x": "1"}},
     "A field with name skap was not found in Saksmappe or its hierarchy."),
    ({"type": "Saksmappe", "query": "refArkivdel.skap=@x", "parameters": {"@x": "1"}},
     "A field with name skap was not found in Arkivdel or its hierarchy."),
    ({"type": "Sak"}, "no type Sak"),
    ({"type": ""}, "type"),
    ({}, "type"),
    ({"type": "Mappe", "limit": 0}, "limit"),
    ({"type": "Mappe", "limit": 501}, "limit"),
    ({"type": "Mappe", "limit": True}, "limit"),
    ({"type": "Mappe", "limit": None}, "limit"),
    ({"type": "Mappe", "offset": -1}, "offset"),
    ({"type": "Mappe", "offset": 1 << 70}, "offset"),
    ({"type": "Mappe", "publicUse": "maybe"}, "publicUse"),
    ({"type": "Mappe", "query": 7}, "query"),
    ({"type": "Mappe", "query": "id=@x"}, "@x"),
    ({"type": "Mappe", "parameters": {"x": 1}}, "'x'"),
    ({"type": "Mappe", "parameters": {"@x": [1]}}, "@x"),
    ({"type": "Mappe", "query": "id=@x", "parameters": {"@x": "abc"}}, "@x"),
    ({"type": "Mappe", "query": "id=@x", "parameters": {"@x": 1 << 64}}, "@x"),
    ({"type": "Mappe", "query": "tittel=@x", "parameters": {"@x": "\ud800"}}, "surrogate"),
    ({"type": "Mappe", "query": "tittel=@x", "parameters": {"@x": True}}, "@x"),
    ({"type": "Mappe", "query": "tittel=[@x:@x]", "parameters": {"@x": "a"}}, "range"),
    ({"type": "Mappe", "query": "opprettetDato=[@x:@x]", "parameters": {"@x": None}}, "null"),
    ({"type": "Mappe", "query": "opprettetDato%=@x", "parameters": {"@x": "2%"}}, "%="),
    ({"type": "Mappe", "query": "refArkivdel%=@x", "parameters": {"@x": "2%"}}, "%="),
    ({"type": "Mappe", "query": "tittel%=@x", "parameters": {"@x": None}}, "@x"),
    ({"type": "Mappe", "query": "tittel%=@x", "parameters": {"@x": "a" * 60_000}}, "long"),
    ({"type": "Mappe", "query": "tittel.id=@x", "parameters": {"@x": "a"}}, "no reference"),
    ({"type": "Mappe", "query": "virksomhetsspesifikkeMetadata=@x", "parameters": {"@x": "a"}}, "cannot be queried"),
    ({"type": "Mappe", "query": "#a.id=@x", "parameters": {"@x": "1"}}, "#a"),
    ({"type": "Mappe", "joins": {"#a": "#b.refBarnMappe", "#b": "#a.refBarnMappe"}}, "built on itself"),
    ({"type": "Mappe", "joins": {"#a": "tittel"}}, "reference"),
    ({"type": "Mappe", "joins": {"#a": "refTull"}}, "refTull was not found in Mappe"),
    ({"type": "Mappe", "joins": {"a": "refArkivdel"}}, "'a'"),
    ({"type": "Mappe", "joins": {"#a": "refArkivdel = @x"}}, "position"),
    ({"type": "Mappe", "sortOrder": [{"field": "refArkivdel", "order": "asc"}]}, "reference"),
    ({"type": "Saksmappe", "sortOrder": [{"field": "saksstatus", "order": "asc"}]}, "cannot be sorted"),
    ({"type": "Saksmappe", "sortOrder": [{"field": "version", "order": "asc"}]}, "cannot be sorted"),
    ({"type": "Saksmappe", "sortOrder": [{"field": "sakssekvensnummer", "order": "asc"}]}, "cannot be sorted"),
    ({"type": "Mappe", "sortOrder": [{"field": "tittel", "order": "up"}]}, "asc or desc"),
    ({"type": "Mappe", "sortOrder": [{"field": "tittel"}]}, "order"),
    ({"type": "Mappe", "sortOrder": {"field": "tittel"}}, "sortOrder"),
    ({"type": "Mappe", "query": "refBarnMappe." * 13 + "id=@x", "parameters": {"@x": 1}}, "12 references"),
    ({"type": "Mappe", "query": " && ".join(f"#a{n}.id=@x" for n in range(70)), "parameters": {"@x": 1},
      "joins": {f"#a{n}": "refBarnMappe" for n in range(70)}}, "60 tables"),
    ({"type": "Mappe", "joins": {f"#a{n}": f"#a{n + 1}.refBarnMappe" for n in range(900)}}, "12 references"),
)  # fmt: skip


@pytest.mark.parametrize(("body", "told"), REFUSED, ids=[str(number) for number in range(len(REFUSED))])
def test_what_is_wrong_is_refused_with_its_name(service: Service, body: dict[str, object], told: str) -> None:
    with pytest.raises(Refusal) as refused:
        ask(service, **body)
    assert refused.value.status == 400
    assert told in refused.value.description


def test_sorting_puts_the_newest_first_among_equals(service: Service) -> None:
    order: list[object] = [{"field": "avsluttetDato", "order": "asc"}]
    assert ids(service, type="AbstraktMappe", sortOrder=order) == ["4", "3"]
    assert ids(service, type="AbstraktMappe", sortOrder=[{"field": "mappeIdent", "order": "ASC"}]) == ["3", "4"]
    assert ids(service, type="AbstraktMappe", sortOrder=[{"field": "id", "order": "asc"}]) == ["3", "4"]


def test_thousands_of_alternatives_are_one_query(service: Service) -> None:
    text = " || ".join(f"id=@p{number}" for number in range(4000))
    known = {f"@p{number}": number for number in range(4000)}
    assert ids(service, type="AbstraktMappe", query=text, parameters=known) == ["4", "3"]
    every = " && ".join(f"id!=@p{number}" for number in range(5, 3005))
    assert ids(service, type="AbstraktMappe", query=every, parameters=known) == ["4", "3"]


def test_an_older_archive_does_not_know_the_newer_names(tmp_path: Path) -> None:
    older = open_service(tmp_path, Settings(show_newer=False))
    try:
        for body in ({"type": "Posisjon"}, {"type": "Mappe", "query": "refPosisjon=@n", "parameters": {"@n": None}}):
            with pytest.raises(Refusal):
                ask(older, **body)
    finally:
        older.close()


def test_a_query_that_runs_too_long_is_ended(service: Service) -> None:
    endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
    moments = chain([0.0, 0.5], repeat(1.5))
    deadline = Deadline(1.0, now_s=lambda: next(moments))
    with (
        pytest.raises(Refusal, match="takes longer than 1 s"),
        service.db.clock.within(deadline),
        service.db.snapshot() as db,
    ):
        db.execute(endless)
    with service.db.snapshot() as db:
        assert db.execute("SELECT 1").fetchone() == (1,)


def test_a_cut_off_write_to_a_temporary_table_leaves_the_reader_usable(service: Service) -> None:
    endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    moments = chain([0.0], repeat(2.0))
    with (
        pytest.raises(Refusal, match="takes longer"),
        service.db.clock.within(Deadline(1.0, now_s=lambda: next(moments))),
        service.db.snapshot() as db,
    ):
        db.execute("CREATE TEMP TABLE found (id INTEGER)")
        db.execute(f"INSERT INTO found {endless}")
    with service.db.snapshot() as db:
        assert db.execute("SELECT COUNT(*) FROM temp.sqlite_master").fetchone() == (0,)


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6))
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)
MEMBERS = {
    "type": st.sampled_from(["Mappe", "AbstraktRegistrering", "Tull"]) | VALUES,
    "limit": st.sampled_from([1, "5"]) | VALUES,
    "offset": st.sampled_from([0, "5"]) | VALUES,
    "query": st.sampled_from(["id=@a", "tittel%=@a", "opprettetDato=[@a:@b]", "#a.id != @b", "saksaar=@a"]) | VALUES,
    "parameters": st.fixed_dictionaries({}, optional={"@a": SCALARS, "@b": SCALARS}) | VALUES,
    "joins": st.fixed_dictionaries({}, optional={"#a": st.sampled_from(["refMappe", "refArkivdel"]) | VALUES}) | VALUES,
    "sortOrder": st.lists(st.fixed_dictionaries({"field": VALUES, "order": VALUES}), max_size=2) | VALUES,
    "publicUse": VALUES,
}
BODIES: st.SearchStrategy[dict[str, object]] = st.fixed_dictionaries({}, optional=MEMBERS)


@settings(max_examples=300, deadline=None)
@given(body=BODIES)
def test_no_body_raises_anything_but_a_refusal(service: Service, body: dict[str, object]) -> None:

    try:
        query(Call(service, Caller("x", "X", Sight()), body=body))
    except Refusal as refused:
        assert refused.status == 400
