"""A bag may have a manifest for each of several algorithms: all are asked, and one that is right is no excuse."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import noarkit

ALGORITHMS = ("md5", "sha256", "sha512")
WRITTEN, FORGED = b"Vedtak om epler.\n", b"Vedtak om plomm.\n"


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    """A bag of one document with three manifests."""
    bag = tmp_path / "bag"
    (bag / "data").mkdir(parents=True)
    (bag / "data/brev.txt").write_bytes(WRITTEN)
    (bag / "bagit.txt").write_text("BagIt-Version: 0.97\nTag-File-Character-Encoding: UTF-8\n")
    for algorithm in ALGORITHMS:
        _write_manifest(bag, algorithm, WRITTEN)
    return bag


def _write_manifest(bag: Path, algorithm: str, content: bytes) -> None:
    line = f"{hashlib.new(algorithm, content).hexdigest()}  data/brev.txt\n"
    (bag / f"manifest-{algorithm}.txt").write_text(line)


def test_a_bag_whose_manifests_agree_is_taken(bag: Path, tmp_path: Path) -> None:
    assert noarkit.plan(bag, tmp_path / "run").records.get("set_aside", 0) == 0


@pytest.mark.parametrize("honest", ALGORITHMS)
def test_a_document_is_set_aside_over_the_one_manifest_that_was_not_forged(
    honest: str, bag: Path, tmp_path: Path
) -> None:
    (bag / "data/brev.txt").write_bytes(FORGED)
    for algorithm in ALGORITHMS:
        if algorithm != honest:
            _write_manifest(bag, algorithm, FORGED)
    result = noarkit.plan(bag, tmp_path / "run")
    assert result.records["set_aside"] == 1, result.records
    assert "F203" in (tmp_path / "run/set-aside.csv").read_text("utf-8-sig")
