"""A source that is no longer what was planned, and a run that does not remember what it did."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.loading.damage.damage import Damage, Step, counts
from tests.loading.damage.library import Library
from tests.loading.damage.records import CONTENTS, RECORDS

# what a run that is not to be trusted raises, in the place of a finding
PLAN_CHANGED, OTHER_ARCHIVE = "F402", "F404"

NEVER_LOADED = "a plan that was never loaded"


def _source(name: str, code: str, touched: int, act: Callable[[Library], object]) -> Damage:
    def step(library: Library) -> None:
        act(library)

    return Damage(name, "source", (step,), {"source": touched}, code, shown=False)


def _content(name: str, code: str, locator: str, content: bytes) -> Damage:
    def act(library: Library) -> None:
        library.source.contents[locator] = content

    return _source(name, code, 1, act)


def _without(*keys: str) -> Callable[[Library], object]:
    def act(library: Library) -> None:
        library.source.keys = [key for key in library.source.keys if key not in keys]

    return act


def _gone(*locators: str) -> Callable[[Library], object]:
    def act(library: Library) -> None:
        for locator in locators:
            del library.source.contents[locator]

    return act


def _two_changed_places(library: Library) -> None:
    library.source.contents.update(p1=CONTENTS["p2"], p2=CONTENTS["p1"])


SOURCE = (
    _content("a source file with other bytes, the same size and time", "V303", "p2", b"letter two, page TWO"),
    _content("an empty source file that is not empty any more", "V303", "r2", b"something"),
    _content("a source file that was emptied", "V303", "r1", b""),
    _source("two source files that changed places", "V303", 2, _two_changed_places),
    _source("a source file that is gone", "V103", 1, _gone("p1+2")),
    _source("all source files gone", "V103", len(CONTENTS), _gone(*CONTENTS)),
    _source("a source record that is gone", "V101", 1, _without("r3")),
    _source("most source records gone", "V101", 5, _without("p1", "p2", "r1", "r2", "r3")),
    _source("all source records gone", "V104", len(RECORDS), _without(*RECORDS)),
)


def _n(key: str) -> str:
    """The number of an entity in the plan, as SQL: the plan is attached as `graph`."""
    return f"(SELECT n FROM graph.entity WHERE key = '{key}')"


def _journal(name: str, code: str, touched: int, *statements: str, shown: bool = False) -> Damage:
    def step(library: Library) -> None:
        with library.journal() as db:
            db.execute("ATTACH ? AS graph", (str(library.folder.graph),))
            for text in statements:
                assert db.execute(text).rowcount != 0, text

    return Damage(name, "run", (step,), {"run.db": touched}, code, shown)


def _exchanged(name: str, code: str, column: str, one: str, other: str) -> Damage:
    """The journal's rows of two entities have each the other's value of a column."""

    def step(library: Library) -> None:
        with library.journal() as db:
            db.execute("ATTACH ? AS graph", (str(library.folder.graph),))
            asked = f"SELECT n, {column} FROM entity WHERE n IN ({_n(one)}, {_n(other)}) ORDER BY n"
            (first, its), (second, others) = db.execute(asked).fetchall()
            assert its != others
            db.executemany(f"UPDATE entity SET {column} = ? WHERE n = ?", ((others, first), (its, second)))

    return Damage(name, "run", (step,), {"run.db": 2}, code, shown=False)


def _run(name: str, code: str, touched: str, step: Step) -> Damage:
    return Damage(name, "run", (step,), counts(touched), code, shown=False)


def _plan_field(library: Library) -> None:
    with library.graph() as db:
        db.execute("UPDATE entity SET fields = replace(fields, 'Letter one', 'Letter 0ne') WHERE key = 'p1'")


def _plan_without_record(library: Library) -> None:
    with library.graph() as db:
        db.execute("DELETE FROM record WHERE key = 'r3'")


def _plan_digest(library: Library) -> None:
    told = library.folder.plan()
    library.folder.write_plan({**told, "sha256": "0" * 64})


def _plan_and_digest(library: Library) -> None:
    from noarkit.graph.freeze import digest
    from noarkit.graph.store import GraphStore

    _plan_field(library)
    store = GraphStore.open(library.folder.graph)
    told = {**library.folder.plan(), "sha256": digest(store.db)}
    store.close()
    library.folder.write_plan(json.loads(json.dumps(told)))


def _never_ingested(library: Library) -> None:
    for path in library.folder.path.glob("run.db*"):
        path.unlink()


_BELOW_R3 = "(SELECT n FROM graph.entity WHERE record = (SELECT n FROM graph.record WHERE key = 'r3'))"
_NO_FILES = "UPDATE entity SET file = NULL, sha256 = NULL, bytes = NULL WHERE file IS NOT NULL"


def _with_id_of(one: str, other: str) -> str:
    return f"UPDATE entity SET id = (SELECT id FROM entity WHERE n = {_n(other)}) WHERE n = {_n(one)}"


def _left_out(state: str, code: str) -> str:
    return f"INSERT INTO left_out SELECT bundle, '{state}', '{code}', '{{}}' FROM graph.entity WHERE key = 'r3'"


RUN = (
    _journal("a record that the journal forgot", "open", 1, f"DELETE FROM entity WHERE n = {_n('r3')}"),
    _journal(
        "a record that the journal forgot with all below it", "open", 4, f"DELETE FROM entity WHERE n IN {_BELOW_R3}"
    ),
    _journal("a document that the journal forgot", "", 1, f"DELETE FROM entity WHERE n = {_n('r1#d1')}"),
    _journal("a version that the journal forgot", "", 1, f"DELETE FROM entity WHERE n = {_n('r1#d1v1')}"),
    _journal("all files that the journal forgot", "", 9, _NO_FILES),
    _journal("a keyword that the journal forgot", "", 1, f"DELETE FROM entity WHERE n = {_n('r1#word')}"),
    _exchanged("records whose ids changed places", "V203", "id", "r2", "r3"),
    _exchanged("documents whose ids changed places", "V206", "id", "r1#d1", "r2#d1"),
    _exchanged("versions whose ids changed places", "V206", "id", "r1#d1v1", "p2#d1v1"),
    _exchanged("versions whose files changed places", "V231", "file", "r1#d1v1", "p2#d1v1"),
    _exchanged("versions whose checksums changed places", "V302", "sha256", "r1#d1v1", "p2#d1v1"),
    _journal(
        "a record with an id that is not there", "V203", 1, f"UPDATE entity SET id = '999999' WHERE n = {_n('r3')}"
    ),
    _journal("a document with the id of a record", "V204", 1, _with_id_of("r1#d1", "r2")),
    _journal(
        "a checksum that is not that of the file",
        "V302",
        1,
        f"UPDATE entity SET sha256 = '{'0' * 64}' WHERE n = {_n('r1#d1v1')}",
    ),
    _journal("a record that the journal says was refused", "V208", 1, _left_out("refused", "F310")),
    _journal(
        "a record that was set aside",
        "V209",
        5,
        _left_out("set_aside", "F204"),
        f"DELETE FROM entity WHERE n IN {_BELOW_R3}",
    ),
    _journal("a record in a state that there is not", "V100", 1, f"UPDATE entity SET state = 'x' WHERE n = {_n('r3')}"),
    _journal("another archive's name", OTHER_ARCHIVE, 1, "UPDATE meta SET value = 'another' WHERE name = 'archive'"),
    _run(NEVER_LOADED, "open", "", _never_ingested),
    _run("a plan with another title", "F402", "graph.db 1", _plan_field),
    _run("a plan without a record", "F402", "graph.db 1", _plan_without_record),
    _run("another digest of the plan", "F402", "plan.json 1", _plan_digest),
    _run("a plan that was frozen anew with another title", "V210", "graph.db 1, plan.json 1", _plan_and_digest),
)

DAMAGES = (*SOURCE, *RUN)
