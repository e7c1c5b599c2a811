"""A run shows what its plan makes and what became of it: held to its own tables, read by SQLite alone."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import noarkit
from noarkit.api.browsing import open_catalogue
from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.masking import mask_card
from noarkit.catalogue.naming import find_item
from noarkit.catalogue.port import Document
from noarkit.errors import ItemChanged, UsageFault
from samples.packages.make import write_good
from tests.catalogue.looking import every_entry
from tests.forked import DEVNULL, Forked
from tests.waiting import PATIENCE_S

MAIL = b"From: kari@example.org\nTo: ola@fjord.no\nSubject: Klage\nDate: Tue, 05 Mar 2019 10:00:00 +0100\n\nHei\n"


def lay_out(source: Path) -> None:
    """Two files, a mail, a pipe and a link in two folders, and a file whose key is like a ref of ours."""
    for folder in ("Bygg", "Skole"):
        (source / folder).mkdir(parents=True)
    (source / "Bygg" / "plan.txt").write_text("plan", "utf-8")
    (source / "Bygg" / "tegning.txt").write_text("tegning", "utf-8")
    (source / "Skole" / "klage.eml").write_bytes(MAIL)
    (source / "record:Skole").mkdir()
    (source / "record:Skole" / "pipe").write_text("odd", "utf-8")
    os.mkfifo(source / "Skole" / "pipe")
    (source / "Skole" / "link").symlink_to("/etc/passwd")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was loaded into an archive of its own and verified byte for byte."""
    place = tmp_path_factory.mktemp("loaded")
    lay_out(place / "source")
    noarkit.plan(place / "source", place / "run", hash_contents=True)
    noarkit.ingest(place / "run", archive=f"embedded:{place / 'archive'}", workers=0)
    noarkit.verify(place / "run", depth="bytes")
    return place / "run"


@pytest.fixture(scope="module")
def catalogue(run: Path) -> Iterator[Catalogue]:
    """The catalogue of that run."""
    with open_catalogue(run) as opened:
        yield opened


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:  # Any: whatever a column holds
    """What SQLite itself reads."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


def texts_in(value: object) -> Iterator[str]:
    """Every value in a piece of JSON, as text."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)
    else:
        yield str(value)


def test_every_value_of_every_entity_stands_on_a_card(run: Path, catalogue: Catalogue) -> None:
    shown: Counter[str] = Counter()
    for entry in every_entry(catalogue):
        if entry.type not in ("group", "record"):
            card = catalogue.card(entry.ref)
            shown.update(texts_in(card.fields))
            shown.update(texts_in([document.fields for document in card.documents]))
    planned = [json.loads(str(fields)) for (fields,) in rows(run / "graph.db", "SELECT fields FROM entity")]
    coded = {"tilknyttetRegistreringSom", "variantformat", "korrespondanseparttype"}
    values = Counter(text for entity in planned for name, text in entity.items() if name not in coded)
    assert len(values) > 10
    assert not values - shown


def test_folders_and_records_are_items_and_their_documents_belong_to_them(run: Path, catalogue: Catalogue) -> None:
    counts = dict(rows(run / "graph.db", "SELECT type, count(*) FROM entity GROUP BY type"))
    for kind in ("Arkiv", "Arkivdel", "Mappe", "Basisregistrering"):
        assert catalogue.counts()[kind] == counts[kind]
    documents = [catalogue.card(entry.ref).documents for entry in every_entry(catalogue)]
    assert sum(map(len, documents)) == counts["Dokumentversjon"] == 4


def test_each_record_has_the_outcome_that_the_status_counts(run: Path, catalogue: Catalogue) -> None:
    numbers = noarkit.status(run).numbers
    states = Counter(entry.state for entry in every_entry(catalogue) if entry.type in ("Basisregistrering", "record"))
    assert (states["archived"], states["set_aside"], states["skipped"]) == (4, 1, 1)
    assert sum(states.values()) == numbers.read == 6


def test_what_was_left_out_stands_under_its_outcome_with_its_fault(catalogue: Catalogue) -> None:
    (pipe,) = catalogue.children("group:set_aside")
    assert (pipe.ref, pipe.fault, pipe.type) == ("record:Skole/pipe", "F204", "record")
    assert catalogue.card("record:Skole/link").fields["reason"] == "a link"


def test_a_file_called_like_a_ref_of_ours_keeps_a_ref_of_its_own(catalogue: Catalogue) -> None:
    assert catalogue.entry("record:Skole/pipe").type == "record"
    (document,) = find_documents(catalogue, b"odd")
    assert document.ref.startswith("entity:record:")


def find_documents(catalogue: Catalogue, content: bytes) -> list[Document]:
    """The documents with this content."""
    documents = (document for entry in every_entry(catalogue) for document in catalogue.card(entry.ref).documents)
    return [document for document in documents if document.sha256 == hashlib.sha256(content).hexdigest()]


def test_the_ids_of_the_archive_are_those_of_the_journal(run: Path, catalogue: Catalogue) -> None:
    ids = dict(rows(run / "run.db", "SELECT n, id FROM entity"))
    for n, key in rows(run / "graph.db", "SELECT n, key FROM entity WHERE type = 'Basisregistrering'"):
        entry = find_item(catalogue, str(ids[n]))
        facts = catalogue.card(entry.ref).fields["run"]
        assert isinstance(facts, dict)
        assert (facts["archive_id"], facts["key"]) == (ids[n], key)


def test_the_custody_chain_has_the_checksum_of_the_file_at_each_step(run: Path, catalogue: Catalogue) -> None:
    (document,) = catalogue.card("Bygg/plan.txt").documents
    digest = hashlib.sha256((run.parent / "source" / "Bygg" / "plan.txt").read_bytes()).hexdigest()
    steps = [step.step for step in document.custody]
    assert steps == ["read", "hashed", "identified", "uploaded", "linked", "verified"]
    assert {step.sha256 for step in document.custody if step.sha256} == {digest} == {document.sha256}
    times = [step.at for step in document.custody]
    assert all(times) and times == sorted(times)
    assert document.custody[3].agent.startswith(noarkit_user())


def noarkit_user() -> str:
    """The user of the process, as the certificate of a load names him."""
    import getpass

    return getpass.getuser() + "@"


def test_a_step_without_evidence_is_not_shown(tmp_path: Path) -> None:
    lay_out(tmp_path / "source")
    noarkit.plan(tmp_path / "source", tmp_path / "run")
    with open_catalogue(tmp_path / "run") as planned:
        (document,) = planned.card("Bygg/plan.txt").documents
        assert [step.step for step in document.custody] == ["read", "identified"]
        assert planned.entry("Bygg/plan.txt").state == "planned"
    noarkit.ingest(tmp_path / "run", archive=f"embedded:{tmp_path / 'archive'}", workers=0)
    noarkit.verify(tmp_path / "run", depth="ids")
    with open_catalogue(tmp_path / "run") as loaded:
        (document,) = loaded.card("Bygg/plan.txt").documents
        assert [step.step for step in document.custody] == ["read", "identified", "uploaded", "linked"]


@pytest.mark.parametrize("other", [{"plan_sha256": "0" * 64}, {"began": "2019-01-01T00:00:00+00:00"}, {"rows": []}])
def test_a_certificate_of_something_else_proves_nothing(run: Path, other: dict[str, object], tmp_path: Path) -> None:
    copy = tmp_path / "run"
    copy.mkdir()
    for name in ("plan.json", "graph.db", "run.db"):
        (copy / name).write_bytes((run / name).read_bytes())
    (certificate,) = run.glob("verify-*.json")
    facts = json.loads(certificate.read_text("utf-8"))
    for changes, is_proven in ((other, False), ({}, True)):
        (copy / certificate.name).write_text(json.dumps(facts | changes), "utf-8")
        with open_catalogue(copy) as opened:
            steps = {step.step for step in opened.card("Bygg/plan.txt").documents[0].custody}
            assert ("verified" in steps) == is_proven


def test_documents_are_opened_in_the_source(run: Path, catalogue: Catalogue) -> None:
    (document,) = catalogue.card("Skole/klage.eml").documents
    with catalogue.open(document) as stream:
        assert stream.read() == MAIL


def test_a_file_that_changed_since_the_plan_is_not_handed_out(tmp_path: Path) -> None:
    lay_out(tmp_path / "source")
    noarkit.plan(tmp_path / "source", tmp_path / "run")
    with open_catalogue(tmp_path / "run") as opened:
        (tmp_path / "source" / "Bygg" / "plan.txt").write_text("another plan", "utf-8")
        with pytest.raises(ItemChanged):
            noarkit.get(opened, "Bygg/plan.txt", tmp_path / "out.txt")
    assert not (tmp_path / "out.txt").exists()


def test_a_record_that_the_check_refused_is_told_with_its_entity(tmp_path: Path) -> None:
    lay_out(tmp_path / "source")
    noarkit.plan(tmp_path / "source", tmp_path / "run")
    check = f"{sys.executable} -c \"import sys; sys.exit(b'tegning' in sys.stdin.buffer.read())\""
    noarkit.ingest(tmp_path / "run", archive=f"embedded:{tmp_path / 'archive'}", workers=0, check_command=check)
    with open_catalogue(tmp_path / "run") as opened:
        entry = opened.entry("Bygg/tegning.txt")
        assert (entry.state, entry.fault) == ("set_aside", "F207")
        record = opened.card("record:Bygg/tegning.txt")
        assert [(link.name, link.ref) for link in record.links] == [("entity", "Bygg/tegning.txt")]
        assert record.entry.fault == "F207"


def test_a_name_that_nothing_has_is_told(catalogue: Catalogue) -> None:
    with pytest.raises(UsageFault) as told:
        find_item(catalogue, "no such thing")
    assert told.value.data["what"] == "no-such-item"


def test_a_run_of_an_extract_has_the_tree_and_the_links_of_the_extract_itself(tmp_path: Path) -> None:
    write_good(tmp_path / "extract", "5.0")
    noarkit.plan(tmp_path / "extract", tmp_path / "run", accept_loss=("gradering", "utfoertKassasjon"))
    with open_catalogue(tmp_path / "extract") as extract, open_catalogue(tmp_path / "run") as planned:
        entries = [entry for entry in every_entry(planned) if entry.type not in ("group", "record")]
        assert len(entries) > 20
        for entry in entries:
            assert lineage(planned, entry.ref) == lineage(extract, entry.ref)
            to_classes = {link.ref for link in planned.card(entry.ref).links if link.name == "refSekundaerKlasse"}
            assert to_classes <= {link.ref for link in extract.card(entry.ref).links}
        assert {entry.klass for entry in entries if entry.type == "Saksmappe"} == {"1.1"}


def lineage(catalogue: Catalogue, ref: str) -> list[str]:
    """The refs of what an item lies in."""
    return [entry.ref for entry in catalogue.ancestors(ref)]


def test_a_run_that_was_killed_shows_what_is_known_and_afterwards_the_rest(tmp_path: Path) -> None:
    for number in range(1500):
        (tmp_path / "source" / f"{number // 100:02}").mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / f"{number // 100:02}" / f"{number}.txt").write_text(f"{number}", "utf-8")
    noarkit.plan(tmp_path / "source", tmp_path / "run")
    archive = f"embedded:{tmp_path / 'archive'}"
    line = ["noarkit", "ingest", tmp_path / "run", "--archive", archive]
    line += ["--workers", "0", "--max-rate", "40/s", "--progress", "none"]
    loading = Forked(line, cwd=tmp_path, stdout=DEVNULL, stderr=DEVNULL)
    wait_for_first_chunk(tmp_path / "run" / "run.db")
    loading.kill()
    loading.wait()
    with open_catalogue(tmp_path / "run") as opened:
        states = Counter(entry.state for entry in every_entry(opened) if entry.type == "Basisregistrering")
        done = rows(
            tmp_path / "run" / "run.db",
            f"SELECT count(*) FROM entity WHERE state = 'done' AND n IN ({records_of(tmp_path / 'run')})",
        )
        assert 0 < states["archived"] == done[0][0] < 1500
        assert sum(states.values()) == 1500
    noarkit.ingest(tmp_path / "run", archive=archive, workers=0)
    with open_catalogue(tmp_path / "run") as again:
        states = Counter(entry.state for entry in every_entry(again) if entry.type == "Basisregistrering")
        assert states == {"archived": 1500}


def wait_for_first_chunk(journal: Path) -> None:
    """Waits until the journal knows of a record that is in the archive."""
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends:
        if journal.exists():
            try:
                if rows(journal, "SELECT count(*) FROM entity WHERE sha256 IS NOT NULL")[0][0]:
                    return
            except sqlite3.OperationalError:
                pass  # its tables are not made yet
        time.sleep(0.02)
    raise AssertionError("nothing was loaded")


def records_of(run: Path) -> str:
    """The numbers of the records of a plan."""
    return ",".join(str(n) for (n,) in rows(run / "graph.db", "SELECT n FROM entity WHERE type = 'Basisregistrering'"))


def test_nothing_around_a_screened_record_tells_of_it(tmp_path: Path) -> None:
    """Its folder is made by it, and its key names its file: neither may say what the mask hides."""
    name = "01010150074 Arbeidsavtale.txt"
    (tmp_path / "files" / "Klagesak").mkdir(parents=True)
    (tmp_path / "files" / "Klagesak" / name).write_text("avtale", "utf-8")
    recipe = tmp_path / "recipe.toml"
    text = noarkit.open_source(tmp_path / "files").default_recipe()
    assert '"report"' in text
    recipe.write_text(text.replace('"report"', '"screen"\nscreening = "UO13"'), "utf-8")
    noarkit.plan(tmp_path / "files", tmp_path / "run", recipe=recipe)
    with open_catalogue(tmp_path / "run") as opened:
        entries = list(every_entry(opened))
        assert [entry.type for entry in entries if entry.screened] == ["Basisregistrering"]
        cards = [mask_card(opened.card(entry.ref)) for entry in entries]
    shown = [str(part) for card in cards for part in (card.entry.title, card.fields, card.documents and "")]
    assert len(cards) >= 4 and not [text for text in shown if "Arbeidsavtale" in text]
