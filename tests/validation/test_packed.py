"""An extract in an archive file is held to the same rules as in a folder, without its documents being unpacked."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

import pytest

from noarkit.errors import NoarkitError, TooLarge
from noarkit.forms.comparison import compare_extracts
from noarkit.forms.validation import ValidateResult, validate
from noarkit.safe.unpack import UnpackLimits
from samples.packages.bad import BAD, Bad
from samples.packages.make import drafts_with, write_good

# an archive file holds no links, and what cannot be read in one is refused as a whole
OF_A_FOLDER = {"N005"}
PACKED = [bad for bad in BAD if not bad.official and bad.code not in OF_A_FOLDER]
KINDS = ("zip", "tar", "tar.gz")


def packed(folder: Path, kind: str, top: str = "uttrekk/") -> Path:
    """The extract in an archive file whose name says nothing."""
    target = folder.with_name(folder.name + ".bin")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if kind == "zip":
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in files:
                archive.write(path, top + path.relative_to(folder).as_posix())
        return target
    with tarfile.open(target, "w:gz" if kind == "tar.gz" else "w") as tar:
        for path in files:
            tar.add(path, top + path.relative_to(folder).as_posix())
    return target


def told(report: ValidateResult) -> dict[str, tuple[int, list[tuple[str, int | None]]]]:
    """What a report says, without where the package lies."""
    return {one.rule.code: (one.count, [(place.file, place.line) for place in one.places]) for one in report.outcomes}


@pytest.mark.parametrize(("number", "bad"), list(enumerate(PACKED)), ids=[bad.name for bad in PACKED])
def test_a_packed_extract_gets_the_verdict_of_a_folder(tmp_path: Path, number: int, bad: Bad) -> None:
    folder = tmp_path / "uttrekk"
    bad.draft(drafts_with(None)).write(folder)
    top = ("", "uttrekk/", "uttrekk/content/")[number % 3]
    try:
        expected = told(validate(folder))
    except NoarkitError as fault:  # whatever it says of the folder, it says of the archive file
        with pytest.raises(type(fault)):
            validate(packed(folder, KINDS[number % 2], top))
        return
    found = validate(packed(folder, KINDS[number % 3], top))
    assert told(found) == expected
    assert found.package == str(folder) + ".bin"


def test_the_limits_hold_for_a_packed_extract(tmp_path: Path) -> None:
    write_good(tmp_path / "uttrekk", "5.0")
    with pytest.raises(TooLarge):
        validate(packed(tmp_path / "uttrekk", "zip"), limits=UnpackLimits(members=3))


@pytest.mark.parametrize("kind", KINDS)
def test_packed_extracts_are_compared_byte_for_byte(tmp_path: Path, kind: str) -> None:
    write_good(tmp_path / "uttrekk", "5.0")
    write_good(tmp_path / "annet", "5.0")
    assert compare_extracts(packed(tmp_path / "uttrekk", kind), tmp_path / "annet").equal
    document = min(path for path in (tmp_path / "annet" / "dokumenter").rglob("*") if path.is_file())
    document.write_bytes(document.read_bytes()[::-1])
    found = compare_extracts(packed(tmp_path / "uttrekk", kind), packed(tmp_path / "annet", kind))
    assert [(one.kind, one.field) for one in found.differences] == [("differs", "sha256")]
