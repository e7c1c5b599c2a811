"""A whole database goes into an archive by the recipe that is proposed, and out again: every row and byte is found."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from lxml import etree

from noarkit.cli.main import main
from noarkit.embedded import open_embedded
from noarkit.events import ignore_event
from noarkit.forms.finders import open_source
from noarkit.graph.entity import SetAside
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import outcomes
from noarkit.recipes import compile_recipe, read_recipe
from noarkit.records import SourceRecord
from tests.sources.database.sample import CASES, NUMBER, Sample

NOARK = "{http://www.arkivverket.no/standarder/noark5/arkivstruktur}"


@contextmanager
def within(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def noarkit(place: Path, *arguments: str) -> int:
    """A command, run in the sample's folder."""
    with within(place):
        return main([*arguments, "--progress", "none"], {"HOME": str(place), "PATH": os.environ["PATH"]})


def test_every_row_and_byte_of_a_database_is_found_in_what_comes_out_again(sample: Sample) -> None:
    with open_embedded(sample.place / "arkiv"):
        for arguments in (
            ("recipe", "new", sample.url, "-o", "recipe.toml"),
            ("recipe", "check", "recipe.toml", sample.url),
            ("plan", sample.url, "--recipe", "recipe.toml", "-o", "run", "--archive", "embedded:arkiv"),
            ("ingest", "run", "--archive", "embedded:arkiv"),
            ("verify", "run", "--depth", "bytes"),
            ("extract", "-o", "pakke", "--as", "noark5", "--archive", "embedded:arkiv"),
            ("validate", "pakke"),
            ("compare", "pakke", "embedded:arkiv"),
        ):
            # without the official schemas and a named creator an extract is made, and said not to be depositable
            assert noarkit(sample.place, *arguments) == (3 if arguments[0] in ("extract", "validate") else 0), arguments
    rows_are_accounted_for(sample)
    documents_are_whole(sample)
    values_stand_in_the_extract(sample)


def rows_are_accounted_for(sample: Sample) -> None:
    """Each row was archived, or left out by a rule that says where its values stand."""
    told = json.loads((sample.place / "run" / "report.json").read_text("utf-8"))["numbers"]
    assert told["read"] == sum(sample.rows.values()) == told["archived"] + told["skipped"]
    run = RunFolder(sample.place / "run")
    archived = [one.key for one in outcomes(run, "archived")]
    skipped = [one.key for one in outcomes(run, "skipped")]
    assert len(set(archived + skipped)) == sum(sample.rows.values())
    assert {key.partition(":")[0] for key in skipped} <= {"sakstype", "emneord", "sak_emneord", "person"}
    assert {"emneord:3", "person:3"} <= set(archived)  # nobody refers to them, so that they stand nowhere else
    assert {key.partition(":")[0] for key in [*archived, *skipped]} == set(sample.rows)


def documents_are_whole(sample: Sample) -> None:
    """The files of the extract are the documents of the database, byte for byte."""
    files = [path for path in (sample.place / "pakke" / "dokumenter").rglob("*") if path.is_file()]
    found = sorted(hashlib.sha256(path.read_bytes()).hexdigest() for path in files)
    assert found == sorted(hashlib.sha256(content).hexdigest() for content in sample.documents.values())


def values_stand_in_the_extract(sample: Sample) -> None:
    """Every column of every row that was archived stands in its text; what was left out stands in who refers to it."""
    tree = etree.parse(str(sample.place / "pakke" / "arkivstruktur.xml"))
    texts = [one.text or "" for name in ("beskrivelse", "merknadstekst") for one in tree.iter(f"{NOARK}{name}")]
    with_documents = read_recipe((sample.place / "recipe.toml").read_text("utf-8"), "recipe.toml")
    source = open_source(sample.url).fitted(with_documents.data["source"])  # type: ignore[attr-defined]  # a database
    mapper = compile_recipe(with_documents)
    left_out = 0
    for row in source.records(ignore_event):
        assert isinstance(row, SourceRecord)
        if type(mapper.map(row)).__name__ == "Skipped":
            left_out += 1
            continue
        assert row.fields["row_text"] in ["", *texts], row.key
    assert left_out
    words = [one.text or "" for one in tree.iter(f"{NOARK}noekkelord")]
    assert sorted(words) == sorted(["garasje", "nabovarsel"] * CASES + ["Byggesak", "Skjenkesak"] * (CASES // 2))
    parties = [one.text or "" for one in tree.iter(f"{NOARK}partNavn")]
    assert sorted(set(parties)) == ["Kari Æ. Nordmann", "Ola"] and len(parties) == CASES
    with closing(sqlite3.connect(sample.place / "run" / "graph.db")) as graph:
        found = graph.execute(
            "SELECT count(*) FROM entity WHERE json_extract(fields, '$.foedselsnummer') = ?", (NUMBER,)
        )
        assert found.fetchone()[0]


def test_a_second_plan_since_the_first_takes_only_what_is_new_or_changed(one_sample: Sample) -> None:
    sample, place = one_sample, one_sample.place
    with open_embedded(place / "a"):
        assert noarkit(place, "recipe", "new", sample.url, "-o", "recipe.toml") == 0
        recipe = place / "recipe.toml"
        recipe.write_text(recipe.read_text("utf-8").replace("close = true", "close = false"), "utf-8")
        to = ("--archive", "embedded:a")
        assert noarkit(place, "ingest", sample.url, "--recipe", "recipe.toml", "-o", "run", *to) == 0
        sample.run(
            "INSERT INTO brev (id, sak_aar, sak_nr, emne, brevtekst) VALUES (99, 2024, 1, 'Nytt brev', 'nytt')",
            "UPDATE brev SET emne = 'Endret emne' WHERE id = 2",
        )
        plan = ("plan", sample.url, "--recipe", "recipe.toml", "-o", "run2", "--since", "run")
        assert noarkit(place, *plan) == 0
        told = json.loads((place / "run2" / "plan.json").read_text("utf-8"))
        with_documents = {key.partition("#")[0] for key in sample.documents}
        assert told["records"]["already_there"] == len(with_documents - {"brev:2"})
        assert noarkit(place, "ingest", "run2", *to) == 0
        assert [one.key for one in outcomes(RunFolder(place / "run2"), "archived")] == ["brev:99"]
        # brev:2 is as it was loaded, and the source says otherwise now: two fields, its title and the text of its row
        assert noarkit(place, "verify", "run2", "--depth", "bytes") == 3
        proof = json.loads(max((place / "run2").glob("verify-*.json")).read_text("utf-8"))
        assert (proof["verdict"], proof["missing"]) == ("in_part", {"source_changed": 2})
        assert [(one["code"], one["key"]) for one in proof["notices"]] == [("V105", "brev:2")] * 2
        # open units keep it from being depositable
        assert noarkit(place, "extract", "-o", "pakke", "--as", "noark5", "--include-open", *to) == 3
    tree = etree.parse(str(place / "pakke" / "arkivstruktur.xml"))
    assert len(list(tree.iter(f"{NOARK}merknad"))) == sample.rows["merknad"]
    assert len(list(tree.iter(f"{NOARK}noekkelord"))) == 2 * CASES + CASES - 1


def test_two_readings_give_the_same_keys_in_the_same_order(shared: Sample) -> None:
    source = open_source(shared.url)
    first = [item.key for item in source.records(ignore_event) if isinstance(item, SourceRecord)]
    assert first == [item.key for item in source.records(ignore_event) if isinstance(item, SourceRecord)]
    assert len(set(first)) == len(first) == sum(shared.rows.values())
    assert not [item for item in source.records(ignore_event) if isinstance(item, SetAside)]
