"""What a package tries is refused by name, and whatever it is, nothing is written into it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from noarkit.errors import PackageFault, SourceGone
from noarkit.forms.noark5.rules.messages import refusal
from noarkit.forms.validation import ValidateResult, validate
from samples.packages.changes import Change, edit, replaced
from samples.packages.describe import seal
from samples.packages.good import good_draft

OURS = {"N102"}
FILES = ("arkivstruktur.xml", "endringslogg.xml", "loependeJournal.xml", "offentligJournal.xml")
LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>\n'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]>\n'
DEEP = "<mappe>" * 150 + "</mappe>" * 150


def package(folder: Path, *changes: Change) -> Path:
    """A good package, changed before it is described."""
    draft = good_draft()
    for change in changes:
        change(draft)
    seal(draft)
    draft.write(folder)
    return folder


def places(report: ValidateResult, code: str) -> list[str]:
    """The files in which a rule was broken."""
    return [place.file for one in report.outcomes if one.rule.code == code for place in one.places]


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("hostile", [LAUGHS, OUTSIDE], ids=["entities", "outside"])
def test_a_document_type_is_refused_by_name_in_every_file(file: str, hostile: str, tmp_path: Path) -> None:
    report = validate(package(tmp_path, replaced(file, r"\?>\n", f"?>\n{hostile}")))
    assert places(report, "N006") == [file]
    assert not report.valid


def test_a_document_type_in_the_description_is_refused_too(tmp_path: Path) -> None:
    package(tmp_path)
    description = tmp_path / "arkivuttrekk.xml"
    description.write_text(description.read_text("utf-8").replace("?>\n", f"?>\n{LAUGHS}", 1), "utf-8")
    assert places(validate(tmp_path), "N006") == ["arkivuttrekk.xml"]


def test_a_document_type_in_a_schema_of_the_package_is_refused(tmp_path: Path) -> None:
    report = validate(package(tmp_path, replaced("eiendom.xsd", r"\?>\n", f"?>\n{OUTSIDE}")))
    assert "eiendom.xsd" in places(report, "N006")


@pytest.mark.parametrize("file", FILES)
def test_depth_is_refused_by_name(file: str, tmp_path: Path) -> None:
    report = validate(package(tmp_path, replaced(file, "(</[a-zA-Z]+>\n)$", rf"{DEEP}\1")))
    assert places(report, "N006") == [file]


def test_depth_inside_metadata_of_others_is_refused_too(tmp_path: Path) -> None:
    deep = "<x>" * 150 + "</x>" * 150
    report = validate(package(tmp_path, replaced("arkivstruktur.xml", "<gnr[^>]*>12</gnr>", deep)))
    assert places(report, "N006") == ["arkivstruktur.xml"]


@pytest.mark.parametrize("file", ["arkivstruktur.xml", "loependeJournal.xml"])
def test_a_text_without_end_is_refused(file: str, tmp_path: Path) -> None:
    huge = "x" * (24 * 1024 * 1024)
    report = validate(package(tmp_path, replaced(file, "<arkivskaperNavn>", f"<arkivskaperNavn>{huge}")))
    assert places(report, "N006") == [file]


def test_a_tag_without_end_is_refused(tmp_path: Path) -> None:
    package(tmp_path, edit("endringslogg.xml", "<endringslogg ", f'<endringslogg x="{"y" * (24 * 1024 * 1024)}" '))
    assert places(validate(tmp_path), "N006") == ["endringslogg.xml"]


@pytest.mark.parametrize("file", FILES)
def test_a_file_cut_in_the_middle_is_told_with_its_line(file: str, tmp_path: Path) -> None:
    package(tmp_path)
    path = tmp_path / file
    path.write_bytes(path.read_bytes()[:-40])
    report = validate(tmp_path)
    assert places(report, "N007") == [file]
    assert next(one for one in report.outcomes if one.rule.code == "N007").places[0].line
    assert "N205" in report.codes


def test_links_and_special_files_are_told_and_not_opened(tmp_path: Path) -> None:
    folder = package(tmp_path / "package")
    secret = tmp_path / "secret"
    secret.write_text("?")
    (folder / "dokumenter" / "lenke.pdf").symlink_to(secret)
    (folder / "dokumenter" / "mappe").symlink_to(tmp_path)
    os.mkfifo(folder / "dokumenter" / "ror.pdf")
    report = validate(folder)
    assert places(report, "N005") == ["dokumenter/lenke.pdf", "dokumenter/mappe", "dokumenter/ror.pdf"]
    assert report.codes == OURS | {"N005"}


def test_a_description_that_is_a_link_does_not_count(tmp_path: Path) -> None:
    folder = package(tmp_path / "package")
    (folder / "arkivstruktur.xml").rename(tmp_path / "elsewhere.xml")
    (folder / "arkivstruktur.xml").symlink_to(tmp_path / "elsewhere.xml")
    report = validate(folder)
    assert "arkivstruktur.xml" in places(report, "N005")
    assert not report.valid


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "dokumenter/../../x.pdf", "C:/x.pdf", "dokumenter\\..\\..\\x.pdf", "//server/x.pdf"]
)
def test_a_path_that_leads_out_is_told_and_never_followed(path: str, tmp_path: Path) -> None:
    value = path.replace("\\", "\\\\")
    report = validate(
        package(tmp_path, replaced("arkivstruktur.xml", "(<referanseDokumentfil>)[^<]*", rf"\g<1>{value}"))
    )
    assert "N005" in report.codes


def test_names_that_are_no_text_are_told_without_a_fault(tmp_path: Path) -> None:
    folder = package(tmp_path)
    with open(os.fsencode(folder) + b"/dokumenter/\xff.pdf", "wb") as file:  # noqa: PTH123  # a name in bytes
        file.write(b"%PDF pdfaid")
    report = validate(folder)
    assert report.codes == OURS | {"N211", "N405"}


def test_nothing_is_written_into_a_package(tmp_path: Path) -> None:
    folder = package(tmp_path)

    def state() -> list[tuple[str, int, str]]:
        return [
            (
                str(path),
                path.stat().st_mtime_ns,
                hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
            )
            for path in sorted(folder.rglob("*"))
        ]

    before = state()
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        validate(folder)
    finally:
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert state() == before


def test_a_folder_that_is_no_package_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("?")
    for place in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(PackageFault) as fault:
            validate(place)
        assert fault.value.data["why"] == "no-package"
    with pytest.raises(SourceGone):
        validate(tmp_path / "nowhere")


@pytest.mark.parametrize("inner", ["content", "uuid", "uuid/content"])
def test_an_extract_is_found_where_deliveries_keep_it(inner: str, tmp_path: Path) -> None:
    package(tmp_path / inner)
    assert validate(tmp_path).codes == OURS


def test_a_description_behind_a_link_is_not_read(tmp_path: Path) -> None:
    folder = package(tmp_path / "package")
    (folder / "arkivuttrekk.xml").rename(tmp_path / "elsewhere.xml")
    (folder / "arkivuttrekk.xml").symlink_to(tmp_path / "elsewhere.xml")
    report = validate(folder)
    assert {"N001", "N005"} <= report.codes
    assert "system" not in report.summary or report.summary["system"] == ()


def test_a_file_that_cannot_be_read_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        folder = package(tmp_path)
        hit = refusal("endringslogg.xml", PermissionError(13, "Permission denied"))
        assert (hit.code, hit.data["why"]) == ("N007", "Permission denied")
        assert validate(folder).codes == OURS
        return
    folder = package(tmp_path)
    (folder / "endringslogg.xml").chmod(0)
    report = validate(folder)
    assert places(report, "N007") == ["endringslogg.xml"]
