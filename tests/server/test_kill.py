"""The service is killed at random moments under load; what it acknowledged stands, and nothing stands by halves.

The ordinary suite kills it a few times; NOARKIT_DEEP=1 does it two hundred times.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.server.wire import BASE, Wire, document, link, save, small_archive, wire_to
from tests.waiting import PATIENCE_S

KILLS = 200 if os.environ.get("NOARKIT_DEEP") == "1" else 8
CONNECTIONS = 3
RECORDS = 3

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills a process the hard way")


@dataclass(slots=True)
class Load:
    """What the clients of one round asked for, and what they were told."""

    asked: list[str] = field(default_factory=list)
    saved: dict[str, dict[str, str]] = field(default_factory=dict)
    uploaded: dict[int, str] = field(default_factory=dict)
    unforeseen: list[str] = field(default_factory=list)


def test_no_kill_leaves_half_a_transaction_or_loses_an_acknowledged_one(tmp_path: Path) -> None:
    chance = random.Random(20260101)
    series, file_ids, checked = "", set[int](), 0
    for number in range(5 * KILLS):
        if number >= KILLS and checked >= KILLS:  # a busy machine commits little before a kill
            break
        with Killable(tmp_path) as (child, wire):
            series = series or small_archive(wire)["@series"]
            load = Load()
            clients = [
                threading.Thread(target=work, args=(wire, series, f"{number}-{at}", load)) for at in range(CONNECTIONS)
            ]
            for client in clients:
                client.start()
            time.sleep(chance.uniform(0.01, 0.45))
            child.kill()
            for client in clients:
                client.join()
        assert load.unforeseen == []
        assert file_ids.isdisjoint(load.uploaded), "a file id was given twice"
        file_ids.update(load.uploaded)
        checked += check(tmp_path, load)
    assert checked >= KILLS, "hardly anything was committed before the kills"
    check_all(tmp_path)


class Killable:
    """A service in a process of its own, which the block has to kill."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    def __enter__(self) -> tuple[subprocess.Popen[bytes], Wire]:
        command = [sys.executable, "-m", "noarkit.embedded", str(self._data_dir), str(os.getpid())]
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._child.stdout is not None
        told = json.loads(self._child.stdout.readline())
        at = wire_to(told["url"])
        secret = (self._data_dir / "clients.toml").read_text().split('secret = "')[1].split('"')[0]
        return self._child, at.bearing(at.get_token("admin", secret))

    def __exit__(self, *about: object) -> None:
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()


def work(wire: Wire, series: str, name: str, load: Load) -> None:
    """One client: uploads files and saves folders with records that refer to them, until the service is gone."""
    chance = random.Random(name)
    with closing(http.client.HTTPConnection(wire.host, wire.port, timeout=PATIENCE_S)) as connection:
        try:
            for at in range(10_000):
                files = [upload(connection, wire, chance, load) for _ in range(RECORDS)]
                tag = f"tag {name} {at}"
                load.asked.append(tag)
                told = post(
                    connection, wire, "transaction", json.dumps({"actions": actions(series, tag, files)}).encode()
                )
                load.saved[tag] = {key: value["id"] for key, value in told["saved"].items()}
        except (OSError, http.client.HTTPException):
            return  # the service is gone
        except Exception as fault:  # noqa: BLE001  # whatever it is, the test has to tell of it
            load.unforeseen.append(repr(fault))


def upload(connection: http.client.HTTPConnection, wire: Wire, chance: random.Random, load: Load) -> str:
    size = chance.choice((0, 10, 4096, 4096, 4096, 70_000, 400_000))
    content = chance.randbytes(size)
    file_id = str(post(connection, wire, "upload", content)["id"])
    load.uploaded[int(file_id)] = hashlib.sha256(content).hexdigest()
    return file_id


def post(
    connection: http.client.HTTPConnection, wire: Wire, path: str, content: bytes
) -> dict[str, dict[str, dict[str, str]]]:
    headers = {
        "Authorization": f"Bearer {wire.token}",
        "Content-Type": "application/json" if path == "transaction" else "application/octet-stream",
        "Content-Disposition": "attachment; filename=a.bin",
    }
    connection.request("POST", f"{BASE}/{path}", content, headers)
    response = connection.getresponse()
    body = response.read()
    if response.status != 200:
        raise ValueError(f"{response.status} {body!r}")
    told: dict[str, dict[str, dict[str, str]]] = json.loads(body)
    return told


def actions(series: str, tag: str, files: list[str]) -> list[dict[str, object]]:
    listed = [save("Mappe", "@m", tittel=tag), link("Mappe", "@m", "refArkivdel", series)]
    for at, file_id in enumerate(files):
        listed += [
            save("Basisregistrering", f"@r{at}", tittel=tag),
            link("Basisregistrering", f"@r{at}", "refMappe", "@m"),
        ]
        listed += document(f"@d{at}", f"@v{at}", f"@r{at}", file_id)
    return listed


def check(data_dir: Path, load: Load) -> int:
    """Judges one round; says how many transactions stand."""
    with (
        closing(sqlite3.connect(data_dir / "archive.db")) as db,
        closing(sqlite3.connect(data_dir / "uploads.db")) as uploads,
    ):
        stand = 0
        for tag in load.asked:
            found = objects(db, tag)
            assert found in ([], whole(load.saved.get(tag), found)), f"{tag} stands by halves: {found}"
            assert found or tag not in load.saved, f"{tag} was acknowledged and is lost"
            stand += bool(found)
        for file_id, sha256 in load.uploaded.items():
            row = db.execute("SELECT sha256 FROM stored_file WHERE file_id = ?", (file_id,)).fetchone()
            row = row or uploads.execute("SELECT sha256 FROM upload WHERE file_id = ?", (file_id,)).fetchone()
            assert row == (sha256,), f"upload {file_id} was acknowledged and is lost"
            assert digest(data_dir, sha256) == sha256
    return stand


def objects(db: sqlite3.Connection, tag: str) -> list[tuple[str, str]]:
    """What stands of a transaction: its objects in order, as (type, id)."""
    return [
        (kind, str(object_id))
        for kind, sql in (
            ("Mappe", "SELECT id FROM o_abstraktmappe WHERE tittel = ?"),
            ("Basisregistrering", "SELECT id FROM o_abstraktregistrering WHERE tittel = ? ORDER BY id"),
            ("Dokument", f"{_DOCUMENTS} ORDER BY id"),
            ("Dokumentversjon", f"SELECT id FROM o_dokumentversjon WHERE refDokument IN ({_DOCUMENTS}) ORDER BY id"),
        )
        for (object_id,) in db.execute(sql, (tag,))
    ]


_DOCUMENTS = (
    "SELECT id FROM o_dokument WHERE refRegistrering IN (SELECT id FROM o_abstraktregistrering WHERE tittel = ?)"
)


def whole(saved: dict[str, str] | None, found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """What must stand of a transaction: with the ids that were told, where its answer came."""
    kinds = [("Mappe", "@m")]
    for kind, letter in (("Basisregistrering", "r"), ("Dokument", "d"), ("Dokumentversjon", "v")):
        kinds += [(kind, f"@{letter}{at}") for at in range(RECORDS)]
    if saved is None:
        return (
            [(kind, object_id) for (kind, _), (_, object_id) in zip(kinds, found, strict=False)]
            if len(found) == len(kinds)
            else [("whole", "")]
        )
    return [(kind, saved[name]) for kind, name in kinds]


def check_all(data_dir: Path) -> None:
    """Judges the archive as a whole: every version's file, the log, the database itself."""
    with closing(sqlite3.connect(data_dir / "archive.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        for file_id, sha256, size_bytes in db.execute(
            "SELECT referanseDokumentfil, sjekksum, filstoerrelse FROM o_dokumentversjon"
        ):
            assert db.execute("SELECT sha256 FROM stored_file WHERE file_id = ?", (file_id,)).fetchone() == (sha256,)
            assert digest(data_dir, sha256) == sha256
            assert path_of(data_dir, sha256).stat().st_size == size_bytes
        made = db.execute(
            "SELECT count(*), count(DISTINCT object_id) FROM change_log WHERE revision_type = 'CREATE'"
        ).fetchone()
        stand = sum(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in object_tables(db))
        assert made == (stand, stand)


def object_tables(db: sqlite3.Connection) -> Iterator[str]:
    for (name,) in db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'o\\_%' ESCAPE '\\'"
    ).fetchall():
        yield name


def path_of(data_dir: Path, sha256: str) -> Path:
    return data_dir / "files" / sha256[:2] / sha256


def digest(data_dir: Path, sha256: str) -> str:
    return hashlib.sha256(path_of(data_dir, sha256).read_bytes()).hexdigest()
