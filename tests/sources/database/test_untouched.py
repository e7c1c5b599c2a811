"""Nothing is ever written to a database: by its own statistics, by its checksums, and with no right but to read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.errors import SourceDenied, SourceFault
from noarkit.events import ignore_event
from noarkit.forms.finders import open_source
from noarkit.records import SourceRecord
from noarkit.sources.database.address import read_address
from noarkit.sources.database.session import connect
from noarkit.sources.database.source import DatabaseSource
from noarkit.sources.scan import scan
from tests.sources.database.sample import Sample, engine

READER = f"leser_{os.getpid()}"
# what all databases of a server share others may write, and its own statistics the server writes itself
_WRITTEN = (
    "SELECT sum(n_tup_ins), sum(n_tup_upd), sum(n_tup_del), sum(n_tup_hot_upd) FROM pg_stat_all_tables"
    " JOIN pg_class ON pg_class.oid = relid WHERE NOT relisshared"
    " AND schemaname <> 'pg_toast' AND pg_class.relname NOT LIKE 'pg_statistic%%'"
)


@pytest.fixture
def reader(server: Sample, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an account that may read the tables, and nothing else."""
    name = server.url.rpartition("/")[2]
    who = READER if server.family == "postgresql" else f"'{READER}'@'127.0.0.1'"
    if server.family == "postgresql":
        server.run(f"CREATE ROLE {who} LOGIN", f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {who}")
        server.run(*(f"GRANT SELECT ON LARGE OBJECT {oid} TO {who}" for oid in _large_objects(server)))
        server.run(f"REVOKE CREATE, TEMPORARY ON DATABASE {name} FROM PUBLIC")
    else:
        server.run(f"CREATE USER {who}", f"GRANT SELECT ON {name}.* TO {who}")
    host = server.url.partition("//")[2].rpartition("@")[2]
    yield f"{server.url.partition('//')[0]}//{READER}@{host}"
    if server.family == "postgresql":
        server.run(f"DROP OWNED BY {who}", f"DROP ROLE {who}")
    else:
        server.run(f"DROP USER {who}")


def _large_objects(server: Sample) -> list[int]:
    with engine(server.url).connect() as db:
        return [row[0] for row in db.exec_driver_sql("SELECT oid FROM pg_largeobject_metadata").fetchall()]


def everything(url: str, place: Path) -> int:
    """Scans, proposes, reads all rows and all documents; how many documents there were."""
    before = Path.cwd()
    os.chdir(place)
    try:
        source = open_source(url)
        assert isinstance(source, DatabaseSource)
        scan(source, ignore_event)
        source.proposal(ignore_event)
        count = 0
        for item in source.records(ignore_event):
            assert isinstance(item, SourceRecord)
            assert item.fields.get("row_used") in (True, False, None)
            for content in item.contents:
                with source.open(content) as stream:
                    stream.read()
                    assert stream.still_the_same()
                count += 1
        return count
    finally:
        os.chdir(before)


def picture(server: Sample) -> object:
    """What the server itself says was written."""
    with engine(server.url).connect() as db:
        if server.family == "postgresql":
            db.exec_driver_sql("SELECT pg_stat_force_next_flush()")
            return [tuple(row) for row in db.exec_driver_sql(_WRITTEN).fetchall()]
        tables = ", ".join(sorted(server.rows))
        sums = [tuple(row) for row in db.exec_driver_sql(f"CHECKSUM TABLE {tables}").fetchall()]
        touched = db.exec_driver_sql(
            "SELECT table_name, update_time FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1"
        )
        return sums, [tuple(row) for row in touched.fetchall()]


def test_the_server_counts_no_row_written_and_reading_needs_no_other_right(server: Sample, reader: str) -> None:
    before = picture(server)
    usual = sum("innhold" in key or "skann" in key for key in server.documents)
    short_ones = server.family == "postgresql"  # its bytea has no length, so that a few bytes are a document, too
    assert everything(reader, server.place) == usual + short_ones
    assert picture(server) == before


def test_not_even_who_may_write_can_write_through_a_session_of_ours(sample: Sample) -> None:
    address = read_address(sample.url)
    assert address is not None
    for statement in ("DELETE FROM merknad", "CREATE TABLE ny (id integer)", "UPDATE sak SET tittel = 'x'"):
        with connect(address) as session, pytest.raises(SourceFault) as fault:
            session.rows(statement)
        assert isinstance(fault.value, SourceDenied), statement
    with sample.owner() as db:
        assert db.exec_driver_sql("SELECT count(*) FROM merknad").scalar() == sample.rows["merknad"]


def test_a_table_that_may_not_be_read_stops_a_plan_and_is_left_out_of_a_proposal(server: Sample, reader: str) -> None:
    if server.family == "postgresql":
        server.run(f"REVOKE SELECT ON logg FROM {READER}")
    else:
        name, who = server.url.rpartition("/")[2], f"'{READER}'@'127.0.0.1'"
        server.run(f"REVOKE SELECT ON {name}.* FROM {who}")
        server.run(*(f"GRANT SELECT ON {name}.{table} TO {who}" for table in server.rows if table != "logg"))
    source = open_source(reader)
    if server.family == "postgresql":  # MariaDB does not tell of tables that may not be read
        with pytest.raises(SourceDenied):
            list(source.records(ignore_event))
        assert "may not read these, and a plan stops at them: logg" in source.proposal(ignore_event)
    assert '"logg"' not in source.proposal(ignore_event)
