"""Random values of every type go into a SIARD archive and back, and each is the one it was: three thousand of each,
with NOARKIT_DEEP=1 ten thousand.

What stands in the archive is read here by a reader of its own: the XML as any parser has it, and the text of each cell
as the specification writes that type.
"""

from __future__ import annotations

import math
import os
import random
import re
import sqlite3
import struct
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
import sqlalchemy as sa

from noarkit.forms.siard.rules.run import validate_siard
from noarkit.forms.siard.source.live import live_source
from noarkit.forms.siard.sqlite.database import SqliteOrder, sqlite_of
from noarkit.forms.siard.write.archive import SiardOrder, write_siard
from tests.sources.database import sample as samples
from tests.sources.database.conftest import made
from tests.sources.database.sample import Sample

COUNT = 10_000 if os.environ.get("NOARKIT_DEEP") else 3_000
Make = Callable[[random.Random], object]
LETTERS = "abcæøåÆØÅ \t\n\r\\<>&\"'\x01\x1f\x7f\x85\u2028漢😀  "


def text(dice: random.Random) -> str:
    return "".join(dice.choices(LETTERS, k=dice.randint(0, 12)))


def double(dice: random.Random) -> float:
    while not math.isfinite(found := struct.unpack("<d", dice.randbytes(8))[0]):
        pass
    return float(found)


def exact(figures: int, scale: int) -> Make:
    def one(dice: random.Random) -> Decimal:
        return Decimal(dice.randint(-(10**figures) + 1, 10**figures - 1)).scaleb(-scale)

    return one


def moment(dice: random.Random, first: int = 1, last: int = 9999) -> datetime:
    begin = datetime(first, 1, 1)
    span = (datetime(last, 12, 31) - begin).days
    return begin + timedelta(dice.randint(0, span), dice.randint(0, 86_399), dice.randint(0, 999_999))


INTEGERS: Make = lambda dice: dice.randint(-(2**63), 2**63 - 1)  # noqa: E731  # a row of a table
BYTES: Make = lambda dice: dice.randbytes(dice.randint(0, 20))  # noqa: E731  # the same
LOCAL: dict[str, Make] = {
    "INTEGER": INTEGERS,
    "NUMERIC": lambda dice: dice.choice([dice.randint(-(2**63), 2**63 - 1), dice.randint(0, 50) / 4, double(dice)]),
    "DECIMAL(10,2)": lambda dice: dice.choice([41, 41.5, dice.randint(-999, 999), dice.randint(-9999, 9999) / 100]),
    "DECIMAL(9)": lambda dice: dice.randint(-(10**9), 10**9),
    "DOUBLE": double,
    "BOOLEAN": lambda dice: dice.randint(0, 1),
    "TEXT": text,
    "BLOB": BYTES,
    "DATE": lambda dice: moment(dice).date().isoformat(),
    "TIME": lambda dice: moment(dice).time().replace(microsecond=0).isoformat(),
    "TIMESTAMP": lambda dice: moment(dice).isoformat(" "),
}
POSTGRESQL: dict[str, Make] = {
    "bigint": INTEGERS,
    "smallint": lambda dice: dice.randint(-(2**15), 2**15 - 1),
    "numeric": lambda dice: exact(dice.randint(1, 40), dice.randint(0, 30))(dice),
    "numeric(30,10)": exact(30, 10),
    "double precision": double,
    "boolean": lambda dice: dice.random() < 0.5,
    "text": text,
    "varchar(40)": text,
    "bytea": BYTES,
    "date": lambda dice: moment(dice).date(),
    "time": lambda dice: moment(dice).time(),
    "timestamp": moment,
    "timestamptz": lambda dice: moment(dice, 2, 9998).replace(tzinfo=UTC),
    "integer[]": lambda dice: [dice.randint(-9, 9) for _ in range(dice.randint(0, 4))],
    "numeric[]": lambda dice: [exact(9, 2)(dice) for _ in range(dice.randint(0, 4))],
}
MARIADB: dict[str, Make] = {
    "bigint": INTEGERS,
    "bigint unsigned": lambda dice: dice.randint(0, 2**64 - 1),
    "decimal(30,10)": exact(30, 10),
    "double": double,
    "boolean": lambda dice: dice.randint(0, 1),
    "longtext": text,
    "varchar(40)": text,
    "longblob": BYTES,
    "date": lambda dice: moment(dice, 1000).date(),
    "time(6)": lambda dice: moment(dice).time(),
    "datetime(6)": lambda dice: moment(dice, 1000),
}


@pytest.mark.parametrize("name", LOCAL)
def test_values_of_sqlite_are_the_same_there_and_back(name: str, tmp_path: Path) -> None:
    place = tmp_path / "x.db"
    with closing(sqlite3.connect(place)) as db:
        db.execute(f"CREATE TABLE t (id INTEGER PRIMARY KEY, v {name})")
        db.executemany("INSERT INTO t (v) VALUES (?)", ([value] for value in values(LOCAL[name], name)))
        db.commit()
        put = db.execute("SELECT typeof(v), v FROM t ORDER BY id").fetchall()
    target = archived(f"sqlite:///{place}", tmp_path)
    kind, cells = read_alone(target)
    if name.startswith(("NUMERIC", "DECIMAL")):
        assert kind in ("DECIMAL", "BIGINT")
    assert [alike(cell) for cell in cells] == [alike(value) for _, value in put]
    sqlite_of(target, tmp_path / "back.db")
    with closing(sqlite3.connect(tmp_path / "back.db")) as db:
        back = db.execute("SELECT typeof(v), v FROM t ORDER BY id").fetchall()
    assert [(a, alike(b)) for a, b in back] == [(a, alike(b)) for a, b in put]


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sample]:
    yield from made("postgresql", tmp_path_factory.mktemp("postgresql"), "v")


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sample]:
    yield from made("mysql", tmp_path_factory.mktemp("mariadb"), "v")


@pytest.mark.parametrize("name", POSTGRESQL)
def test_values_of_postgresql_are_the_same_there_and_back(name: str, postgresql: Sample, tmp_path: Path) -> None:
    there_and_back(postgresql, name, POSTGRESQL[name], tmp_path)


@pytest.mark.parametrize("name", MARIADB)
def test_values_of_mariadb_are_the_same_there_and_back(name: str, mariadb: Sample, tmp_path: Path) -> None:
    there_and_back(mariadb, name, MARIADB[name], tmp_path)


def there_and_back(sample: Sample, name: str, make: Make, place: Path) -> None:
    told = values(make, name)
    with samples.engine(sample.url).begin() as db:
        for table in sa.inspect(db).get_table_names():
            db.exec_driver_sql("SET foreign_key_checks = 0" if sample.family == "mysql" else "SELECT 1")
            quoted = f"`{table}`" if sample.family == "mysql" else f'"{table}" CASCADE'
            db.exec_driver_sql(f"DROP TABLE IF EXISTS {quoted}")
        db.exec_driver_sql(f"CREATE TABLE t (id integer PRIMARY KEY, v {name})")
        rows = [(number, value) for number, value in enumerate(told)]
        db.exec_driver_sql("INSERT INTO t VALUES (%s, %s)", rows)
        put = [row[0] for row in db.exec_driver_sql("SELECT v FROM t ORDER BY id")]
    target = archived(sample.url, place)
    _, cells = read_alone(target)
    assert [alike(cell) for cell in cells] == [alike(value) for value in put]
    sqlite_of(target, place / "back.db", SqliteOrder(bare=True))
    with closing(sqlite3.connect(place / "back.db")) as db:
        back = [row[0] for row in db.execute("SELECT v FROM t ORDER BY id")]
    assert [(value is None) for value in back] == [(value is None) for value in put]


def values(make: Make, name: str) -> list[object]:
    dice = random.Random(f"siard {name}")
    return [None if dice.random() < 0.01 else make(dice) for _ in range(COUNT)]


def archived(url: str, place: Path) -> Path:
    target = place / "x.siard"
    with live_source(url, {"data_owner": "o", "data_origin_timespan": "t"}, schemas=()) as source:
        write_siard(source, target, SiardOrder())
    assert validate_siard(target).valid
    return target


def read_alone(path: Path) -> tuple[str, list[object]]:
    """The type of the column `v` of the table `t`, and its cells in the order of the key."""
    space = "{http://www.bar.admin.ch/xmlns/siard/2/metadata.xsd}"
    with zipfile.ZipFile(path) as archive:
        metadata = ElementTree.fromstring(archive.read("header/metadata.xml"))
        for schema in metadata.iter(f"{space}schema"):
            for table in schema.iter(f"{space}table"):
                if table.findtext(f"{space}name") == "t":
                    folders = (schema.findtext(f"{space}folder"), table.findtext(f"{space}folder"))
                    column = next(one for one in table.iter(f"{space}column") if one.findtext(f"{space}name") == "v")
                    kind = column.findtext(f"{space}type") or ""
                    is_array = column.find(f"{space}cardinality") is not None
                    content = archive.read(f"content/{folders[0]}/{folders[1]}/{folders[1]}.xml")
    found: dict[int, object] = {}
    for row in ElementTree.fromstring(content):
        cells = {one.tag.rpartition("}")[2]: one for one in row}
        number = int(cells["c1"].text or "")
        if "c2" not in cells:
            found[number] = None
        elif is_array:
            found[number] = [value_of(kind, one.text or "") for one in cells["c2"]]
        else:
            found[number] = value_of(kind, cells["c2"].text or "")
    return kind, [found[number] for number in sorted(found)]


def value_of(kind: str, told: str) -> object:
    """The text of a cell as a value, by its SQL type."""
    plain = re.sub(r"\\u([0-9A-Fa-f]{4})", lambda one: chr(int(one[1], 16)), told)
    if kind in ("BIGINT", "INTEGER", "SMALLINT"):
        return int(plain)
    if kind.startswith("DECIMAL"):
        return Decimal(plain)
    if kind in ("DOUBLE PRECISION", "REAL"):
        return float(plain)
    if kind == "BOOLEAN":
        return {"true": True, "false": False}[plain]
    if kind.startswith("BINARY"):
        return bytes.fromhex(plain)
    if kind == "DATE":
        return date.fromisoformat(plain.removesuffix("Z"))
    if kind.startswith("TIMESTAMP"):
        return datetime.fromisoformat(plain.removesuffix("Z"))
    if kind.startswith("TIME"):
        return time.fromisoformat(plain.removesuffix("Z"))
    return plain


def alike(value: object) -> object:
    """What two values are compared by: numbers exactly, moments in UTC, the server's times of day as such."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, timedelta):
        return (datetime.min + value).time().isoformat()
    if isinstance(value, datetime):
        return (value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value).isoformat(" ")
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [alike(one) for one in value]
    return value
