"""Over an air gap and back: plan, pack, load, answer, close, on the command line."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import noarkit
from noarkit.airgap.source.index import INDEX
from noarkit.airgap.source.source import SealedSource
from noarkit.cli.contract import schema
from noarkit.graph.entity import Content
from noarkit.loading.delivery import open_deliveries
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import outcomes
from noarkit.reports import plan_report
from noarkit.services.known_keys import KnownKeys
from noarkit.services.source.run_watermarks import known_file
from noarkit.services.standins.server import StandinSpec
from tests.airgap.gap import Gap, files, forged
from tests.services.standing import standing

pytestmark = pytest.mark.usefixtures("one_archive")

CHANGES = """<?xml version="1.0" encoding="UTF-8"?>
<endringslogg xmlns="http://www.arkivverket.no/standarder/noark5/endringslogg">
<endring>
<referanseArkivenhet>{unit}</referanseArkivenhet>
<referanseMetadata>tittel</referanseMetadata>
<endretDato>2020-01-02T03:04:05</endretDato>
<endretAv>Kari</endretAv>
<tidligereVerdi>a</tidligereVerdi>
<nyVerdi>b</nyVerdi>
</endring>
</endringslogg>
"""


@pytest.mark.parametrize("name", ["bundle", "bundle.zip", "bundle.tar"])
def test_a_plan_crosses_with_its_documents_and_a_receipt_closes_the_case(name: str, gap: Gap) -> None:
    gap.cross(name)
    assert "Files alike" not in gap.out and "Receipt for the sender: receipt.zip" in gap.out
    assert gap.status()["state"] == "sealed"
    assert gap.close() == 0, gap.err
    assert "Delivered: everything arrived. The run is closed." in gap.out
    assert "Documents that arrived with the checksum they were sent with: 3 of 3" in gap.out
    told = gap.status()
    assert (told["state"], told["archived"], told["open"]) == ("delivered", 3, 0)
    assert gap.run("runs") == 0 and "delivered" in gap.out
    assert gap.run("status", "run") == 0 and "run/delivered-ids.csv" in gap.out
    ids = Path("run/delivered-ids.csv").read_text("utf-8-sig").splitlines()[1:]
    there = Path("there/ids.csv").read_text("utf-8-sig").splitlines()[1:]
    assert len(ids) == 3 and ids == there
    (page,) = Path("run").glob("delivered-*.html")
    assert "Everything arrived." in page.read_text("utf-8")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert gap.run("verify", "there", "--depth", "bytes") == 0, gap.err


@pytest.mark.parametrize("name", ["bundle", "bundle.zip", "bundle.tar"])
def test_several_threads_get_the_documents_of_a_bundle_that_they_asked_for(name: str, gap: Gap) -> None:
    files(gap.home / "src", *(f"many/{number}.txt" for number in range(100)))
    assert gap.pack(name) == 0 and gap.load(name) == 0, gap.err
    folder = RunFolder(Path("there"))
    source = SealedSource(folder.graph, folder.path / INDEX)
    with closing(folder.open_graph()) as graph:
        rows = graph.db.execute("SELECT locator, name, size, sha256 FROM content ORDER BY entity").fetchall()
    contents = [Content(locator, name, size, None, sha256) for locator, name, size, sha256 in rows]

    def read(content: Content) -> str:
        with source.open(content) as stream:
            return stream.read().decode()

    assert len(contents) == 103
    with ThreadPoolExecutor(8) as threads:
        for _ in range(5):
            assert list(threads.map(read, contents)) == [
                f"{gap.home / 'src'} {content.locator}" for content in contents
            ]


def test_every_step_says_as_json_what_it_did_and_keeps_to_the_contract(gap: Gap) -> None:
    judge = pytest.importorskip("jsonschema").Draft202012Validator(schema())

    def said(code: int, event: str) -> dict[str, object]:
        assert code == 0, gap.out
        lines = [json.loads(line) for line in gap.out.splitlines()]
        for line in lines:
            judge.validate(line)
        (found,) = [line for line in lines if line["event"] == event]
        return dict(found)

    packed = said(gap.pack("bundle.zip", "run", "--json"), "packed")
    assert (packed["documents"], packed["left_out"], packed["stood"]) == (3, 0, False)
    brought = said(gap.load("bundle.zip", "there", "--json"), "bundle")
    assert (brought["id"], brought["key"]) == (packed["id"], packed["fingerprint"])
    assert '"event": "seal_proven"' in gap.out
    verified = said(gap.answer("there", "receipt.zip", "--json"), "verified")
    assert verified["receipt"] == "receipt.zip"
    delivered = said(gap.close("run", "receipt.zip", "--json"), "delivered")
    assert delivered["good"] and delivered["compared"] == {
        "source records": {"planned": 3, "there": 3},
        "files": {"planned": 3, "there": 3},
    }
    assert said(gap.run("status", "run", "--json"), "status")["state"] == "delivered"
    assert said(gap.run("key", "show", gap.public("a"), "--json"), "key")["public"] is None


def test_a_plan_that_was_approved_is_packed_as_it_stands_and_the_same_command_again_finds_it(gap: Gap) -> None:
    assert gap.run("plan", "src", "-o", "run") == 0
    frozen = Path("run/graph.db").read_bytes()
    assert gap.run("plan", "run", "--pack", "bundle", "--seal-key", gap.key("a")) == 0, gap.err
    assert Path("run/graph.db").read_bytes() == frozen
    shutil.rmtree("src")
    assert gap.run("plan", "run", "--pack", "bundle", "--seal-key", gap.key("a")) == 0, gap.err
    assert "Already sealed, and unchanged: bundle" in gap.out
    files(Path("other"), "x.txt")
    assert gap.pack("second.zip", source="other") == 2
    assert gap.run("plan", "run", "--pack", "run/inside.zip", "--seal-key", gap.key("a")) == 2
    assert not Path("run/inside.zip").exists()


def test_a_bundle_and_all_that_is_made_of_it_is_for_its_owner_alone(gap: Gap) -> None:
    old = os.umask(0o022)
    try:
        gap.cross("bundle")
        assert gap.close() == 0
    finally:
        os.umask(old)
    open_to_others = [
        place
        for top in ("bundle", "there", "run")
        for place in [Path(top), *Path(top).rglob("*")]
        if place.name not in ("plan.json", "run.lock") and place.stat().st_mode & 0o077
    ]
    assert open_to_others == []
    assert stat.S_IMODE(Path("receipt.zip").stat().st_mode) == 0o600


def test_a_bundle_is_looked_at_before_it_is_loaded(gap: Gap) -> None:
    assert gap.pack() == 0
    assert gap.run("plan", "bundle.zip", "-o", "there", "--trust-key", gap.public("a")) == 0, gap.err
    assert "Read 3 records" in gap.out
    assert Path("there/plan.html").is_file() and not Path("there/run.db").exists()
    assert gap.run("ingest", "there", "--workers", 0) == 0, gap.err
    assert gap.status("there")["archived"] == 3


@pytest.mark.parametrize("command", ["scan", "validate", "plan"])
def test_a_bundle_is_refuse_sealed_and_no_package(command: str, gap: Gap) -> None:
    assert gap.pack("bundle") == 0
    more = ("-o", "elsewhere") if command == "plan" else ()
    assert gap.run(command, "bundle", *more) == 2
    assert "trust-key" in gap.err
    assert not Path("elsewhere").exists()


def test_a_database_crosses_with_the_documents_in_its_columns(gap: Gap) -> None:
    with closing(sqlite3.connect("cases.db")) as db:
        db.execute("CREATE TABLE letter (id INTEGER PRIMARY KEY, title TEXT, body BLOB)")
        db.executemany("INSERT INTO letter VALUES (?, ?, ?)", [(n, f"Brev {n}", os.urandom(5_000)) for n in range(5)])
        db.commit()
    url = f"sqlite:///{Path('cases.db').absolute()}"
    assert gap.pack("bundle.tar", source=url) == 0, gap.err
    Path("cases.db").unlink()
    assert gap.load("bundle.tar") == 0, gap.err
    assert gap.answer() == 0, gap.err
    assert gap.close() == 0, gap.err
    assert gap.status()["archived"] == 5


def test_a_package_crosses_with_its_change_log(gap: Gap, tmp_path: Path) -> None:
    first = f"embedded:{tmp_path / 'first'}"
    noarkit.ingest(noarkit.plan("src", "made").folder.path, archive=first, workers=0)
    noarkit.extract("extract", archive=first)
    found = re.search(r"<registrering[^>]*>\s*<systemID>([^<]+)", Path("extract/arkivstruktur.xml").read_text("utf-8"))
    assert found is not None
    log = CHANGES.format(unit=found.group(1))
    Path("extract/endringslogg.xml").write_text(log, "utf-8")
    assert gap.pack("bundle.zip", source="extract") == 0, gap.err
    shutil.rmtree("extract")
    assert gap.load("bundle.zip", "there", "--json") == 0, gap.out
    kept = [one for one in map(json.loads, gap.out.splitlines()) if one["event"] == "change_log_kept"]
    assert [one["entries"] for one in kept] == [1]
    assert Path("there/changelog.xml").read_text("utf-8") == log
    assert gap.run("verify", "there", "--depth", "bytes") == 0, gap.err


def test_a_service_crosses_and_the_next_plan_begins_where_this_one_ends(gap: Gap, tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing("crm", tmp_path, StandinSpec(2)) as held:
        here = held.site()
        planned = noarkit.plan("crm:standin", "run", settings=here)
        packed = noarkit.pack("run", "bundle.zip", seal_key=gap.key("a"), settings=here)
        assert packed.documents > 0 and not packed.already_packed
        assert noarkit.pack("run", "bundle.zip", seal_key=gap.key("a"), settings=here).already_packed
        received = noarkit.receive("bundle.zip", "there", trust_key=gap.public("a"))  # nothing is configured here
        assert received.records == planned.records
        loaded = noarkit.ingest("there", archive=archive, workers=0)
        assert loaded.numbers.archived == loaded.numbers.read > 0
        assert noarkit.acknowledge("there", "receipt.zip", seal_key=gap.key("b")).receipt == Path("receipt.zip")
        assert noarkit.check_receipt("run", "receipt.zip", trust_key=gap.public("b"), settings=here).good
        after = noarkit.plan("crm:standin", "after", settings=here)
        assert after.records.get("mapped", 0) < planned.records["mapped"]
        known_keys = KnownKeys(known_file(held.connection(), plan_report(RunFolder(Path("run")))["context"]["archive"]))
        arrived = [item.key for item in outcomes(RunFolder(Path("there")), "archived")]
        assert [key for key in arrived if not known_keys.has(key)] == [], "what arrived there is known here"


def test_what_was_loaded_before_is_already_there_and_its_checksums_are_told_all_the_same(gap: Gap) -> None:
    gap.cross()
    assert gap.close() == 0
    files(Path("src"), "case/a.txt", "case/b.txt", "other/c.txt")
    assert gap.pack("again.zip", "run2") == 0
    assert gap.load("again.zip", "there2") == 0, gap.err
    assert gap.status("there2")["already_there"] == 3
    assert gap.answer("there2", "receipt2.zip") == 0, gap.err
    assert gap.close("run2", "receipt2.zip") == 0, gap.err
    assert "arrived with the checksum they were sent with: 3 of 3" in gap.out


def test_documents_that_are_gone_or_others_when_they_are_packed_are_told_and_set_aside_there(gap: Gap) -> None:
    files(Path("src"), *(f"case/{n}.txt" for n in range(30)))
    assert gap.run("plan", "src", "-o", "run") == 0
    Path("src/case/3.txt").unlink()
    files(Path("src"), "case/7.txt", text="a longer hello")
    assert gap.pack() == 3
    assert "could not be read from the source: 2" in gap.out
    shutil.rmtree("src")
    assert gap.load() == 3, gap.err
    assert gap.answer() == 3, gap.err
    assert gap.close() == 3, gap.err
    assert "except for 2 records that the receiver left out" in gap.out
    told = gap.status()
    assert (told["state"], told["archived"], told["set_aside"]) == ("delivered", 31, 2)
    aside = Path("run/delivered-set-aside.csv").read_text("utf-8-sig").splitlines()[1:]
    assert [line.replace('"', "").split(";")[:3] for line in aside] == [
        ["case/3.txt", "set_aside", "F202"],
        ["case/7.txt", "set_aside", "F203"],
    ]
    assert "F202" in Path("there/set-aside.csv").read_text("utf-8-sig")


def test_nothing_is_left_out_where_that_is_not_wanted(gap: Gap) -> None:
    assert gap.run("plan", "src", "-o", "run") == 0
    Path("src/case/a.txt").unlink()
    assert gap.pack("bundle.zip", "run", "--strict") == 3
    assert "F202" in gap.err
    assert not Path("bundle.zip").exists()


def test_a_source_of_which_too_much_is_gone_is_not_packed(gap: Gap) -> None:
    files(Path("src"), *(f"case/{n}.txt" for n in range(60)))
    assert gap.run("plan", "src", "-o", "run") == 0
    for n in range(20):
        Path(f"src/case/{n}.txt").unlink()
    assert gap.pack() == 8
    assert not Path("bundle.zip").exists()


def test_a_bundle_that_moved_is_gone_on_with_and_one_that_is_away_is_asked_for(gap: Gap) -> None:
    assert gap.pack("bundle") == 0
    assert gap.run("plan", "bundle", "-o", "there", "--trust-key", gap.public("a")) == 0
    Path("bundle").rename("stick")
    assert gap.run("ingest", "there", "--workers", 0) == 8
    assert "F290" in gap.err
    assert gap.load("stick") == 0, gap.err
    assert gap.status("there")["archived"] == 3
    for name in ("other", "other.zip"):  # of the same plan, but not the one that was begun
        assert gap.pack(name) == 0
        assert gap.load(name) == 2


def test_a_document_that_is_damaged_after_it_was_proven_is_set_aside_and_never_linked(gap: Gap) -> None:
    assert gap.pack("bundle") == 0
    assert gap.run("plan", "bundle", "-o", "there", "--trust-key", gap.public("a")) == 0
    damaged = next(place for place in Path("bundle/documents").rglob("*") if place.is_file())
    damaged.write_bytes(b"x" * damaged.stat().st_size)
    assert gap.run("ingest", "there", "--workers", 0) == 3
    assert gap.status("there")["archived"] == 2
    assert "F203" in Path("there/set-aside.csv").read_text("utf-8-sig")


# refusals


def test_a_bundle_that_was_touched_makes_no_run_and_sends_nothing(gap: Gap) -> None:
    assert gap.pack("bundle") == 0
    for place in sorted(place for place in Path("bundle").rglob("*") if place.is_file() and place.stat().st_size):
        whole = place.read_bytes()
        place.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        assert gap.load("bundle") == 4, place
        assert "F502" in gap.err
        assert not Path("there").exists()
        place.write_bytes(whole)
    assert gap.load("bundle") == 0, gap.err


def test_keys_that_are_missing_wrong_or_open_are_refused(gap: Gap) -> None:
    assert gap.run("plan", "src", "-o", "run", "--pack", "bundle.zip") == 2
    assert "--seal-key seal.key" in gap.err and not Path("run").exists()
    gap.key("a").chmod(0o640)
    assert gap.pack() == 2
    assert "F111" in gap.err and not Path("run").exists()
    gap.key("a").chmod(0o600)
    assert gap.run("plan", "src", "-o", "run", "--pack", "bundle.zip", "--seal-key", gap.public("a")) == 2
    assert gap.pack() == 0, gap.err
    assert gap.run("ingest", "bundle.zip", "-o", "there") == 2
    assert "--trust-key" in gap.err
    assert gap.run("ingest", "bundle.zip", "-o", "there", "--trust-key", gap.key("a")) == 2
    assert "never leave its machine" in gap.err
    assert gap.run("ingest", "bundle.zip", "-o", "there", "--trust-key", gap.public("b")) == 4
    assert gap.run("ingest", "bundle.zip", "-o", "there", "--trust-key", "nowhere.pub") == 2
    assert gap.run("ingest", "src", "-o", "there", "--trust-key", gap.public("a")) == 2
    assert "not a sealed bundle" in gap.err
    assert not Path("there").exists()
    both = ("--trust-key", gap.public("b"), "--trust-key", gap.public("a"))
    assert gap.run("ingest", "bundle.zip", "-o", "there", *both, "--workers", 0) == 0, gap.err


def test_keys_of_the_settings_need_not_be_named(gap: Gap) -> None:
    Path("noarkit.toml").write_text(f'[seal]\nkey = "{gap.key("a")}"\ntrusted = ["{gap.public("a")}"]\n')
    assert gap.run("plan", "src", "-o", "run", "--pack", "bundle.zip") == 0, gap.err
    assert gap.run("ingest", "bundle.zip", "-o", "there", "--workers", 0) == 0, gap.err
    assert gap.run("config", "show") == 0 and str(gap.public("a")) in gap.out


def test_new_keys_are_never_written_over_others(gap: Gap) -> None:
    assert gap.run("key", "new", "-o", "seal.key") == 0
    made = gap.out.splitlines()[-1]
    assert modes("seal.key", "seal.key.pub") == [0o600, 0o600]
    for name in ("seal.key", "seal.key.pub"):
        assert gap.run("key", "show", name) == 0 and gap.out.splitlines()[-1] == made
    before = Path("seal.key").read_bytes()
    assert gap.run("key", "new", "-o", "seal.key") == 2
    Path("seal.key.pub").rename("away.pub")
    assert gap.run("key", "new", "-o", "seal.key") == 2
    assert Path("seal.key").read_bytes() == before
    Path("away.pub").rename("seal.key.pub")
    Path("seal.key").rename("away.key")
    assert gap.run("key", "new", "-o", "seal.key") == 2
    assert not Path("seal.key").exists()
    Path("away.key").rename("seal.key")
    assert "PRIVATE" not in gap.out + gap.err
    assert gap.run("key", "show", "src/case/a.txt") == 2
    assert gap.run("key", "new", "-o", "nowhere/seal.key") == 2


def test_a_mode_opens_the_public_half_of_a_new_key_alone(gap: Gap) -> None:
    assert gap.run("key", "new", "-o", "seal.key", "--mode", "0644") == 0
    assert modes("seal.key", "seal.key.pub") == [0o600, 0o644]


def modes(*names: str) -> list[int]:
    return [stat.S_IMODE(Path(name).stat().st_mode) for name in names]


def test_a_disk_that_is_not_there_is_told_before_anything_is_done(gap: Gap) -> None:
    assert gap.run("plan", "src", "-o", "run") == 0
    assert gap.pack("disk/bundle.zip") == 2
    assert not Path("disk").exists()
    assert gap.pack() == 0
    assert gap.load() == 0
    assert gap.answer("there", "disk/receipt.zip") == 2
    assert not Path("disk").exists()


# receipts


def test_a_receipt_is_written_for_a_run_that_came_in_a_bundle_is_done_and_agrees(gap: Gap) -> None:
    assert gap.run("plan", "src", "-o", "plain") == 0
    assert gap.answer("plain") == 2
    assert gap.pack() == 0
    assert gap.run("plan", "bundle.zip", "-o", "there", "--trust-key", gap.public("a")) == 0
    assert gap.answer() == 2 and "noarkit ingest there" in gap.err
    assert gap.load() == 0
    with closing(sqlite3.connect("there/run.db")) as db:
        db.execute("UPDATE entity SET id = '999999' WHERE n = (SELECT max(n) FROM entity WHERE file IS NOT NULL)")
        db.execute("UPDATE entity SET id = '999999' WHERE state = 'done' AND n < 8")
        db.commit()
    assert gap.answer() == 7
    assert not Path("receipt.zip").exists()


def test_a_receipt_that_is_there_is_never_written_over(gap: Gap) -> None:
    gap.cross()
    before = Path("receipt.zip").read_bytes()
    assert gap.answer() == 2
    assert Path("receipt.zip").read_bytes() == before


def nothing(items: list[dict[str, object]], said: dict[str, object]) -> None:
    """Changes nothing."""


def lacks_a_key(items: list[dict[str, object]], said: dict[str, object]) -> None:
    del items[1]


def tells_a_key_twice(items: list[dict[str, object]], said: dict[str, object]) -> None:
    items.insert(0, items[0])


def tells_of_a_stranger(items: list[dict[str, object]], said: dict[str, object]) -> None:
    items.insert(0, {**items[0], "key": "nobody"})


def has_another_checksum(items: list[dict[str, object]], said: dict[str, object]) -> None:
    one = next(one for one in items if "document" in one)
    one["sha256"] = "0" * 64


def lacks_a_document(items: list[dict[str, object]], said: dict[str, object]) -> None:
    items.remove(next(one for one in items if "document" in one))


def has_another_size(items: list[dict[str, object]], said: dict[str, object]) -> None:
    one = next(one for one in items if "document" in one)
    one["size"] = 1


def archived_without_an_id(items: list[dict[str, object]], said: dict[str, object]) -> None:
    items[0]["id"] = None


def has_an_outcome_that_cannot_be(items: list[dict[str, object]], said: dict[str, object]) -> None:
    items[0]["state"] = "skipped"


def counts_more(items: list[dict[str, object]], said: dict[str, object]) -> None:
    numbers = said["numbers"]
    assert isinstance(numbers, dict)
    numbers["archived"] += 1


def left_some_open(items: list[dict[str, object]], said: dict[str, object]) -> None:
    numbers = said["numbers"]
    assert isinstance(numbers, dict)
    numbers["archived"] -= 1
    numbers["open"] += 1
    items[0]["state"] = "open"


def is_of_another_bundle(items: list[dict[str, object]], said: dict[str, object]) -> None:
    said["bundle"] = "00000000-0000-0000-0000-000000000000"


def is_of_another_seal(items: list[dict[str, object]], said: dict[str, object]) -> None:
    said["seal"] = "0" * 64


def is_of_another_plan(items: list[dict[str, object]], said: dict[str, object]) -> None:
    said["plan"] = "0" * 64


LIES = {
    lacks_a_key: "V403",
    tells_a_key_twice: "V404",
    tells_of_a_stranger: "V404",
    has_another_checksum: "V406",
    lacks_a_document: "V406",
    has_another_size: "V406",
    archived_without_an_id: "V405",
    has_an_outcome_that_cannot_be: "V405",
    counts_more: "V407",
    left_some_open: "V407",
    is_of_another_bundle: "V401",
    is_of_another_seal: "V401",
    is_of_another_plan: "V402",
}


def test_a_receipt_that_does_not_prove_what_was_sent_closes_nothing(gap: Gap) -> None:
    gap.cross()
    receipt = Path("receipt.zip")
    for number, (lie, code) in enumerate(LIES.items()):
        target = forged(receipt, Path(f"forged{number}"), gap, lie)
        assert gap.close("run", str(target)) == 7, lie.__name__
        assert "F700" in gap.err
        (page,) = [json.loads(one.read_text("utf-8")) for one in Path("run").glob("delivered-*.json")]
        assert code in {one["code"] for one in page["findings"]}, lie.__name__
        assert not page["good"]
        for one in Path("run").glob("delivered-*"):
            one.unlink()
        assert gap.status()["state"] == "sealed"
    honest = forged(receipt, Path("honest"), gap, nothing)
    assert gap.close("run", str(honest)) == 0, gap.err
    assert gap.status()["state"] == "delivered"


def test_a_receipt_is_refused_that_was_touched_or_sealed_by_another_or_is_none(gap: Gap) -> None:
    gap.cross()
    whole = Path("receipt.zip").read_bytes()
    for at in range(0, len(whole), max(1, len(whole) // 40)):
        Path("turned.zip").write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        assert gap.close("run", "turned.zip") == 4, at
    for length in (10, len(whole) // 2, len(whole) - 1):
        Path("turned.zip").write_bytes(whole[:length])
        assert gap.close("run", "turned.zip") == 4
    assert gap.run("verify", "run", "--receipt", "receipt.zip", "--trust-key", gap.public("a")) == 4
    assert gap.run("verify", "run", "--receipt", "receipt.zip") == 2
    assert gap.run("verify", "run", "--receipt", "nowhere.zip", "--trust-key", gap.public("b")) == 2
    assert gap.run("verify", "run", "--receipt", "bundle.zip", "--trust-key", gap.public("a")) == 4
    assert gap.close("run", "receipt.zip", "--receipt-out", "x.zip") == 2
    assert gap.status()["state"] == "sealed"


def test_a_receipt_closes_no_run_but_its_own(gap: Gap) -> None:
    gap.cross()
    files(Path("src"), "case/a.txt", "case/b.txt", "other/c.txt")
    assert gap.run("plan", "src", "-o", "never") == 0
    assert gap.close("never") == 2
    assert gap.pack("second.zip", "other") == 0
    assert gap.close("other") == 7
    assert gap.status("other")["state"] == "sealed"


def test_a_plan_that_was_changed_after_it_was_sealed_is_not_closed(gap: Gap) -> None:
    gap.cross()
    with closing(sqlite3.connect("run/graph.db")) as db:
        db.execute("UPDATE record SET key = 'another' WHERE n = 1")
        db.commit()
    assert gap.close() == 2
    assert "F402" in gap.err


def test_what_was_sealed_is_remembered_with_the_checksum_it_left_with(gap: Gap) -> None:
    gap.cross()
    with closing(open_deliveries(RunFolder(Path("run")))) as known:
        assert known.any_sealed() and known.receipt() is None
    with closing(sqlite3.connect("run/delivery.db")) as db:
        assert db.execute("SELECT count(*), min(length(sha256)) FROM document").fetchone() == (3, 64)
        db.execute("UPDATE document SET sha256 = ? WHERE n = (SELECT min(n) FROM document)", ("0" * 64,))
        db.commit()
    assert gap.close() == 7


def test_no_receipt_is_made_over_a_damaged_document_whoever_loaded_it(gap: Gap) -> None:
    assert gap.pack() == 0
    assert gap.load() == 0
    assert gap.archive is not None
    with closing(sqlite3.connect("there/run.db")) as db:
        (sha256,) = db.execute("SELECT sha256 FROM entity WHERE sha256 IS NOT NULL ORDER BY n LIMIT 1").fetchone()
    stored = next(path for path in gap.archive.data_dir.rglob(f"*{sha256[8:]}*") if path.is_file())
    stored.chmod(0o600)
    stored.write_bytes(b"X" + stored.read_bytes()[1:])
    assert gap.load("bundle.zip", "again") == 0
    assert gap.answer("again") == 7
    assert not Path("receipt.zip").exists()
    assert gap.answer("again", "receipt.zip", "--depth", "ids") == 2
    assert gap.answer("again", "receipt.zip", "--depth", "bytes", "--sample", "50%") == 2


def test_a_bundle_that_is_there_already_is_answered_for_once_every_byte_was_compared(gap: Gap) -> None:
    gap.cross()
    assert gap.load("bundle.zip", "again") == 0
    assert gap.answer("again", "second.zip") == 0, gap.out
    assert gap.close("run", "second.zip") == 0, gap.err


def test_a_delivered_run_stays_delivered_and_is_not_loaded_on_this_side(gap: Gap) -> None:
    files(gap.home / "src", "case/a.txt")
    gap.cross()
    assert gap.close() == 0, gap.err
    delivered = gap.status()
    files(gap.home / "src", "case/a.txt")
    for words in (("ingest", "run"), ("retry", "run"), ("close", "run"), ("ingest", "run", "--dry-run")):
        assert gap.run(*words) == 2, words
        assert "delivered" in gap.err, gap.err
        assert gap.status() == delivered and delivered["state"] == "delivered"
    assert not (gap.home / "run" / "run.db").exists()
    gap.run("runs", gap.home)
    assert "delivered" in gap.out
    assert "This plan has been delivered" in (gap.home / "run" / "plan.html").read_text("utf-8")


@pytest.mark.parametrize("table", ["abstraktregistrering", "dokument", "abstraktmappe"])
def test_no_receipt_is_made_over_a_forged_field_of_what_was_already_there(table: str, gap: Gap) -> None:
    """The log says that these were made with other titles, and the source is as it was sealed."""
    gap.cross()
    assert gap.load("bundle.zip", "again") == 0
    assert gap.archive is not None
    with closing(sqlite3.connect(gap.archive.data_dir / "archive.db")) as db, db:
        assert db.execute(f"UPDATE o_{table} SET tittel = 'forged' WHERE id = (SELECT max(id) FROM o_{table})").rowcount
    assert gap.answer("again", "second.zip") == 7
    assert not Path("second.zip").exists()
    assert "changed in the source" not in gap.out and "No receipt was made" in gap.out


def test_no_receipt_is_made_over_what_another_account_changed(gap: Gap) -> None:
    gap.cross()
    assert gap.archive is not None
    with closing(sqlite3.connect(gap.archive.data_dir / "archive.db")) as db, db:
        record, uuid = db.execute("SELECT max(id), uuid FROM o_abstraktregistrering").fetchone()
        db.execute("UPDATE o_abstraktregistrering SET tittel = 'another' WHERE id = ?", (record,))
        columns = "object_id, system_id, type, revision_type, modified_ms, modified_by, modified_by_user_id"
        db.execute(
            f"INSERT INTO change_log ({columns}, modified_field, new_value) VALUES (?, ?, ?, 'UPDATE', ?, ?, ?, ?, ?)",
            (record, uuid, "Basisregistrering", 2**41, "Per", "per", "tittel", '{"tittel": "another"}'),
        )
    assert gap.answer("there", "second.zip") == 3
    assert not Path("second.zip").exists()
    assert "changed later by another user" in gap.out and "No receipt was made" in gap.out
