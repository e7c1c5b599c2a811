"""Shallow packages: what a METS has outside of its package is never followed unasked, and is proven where it is."""

from __future__ import annotations

import csv
from pathlib import Path
from urllib.parse import quote

import pytest

import noarkit
from noarkit.cli.exit_codes import ingest_exit_code
from noarkit.errors import UsageFault
from tests.sources.eark.foreign import submission
from tests.sources.landed import land, sha256

HELD = b"langt borte"


def shallow(place: Path, href: str, held: bytes = HELD) -> Path:
    """A submission whose only file stands at `href`."""
    package = submission(place / "sip", {"borte.txt": held}, "MIXED")
    (package / "representations" / "rep1" / "data" / "borte.txt").unlink()
    mets = package / "representations" / "rep1" / "METS.xml"
    text = mets.read_text("utf-8")
    assert "data/borte.txt" in text
    mets.write_text(text.replace("data/borte.txt", href), "utf-8")
    root = package / "METS.xml"
    content = mets.read_bytes()
    old = text.encode()
    root.write_text(
        root.read_text("utf-8")
        .replace(sha256(old), sha256(content))
        .replace(f'SIZE="{len(old)}"', f'SIZE="{len(content)}"'),
        "utf-8",
    )
    return package


def store(place: Path) -> Path:
    (place / "store" / "år 1").mkdir(parents=True)
    (place / "store" / "år 1" / "borte.txt").write_bytes(HELD)
    return place / "store"


def set_aside(run: Path) -> dict[str, str]:
    with (run / "set-aside.csv").open(encoding="utf-8-sig", newline="") as file:
        return {row["key"]: row["reason"] for row in csv.DictReader(file, delimiter=";")}


def test_a_file_elsewhere_is_told_with_the_way_to_it_and_never_followed(tmp_path: Path) -> None:
    href = f"file://{quote(str(store(tmp_path) / 'år 1' / 'borte.txt'))}"
    package = shallow(tmp_path, href)
    planned = noarkit.plan(package, tmp_path / "run")
    assert planned.records["set_aside"] == 1
    ((key, reason),) = set_aside(tmp_path / "run").items()
    assert key == href and "--shallow-root" in reason


@pytest.mark.parametrize("spelt", ["file://{}", "file:{}", "{}"])
def test_it_is_carried_from_the_folder_that_may_be_read(tmp_path: Path, spelt: str) -> None:
    place = store(tmp_path)
    package = shallow(tmp_path, spelt.format(quote(str(place / "år 1" / "borte.txt"))))
    found = land(package, tmp_path, shallow_root=place)
    assert ingest_exit_code(found.loaded) == 0 and found.proof.good
    assert sha256(HELD) in found.sums()
    assert "set_aside" not in found.planned.records
    assert "borte.txt" in found.values("Basisregistrering", "tittel")


def test_bytes_that_are_not_those_of_the_mets_are_not_taken(tmp_path: Path) -> None:
    place = store(tmp_path)
    package = shallow(tmp_path, f"file://{quote(str(place / 'år 1' / 'borte.txt'))}")
    (place / "år 1" / "borte.txt").write_bytes(HELD.replace(b"l", b"L"))
    noarkit.plan(package, tmp_path / "run", shallow_root=place)
    loaded = noarkit.ingest(tmp_path / "run", archive=f"embedded:{tmp_path / 'archive'}", workers=0)
    assert (ingest_exit_code(loaded), loaded.numbers.set_aside) == (3, 1)
    (place / "år 1" / "borte.txt").write_bytes(HELD * 2)
    planned = noarkit.plan(package, tmp_path / "again", shallow_root=place)
    assert planned.records["set_aside"] == 1, "another size"


def test_no_way_leads_out_of_that_folder(tmp_path: Path) -> None:
    place = store(tmp_path)
    (tmp_path / "secret.txt").write_bytes(HELD)
    (place / "link.txt").symlink_to(tmp_path / "secret.txt")
    ways = [f"{place}/../secret.txt", f"{place}/%2e%2e/secret.txt", f"{place}/link.txt", f"{tmp_path}/secret.txt"]
    ways += ["/etc/passwd", f"{place}-other/secret.txt"]
    for number, way in enumerate((*(f"file://{way}" for way in ways), "http://example.org/x", "//host/share/x")):
        package = shallow(tmp_path / str(number), way)
        planned = noarkit.plan(package, tmp_path / str(number) / "run", shallow_root=place)
        assert planned.records["set_aside"] == 1, way


def test_the_option_is_for_e_ark_packages_alone(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    with pytest.raises(UsageFault):
        noarkit.plan(tmp_path / "files", tmp_path / "run", shallow_root=tmp_path)
