"""The recipe that a file tree brings along: valid for any tree, and its names exact."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from noarkit.events import ignore_event
from noarkit.graph.entity import Entity, MappedRecord
from noarkit.recipes.checking import check
from noarkit.recipes.mapper import compile_recipe
from noarkit.recipes.read import read_recipe
from noarkit.records import SourceRecord
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree

POLICY = FilePolicy(empty_folders="record", mail="parts", media_types=False)
MAIL = (
    b"From: a@b.no\r\nSubject: Hei\r\nDate: Tue, 02 Jan 2024 13:24:05 +0100\r\nMIME-Version: 1.0\r\n"
    b"Content-Type: multipart/mixed; boundary=B\r\n\r\n--B\r\nContent-Type: application/pdf\r\n\r\nx\r\n--B--\r\n"
)


def lay_out(root: Path) -> FileTree:
    """Some of everything."""
    held = (
        "rot.txt",
        "Sak 1/a_b.txt",
        "Sak 1/dypt/ned/c.txt",
        "Sak 2/\udcff.bin",
        f"Sak 2/{unicodedata.normalize('NFD', 'å')}",
    )
    for name in held:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
        os.utime(root / name, (1_700_000_000, 1_700_000_000))
    (root / "brev.eml").write_bytes(MAIL)
    (root / "Sak 2/tom").mkdir()
    return FileTree(root, POLICY)


def mapped(source: FileTree) -> list[MappedRecord]:
    """Every record through the source's own recipe."""
    mapper = compile_recipe(read_recipe(source.default_recipe(), "default"))
    records = [item for item in source.records(ignore_event) if isinstance(item, SourceRecord)]
    told = [mapper.map(record) for record in records]
    taken = [one for one in told if isinstance(one, MappedRecord)]
    assert len(taken) == len(records)
    return taken


def by_type(taken: list[MappedRecord], kind: str) -> dict[str, Entity]:
    """The entities of a type by key."""
    return {entity.key: entity for one in taken for entity in one.entities if entity.type == kind}


def test_the_default_recipe_has_no_fault(tmp_path: Path) -> None:
    source = lay_out(tmp_path)
    samples = [item for item in source.records(ignore_event) if isinstance(item, SourceRecord)]
    assert check(read_recipe(source.default_recipe(), "default"), samples) == []


def test_every_file_is_a_record_with_a_document_and_a_version(tmp_path: Path) -> None:
    taken = mapped(lay_out(tmp_path))
    titles = {key: entity.fields["tittel"] for key, entity in by_type(taken, "Basisregistrering").items()}
    assert titles == {
        "rot.txt": "rot.txt",
        "brev.eml": "Hei",
        "Sak 1/a_b.txt": "a_b.txt",
        "Sak 1/dypt/ned/c.txt": "dypt / ned / c.txt",
        "Sak 2/%FF.bin": "\ufffd.bin",
        f"Sak 2/{unicodedata.normalize('NFD', 'å')}": unicodedata.normalize("NFD", "å"),
    }
    versions = by_type(taken, "Dokumentversjon").values()
    assert len(versions) == 7  # the mail's attachment is a document of its own
    assert all(version.content is not None for version in versions)


def test_top_folders_are_mapper_and_the_root_is_one_for_what_stands_in_it(tmp_path: Path) -> None:
    taken = mapped(lay_out(tmp_path))
    records = by_type(taken, "Basisregistrering")
    folders = by_type(taken, "Mappe")
    named = {key: folders[entity.parent or ""].fields["tittel"] for key, entity in records.items()}
    assert named["rot.txt"] == tmp_path.name
    assert named["Sak 1/dypt/ned/c.txt"] == "Sak 1"
    assert {entity.parent for entity in folders.values()} <= {f"arkivdel:Filer: {tmp_path.name}"}


def test_dates_are_those_of_the_mail_or_the_file(tmp_path: Path) -> None:
    records = by_type(mapped(lay_out(tmp_path)), "Basisregistrering")
    assert records["brev.eml"].fields["dokumentetsDato"] == "2024-01-02"
    assert records["rot.txt"].fields["dokumentetsDato"] == "2023-11-14"


@pytest.mark.parametrize("name", ['a"b', "= record.name", "\udcff\x7f\n", "å" * 80])
def test_two_trees_have_names_of_their_own_in_the_archive_however_odd(tmp_path: Path, name: str) -> None:
    systems = set()
    for number in ("1", "2"):
        root = tmp_path / (name + number) / ("x" * 120) / name
        root.mkdir(parents=True)
        recipe = read_recipe(FileTree(root).default_recipe(), "default")
        assert recipe.problems == ()
        assert len(recipe.target.external_system) < 250
        systems.add(recipe.target.external_system)
        compile_recipe(recipe)
    assert len(systems) == 2


def test_the_proposal_fits_what_was_seen(tmp_path: Path) -> None:
    source = lay_out(tmp_path)
    recipe = read_recipe(source.proposal(ignore_event), "proposed")
    samples = [item for item in source.records(ignore_event) if isinstance(item, SourceRecord)]
    assert [problem for problem in check(recipe, samples) if not problem.warning] == []
