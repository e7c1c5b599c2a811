"""Packages that try something: each is refused by its own fault code, nothing is followed, and nothing is written."""

from __future__ import annotations

import io
import os
import resource
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from noarkit.errors import HostileInput, NoarkitError, PackageFault, TooLarge, UnsafeMember, UnsafePath
from noarkit.forms.eark.rules.inventory import Inventory
from noarkit.forms.eark.rules.places import Places
from noarkit.forms.eark.rules.run import EarkValidateOptions, validate_eark
from noarkit.forms.findings import Place, ValidateResult
from noarkit.safe.unpack import UnpackLimits
from samples.packages.eark import OBJID, REP, Draft, good, premis, seal, write_folder, write_tar, write_zip

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
README = "documentation/readme.txt"
SECRET = b"nobody may read this"
CLIMBING = (
    "../../outside.txt",
    "..%2f..%2foutside.txt",
    "%2e%2e/%2e%2e/outside.txt",
    "%2E%2E%2F%2E%2E%2Foutside.txt",
    "file:../../outside.txt",
    "file://../../outside.txt",
    "documentation/../../outside.txt",
    "documentation/%2e%2e/%2e%2e/outside.txt",
    "..\\..\\outside.txt",
    "..%5C..%5Coutside.txt",
    "a\\..\\..\\outside.txt",
    "./../outside.txt",
)
ABSOLUTE = (
    "/etc/passwd",
    "/outside.txt",
    "file:///etc/passwd",
    "file:/etc/passwd",
    "%2Fetc%2Fpasswd",
    "file://localhost/../../etc/passwd",
)
ODD = (
    "C:\\Windows\\win.ini",
    "c:/windows/win.ini",
    "file:C:/x",
    "\\\\?\\C:\\x",
    "//server/share/x",
    "a%00b",
    "con",
    "aux.txt",
)


def places(report: ValidateResult, code: str) -> tuple[Place, ...]:
    """Where a rule does not hold."""
    return next((one.places for one in report.outcomes if one.rule.code == code), ())


def pointing(href: str) -> Draft:
    """A package whose METS names another place for one file."""
    draft = good()
    draft.edit("METS.xml", f'xlink:href="{README}"', f'xlink:href="{href}"')
    return draft


def packed(draft: Draft, path: Path) -> Path:
    """The package in the archive file that the name asks for."""
    return write_zip(draft, path) if path.name.endswith("zip") else write_tar(draft, path)


def test_uses_without_a_folder_are_not_looked_for_without_end() -> None:
    with Inventory(lambda name: 0) as inventory:
        inventory.take_present((f"representations/rep{number}/a", 1) for number in range(2_000))
        found = [inventory.has_folder(f"Representations/none{number}") for number in range(12)]
        assert inventory.has_folder("Representations/rep7")
    assert found == [False] * 9 + [True] * 3  # some 2 000 folders were looked at each time


@pytest.mark.parametrize(
    ("href", "form"),
    [
        *((href, "folder") for href in (*CLIMBING, *ABSOLUTE, *ODD)),
        *((href, form) for href in (CLIMBING[0], CLIMBING[3], ABSOLUTE[1]) for form in ("zip", "tar")),
    ],
)
def test_a_href_that_leads_out_is_not_followed(tmp_path: Path, href: str, form: str) -> None:
    (tmp_path / "outside.txt").write_bytes(SECRET)
    above = tmp_path / "a" / "b"
    above.mkdir(parents=True)
    draft = pointing(href)
    path = write_folder(draft, above) if form == "folder" else packed(draft, above / f"{OBJID}.{form}")
    before = sorted(tmp_path.rglob("*"))
    report = validate_eark(path)
    assert not report.valid
    (place,) = places(report, "EARK-HREF")
    assert (place.file, place.data["fault"]) == ("METS.xml", "F601")
    assert place.line is not None
    assert {"EARK-UNLISTED"} <= report.codes
    assert not report.codes & {"CSIP69", "CSIP71"}, "the file was read"
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("href", CLIMBING[:6])
def test_no_reference_to_metadata_or_mets_and_no_object_of_premis_leads_out(tmp_path: Path, href: str) -> None:
    (tmp_path / "outside.txt").write_bytes(SECRET)
    draft = good()
    for name in ("metadata/descriptive/ead.xml", f"{REP}/METS.xml"):
        draft.edit("METS.xml", f'xlink:href="{name}"', f'xlink:href="{href}"', -1)
    report = validate_eark(write_folder(draft, tmp_path / "a"))
    assert len(places(report, "EARK-HREF")) == 3
    draft = good()
    draft.files["metadata/preservation/premis.xml"] = premis({href.replace("&", "&amp;"): SECRET})
    seal(draft)
    report = validate_eark(write_folder(draft, tmp_path / "b"))
    assert {place.file for place in places(report, "EARK-HREF")} == {"metadata/preservation/premis.xml"}
    assert "EARK-PREMIS-CHECKSUM" not in report.codes


@pytest.mark.parametrize("href", ["/outside.txt", "/", "x/", "a//b", "..", "../x", "./x", "", "a b", "a%2fb", "C:x"])
def test_no_name_passes_as_plain_but_one_that_means_itself(href: str) -> None:
    """In a large folder plain names are handed to whoever reads the files without being looked for."""
    with Inventory(len) as inventory:
        places = Places(inventory)
        try:
            assert not places.is_plain(href)
        except UnsafePath:
            assert href == ".."
        assert places.is_plain("a/b.txt") and places.is_plain("a/c.txt")
        with pytest.raises(UnsafePath):
            places.is_plain("a/..")


def test_names_that_only_look_odd_are_names(tmp_path: Path) -> None:
    for href, name in (("~root/x", "~root/x"), ("%252e%252e/x", "%2e%2e/x"), ("a..b", "a..b"), ("...", "...")):
        draft = pointing(href)
        draft.files[name] = draft.files.pop(README)
        report = validate_eark(write_folder(draft, tmp_path / str(len(href))))
        assert not report.codes & {"EARK-HREF", "CSIP79", "EARK-UNLISTED"}, href


@pytest.mark.parametrize("name", ["../evil.txt", "/evil.txt", "a/../../evil.txt", "C:/evil.txt", "..\\evil.txt"])
@pytest.mark.parametrize("form", ["zip", "tar", "tar.gz"])
def test_a_member_name_that_leads_out_is_refused(tmp_path: Path, name: str, form: str) -> None:
    draft = good()
    draft.top = ""
    draft.files = {f"{OBJID}/{inner}": content for inner, content in draft.files.items()} | {name: b"x"}
    path = packed(draft, tmp_path / f"package.{form}")
    with pytest.raises(UnsafePath) as fault:
        validate_eark(path)
    assert fault.value.code == "F601"
    assert not (tmp_path.parent / "evil.txt").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_a_tar_are_refused(tmp_path: Path, kind: bytes) -> None:
    path = write_tar(good(), tmp_path / "package.tar")
    with tarfile.open(path, "a") as archive:
        info = tarfile.TarInfo(f"{OBJID}/documentation/link")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    with pytest.raises(UnsafeMember) as fault:
        validate_eark(path)
    assert fault.value.code == "F602"


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    path = write_zip(good(), tmp_path / "package.zip")
    with zipfile.ZipFile(path, "a") as archive:
        info = zipfile.ZipInfo(f"{OBJID}/documentation/link")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(UnsafeMember, match="link"):
        validate_eark(path)


def test_links_and_pipes_in_a_folder_are_told_and_never_opened(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "readme.txt").write_bytes(good().files[README])
    path = write_folder(good(), tmp_path)
    (path / README).unlink()
    (path / README).symlink_to(tmp_path / "outside" / "readme.txt")
    (path / "schemas" / "more").symlink_to(tmp_path / "outside")
    os.mkfifo(path / "documentation" / "pipe")
    report = validate_eark(path)
    assert {place.data["kind"] for place in places(report, "EARK-ODD")} == {"link", "device"}
    assert len(places(report, "EARK-ODD")) == 3
    assert report.codes & {"CSIP79", "EARK-UNREADABLE"}, "a file behind a link counts as there"


def test_a_mets_document_behind_a_link_is_not_read(tmp_path: Path) -> None:
    path = write_folder(good(), tmp_path)
    (tmp_path / "METS.xml").write_bytes((path / "METS.xml").read_bytes())
    (path / "METS.xml").unlink()
    (path / "METS.xml").symlink_to(tmp_path / "METS.xml")
    assert {"CSIPSTR4", "EARK-ODD"} <= validate_eark(path).codes


def test_names_that_are_no_text_are_told(tmp_path: Path) -> None:
    path = write_folder(good(), tmp_path)
    Path(os.fsdecode(os.fsencode(path) + b"/documentation/bl\xe5.txt")).write_bytes(b"x")
    assert "EARK-NAME" in validate_eark(path).codes


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = write_zip(good(), tmp_path / f"{OBJID}.zip")
    whole = bytearray(path.read_bytes())
    begin = whole.index(f"{OBJID}/{README}".encode()) + len(f"{OBJID}/{README}")
    whole[begin] ^= 0xFF
    path.write_bytes(whole)
    report = validate_eark(path)
    assert [place.data["name"] for place in places(report, "EARK-UNREADABLE")] == [README]


def duplicate_zip(path: Path) -> Path:
    write_zip(good(), path)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(f"{OBJID}/{README}", b"other")
    return path


def twin_zip(path: Path) -> Path:
    draft = good()
    draft.files["documentation/README.TXT"] = b"twin"
    return write_zip(draft, path)


def composed_tar(path: Path) -> Path:
    draft = good()
    draft.files["documentation/e\u0301.txt"] = draft.files["documentation/\u00e9.txt"] = b"twin"
    return write_tar(draft, path)


def overlapping_zip(path: Path) -> Path:
    """Two entries of the directory share the bytes of one."""
    write_zip(good(), path)
    whole = bytearray(path.read_bytes())
    first = whole.index(b"PK\x01\x02")
    second = whole.index(b"PK\x01\x02", first + 4)
    offset = struct.unpack("<I", whole[first + 42 : first + 46])[0]
    whole[second + 42 : second + 46] = struct.pack("<I", offset)
    path.write_bytes(whole)
    return path


@pytest.mark.parametrize(
    ("make", "name", "why"),
    [
        (duplicate_zip, "a.zip", "duplicate"),
        (twin_zip, "b.zip", "twin"),
        (composed_tar, "c.tar", "twin"),
        (overlapping_zip, "d.zip", "overlap"),
    ],
)
def test_members_that_share_a_name_or_bytes_are_refused(
    tmp_path: Path, make: Callable[[Path], Path], name: str, why: str
) -> None:
    with pytest.raises(UnsafeMember) as fault:
        validate_eark(make(tmp_path / name))
    assert (fault.value.code, fault.value.data["why"]) == ("F602", why)


@pytest.mark.parametrize("form", ["zip", "tar.gz"])
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, form: str) -> None:
    draft = good()
    draft.files[f"{REP}/data/bomb.bin"] = bytes(30 * 2**20)
    path = packed(draft, tmp_path / f"package.{form}")
    with pytest.raises(TooLarge) as fault:
        validate_eark(path, EarkValidateOptions(limits=UnpackLimits(free_bytes=2**20, ratio=10)))
    assert (fault.value.code, fault.value.data["why"]) == ("F603", "ratio")


def test_more_members_than_the_limit_are_refused_and_as_many_are_not(tmp_path: Path) -> None:
    path = write_zip(good(), tmp_path / f"{OBJID}.zip")
    count = len(good().files)
    assert validate_eark(path, EarkValidateOptions(limits=UnpackLimits(members=count))).valid
    with pytest.raises(TooLarge, match="members"):
        validate_eark(path, EarkValidateOptions(limits=UnpackLimits(members=count - 1)))


@pytest.mark.parametrize("count", [3_000 if not DEEP else 1_000_000])
def test_a_million_members_within_the_limits_are_judged_in_little_memory(tmp_path: Path, count: int) -> None:
    """The deep variant takes a million; each is unlisted, which is the worst that can be said of so many."""
    path = tmp_path / f"{OBJID}.tar"
    write_tar(good(), path)
    info = tarfile.TarInfo()
    with path.open("r+b") as file:
        file.seek(_end_of_tar(path))
        for number in range(count):
            info.name = f"{OBJID}/extra/{number // 1000:05}/{number:08}"
            file.write(info.tobuf(tarfile.USTAR_FORMAT))
        file.write(bytes(1024))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = validate_eark(path)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    unlisted = next(one for one in report.outcomes if one.rule.code == "EARK-UNLISTED")
    assert (unlisted.count, len(unlisted.places)) == (count, 100)
    assert grown < 150


def _end_of_tar(path: Path) -> int:
    with tarfile.open(path) as archive:
        last = archive.getmembers()[-1]
    return last.offset_data + (last.size + 511) // 512 * 512


XML: dict[str, tuple[str, str]] = {
    "doctype": ('<!DOCTYPE mets SYSTEM "http://192.0.2.1/evil.dtd">', "doctype"),
    "external": ('<!DOCTYPE mets [<!ENTITY x SYSTEM "file:///etc/passwd">]>', "doctype"),
    "laughs": (f'<!DOCTYPE mets [<!ENTITY a "{"ha" * 100}"><!ENTITY b "&a;&a;&a;&a;">]>', "doctype"),
}


@pytest.mark.parametrize("name", XML)
@pytest.mark.parametrize("document", ["METS.xml", f"{REP}/METS.xml", "metadata/preservation/premis.xml"])
def test_xml_that_tries_something_is_refused_by_name(tmp_path: Path, name: str, document: str) -> None:
    text, why = XML[name]
    draft = good()
    content = draft.files[document].decode()
    begin = content.index("<mets") if "METS" in document else content.index("<premis")
    draft.files[document] = (content[:begin] + text + content[begin:]).encode()
    (place,) = places(validate_eark(write_folder(draft, tmp_path)), "EARK-XML-HOSTILE")
    assert (place.file, place.data["fault"], place.data["why"]) == (document, "F604", why)


@pytest.mark.parametrize("document", ["METS.xml", "metadata/preservation/premis.xml"])
def test_xml_without_bottom_is_refused(tmp_path: Path, document: str) -> None:
    draft = good()
    root = "</mets>" if "METS" in document else "</premis>"
    draft.edit(document, root, "<x>" * 200 + "</x>" * 200 + root)
    (place,) = places(validate_eark(write_folder(draft, tmp_path)), "EARK-XML-HOSTILE")
    assert place.data["why"] == "depth"


@pytest.mark.parametrize(
    ("old", "more"),
    [
        ("<name>Maker</name>", "<name>" + "x" * 11_000_000 + "</name>"),
        ("<name>Maker</name>", '<name x="' + "x" * 18_000_000 + '"/>'),
    ],
)
def test_a_text_or_tag_without_end_is_refused(tmp_path: Path, old: str, more: str) -> None:
    draft = good()
    draft.edit("METS.xml", old, more)
    (place,) = places(validate_eark(write_folder(draft, tmp_path)), "EARK-XML-HOSTILE")
    assert place.data["why"] == "limits"


def test_more_agents_than_any_header_has_are_refused(tmp_path: Path) -> None:
    draft = good()
    draft.edit("METS.xml", "<altRecordID", '<agent ROLE="CREATOR"/>' * 10_001 + "<altRecordID")
    (place,) = places(validate_eark(write_folder(draft, tmp_path)), "EARK-XML-HOSTILE")
    assert place.data["why"] == "limits"


@pytest.mark.parametrize(
    "content", [b"", b"<mets", b"\xff\xfe<", b"<other/>", b'<?xml version="1.0" encoding="rot13"?><mets/>']
)
def test_what_is_no_mets_is_told(tmp_path: Path, content: bytes) -> None:
    draft = good()
    draft.files["METS.xml"] = content
    report = validate_eark(write_folder(draft, tmp_path))
    assert not report.valid
    assert {place.file for place in places(report, "EARK-XML")} == {"METS.xml"}


def test_a_schema_location_is_never_followed(tmp_path: Path) -> None:
    draft = good()
    where = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.loc.gov/METS/ http://192.0.2.1/mets.xsd"'
    draft.edit("METS.xml", "<mets ", f"<mets {where} ")
    assert validate_eark(write_folder(draft, tmp_path)).valid


def test_packages_forty_deep_are_not_unpacked(tmp_path: Path) -> None:
    inner = b"the innermost"
    for _ in range(40):
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            archive.writestr("inner.zip", inner)
        inner = held.getvalue()
    draft = good()
    name = f"{REP}/data/a.txt"
    draft.files[name] = inner
    draft.files[f"{REP}/metadata/preservation/premis.xml"] = premis({"data/a.txt": inner})
    seal(draft)
    before = set(tmp_path.rglob("*"))
    path = write_zip(draft, tmp_path / f"{OBJID}.zip")
    assert validate_eark(path).valid
    assert set(tmp_path.rglob("*")) - before == {path}


def test_a_tar_that_ends_like_a_zip_is_a_tar(tmp_path: Path) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("content/x", b"inner")
    draft = good()
    draft.files[f"{REP}/data/z.siard"] = held.getvalue()
    path = write_tar(draft, tmp_path / "package.tar")
    assert zipfile.is_zipfile(path)
    report = validate_eark(path)
    assert report.summary["representations"] == ("rep1",)
    assert {place.data["name"] for place in places(report, "EARK-UNLISTED")} == {f"{REP}/data/z.siard"}


@pytest.mark.parametrize("form", ["zip", "tar", "tar.gz"])
@pytest.mark.parametrize("cut", [1, 3, 6])
def test_a_cut_archive_file_is_refused_or_found_wanting(tmp_path: Path, form: str, cut: int) -> None:
    path = packed(good(), tmp_path / f"{OBJID}.{form}")
    path.write_bytes(path.read_bytes()[: path.stat().st_size * (cut * 9) // 100])
    try:
        assert not validate_eark(path).valid
    except NoarkitError as fault:
        assert isinstance(fault, PackageFault | HostileInput)


def test_validation_changes_nothing(tmp_path: Path) -> None:
    path = write_folder(good(), tmp_path)
    before = {each: each.stat().st_mtime_ns for each in tmp_path.rglob("*")}
    validate_eark(path)
    assert {each: each.stat().st_mtime_ns for each in tmp_path.rglob("*")} == before
