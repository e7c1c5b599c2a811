"""Tars of other makers are read as they are, and no attack that a package may carry gets through."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.errors import HostileInput, NoarkitError, PackageFault, TooLarge, UnsafeMember, UnsafePath, UnsafeXml
from noarkit.forms.dias.read.package import open_dias
from noarkit.forms.dias.rules.run import validate_dias
from noarkit.safe.unpack import UnpackLimits
from samples.packages.dias import METS, UUID, DiasDraft, Edit, description, good_dias, tarred
from samples.packages.dias_aic import write_aic
from samples.packages.dias_bad import edited
from tests.forms.dias.trees import content_of

GOOD = {"a/letter.pdf": good_dias().files["content/a/letter.pdf"], "b.txt": b"b"}
DTD = '<!DOCTYPE mets [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    "draft",
    [
        good_dias(),
        replace(good_dias(), spelt=lambda name: name.replace("/", "\\")),
        replace(good_dias(), spelt=lambda name: name.replace("content/", "content\\")),
        replace(good_dias(), top=""),
        replace(good_dias(), top="any folder"),
        replace(good_dias(), packed=True),
        replace(good_dias(), name="renamed"),
        replace(good_dias(), description_name="info"),
        replace(good_dias(), mets=edited(("http://arkivverket.no/standarder/METS", "http://www.loc.gov/METS/"))),
        replace(good_dias(), mets=lambda text: "\ufeff" + text),
        replace(good_dias(), mets=lambda text: text.replace("file:content", "file://./content")),
        replace(good_dias(), mets=lambda text: text.replace("file:content/a/", "content\\a\\")),
        replace(good_dias(), mets=lambda text: text.replace("letter.pdf", "letter%2Epdf")),
        replace(good_dias(), beside=(tarfile.TarInfo("stray.txt"),)),
    ],
    ids=lambda _: "",
)
def test_packages_of_other_makers_are_read_all_the_same(draft: DiasDraft, tmp_path: Path) -> None:
    assert content_of(draft.write(tmp_path / "p")) == GOOD


def test_a_name_in_latin_1_is_read_as_that(tmp_path: Path) -> None:
    draft = good_dias()
    draft.files["content/blå.txt"] = b"blue"
    place = replace(draft, spelt=lambda name: name.replace("å", "\udce5")).write(tmp_path / "p")
    assert content_of(place) == {**GOOD, "blå.txt": b"blue"}


def test_files_that_a_sip_lists_and_leaves_out_do_not_stop_the_reader(tmp_path: Path) -> None:
    draft = good_dias()
    draft.files["administrative_metadata/repository_operations/report.html"] = b"r"
    draft.late["administrative_metadata/repository_operations/report.html"] = None
    assert content_of(draft.write(tmp_path / "p")) == GOOD


def test_what_is_not_as_listed_is_refused_at_its_end(tmp_path: Path) -> None:
    draft = good_dias()
    draft.late["content/b.txt"] = b"c"
    with open_dias(draft.write(tmp_path / "p")) as package:
        with package.open("content/b.txt") as file:
            assert file.read(1) == b"c"
            with pytest.raises(PackageFault) as fault:
                file.read(1)
        assert fault.value.data["why"] == "not-as-listed"
        with pytest.raises(PackageFault), package.open("content/nothing"):
            pass


@pytest.mark.parametrize("change", ["size", "checksum", "none", "another"])
def test_a_tar_that_is_not_the_sealed_one_is_refused(change: str, tmp_path: Path) -> None:
    edits: dict[str, Edit] = {
        "size": edited(('SIZE="[0-9]+"', 'SIZE="7"')),
        "checksum": edited(('CHECKSUM="[0-9a-f]+"', f'CHECKSUM="{"0" * 64}"')),
        "another": edited((rf"{UUID}\.tar", "other.bin")),
        "none": str,
    }
    draft = replace(good_dias(), seal=edits[change], sealed=change != "none")
    with open_dias(draft.write(tmp_path / "p")) as package, pytest.raises(PackageFault) as fault:
        package.prove_seal()
    assert fault.value.data["why"] == "not-sealed"


@pytest.mark.parametrize(("late", "why"), [("content/b.txt", "not-there"), (METS, "not-there")])
def test_a_package_with_a_hole_is_refused(late: str, why: str, tmp_path: Path) -> None:
    draft = good_dias()
    draft.late[late] = None
    with pytest.raises(PackageFault) as fault:
        open_dias(draft.write(tmp_path / "p"))
    assert fault.value.data["why"] == why


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


ATTACKS: dict[str, tuple[Callable[[], DiasDraft], type[NoarkitError]]] = {
    "climbs": (lambda: replace(good_dias(), beside=(member(f"{UUID}/../../out.txt"),)), UnsafePath),
    "climbs behind backslashes": (
        lambda: replace(good_dias(), beside=(member(f"{UUID}\\..\\..\\out.txt"),)),
        UnsafePath,
    ),
    "absolute": (lambda: replace(good_dias(), beside=(member("/tmp/out.txt"),)), UnsafePath),
    "drive": (lambda: replace(good_dias(), beside=(member("C:\\out.txt"),)), UnsafePath),
    "unc": (lambda: replace(good_dias(), beside=(member("\\\\host\\share"),)), UnsafePath),
    "device name": (lambda: replace(good_dias(), beside=(member(f"{UUID}/content/nul.txt"),)), UnsafePath),
    "symlink": (
        lambda: replace(good_dias(), beside=(member(f"{UUID}/l", tarfile.SYMTYPE, "/etc/passwd"),)),
        UnsafeMember,
    ),
    "hardlink": (
        lambda: replace(good_dias(), beside=(member(f"{UUID}/l", tarfile.LNKTYPE, "/etc/passwd"),)),
        UnsafeMember,
    ),
    "fifo": (lambda: replace(good_dias(), beside=(member(f"{UUID}/f", tarfile.FIFOTYPE),)), UnsafeMember),
    "character device": (lambda: replace(good_dias(), beside=(member(f"{UUID}/d", tarfile.CHRTYPE),)), UnsafeMember),
    "duplicate": (lambda: replace(good_dias(), beside=(member(f"{UUID}/{METS}"),)), UnsafeMember),
    "twin by case": (lambda: replace(good_dias(), beside=(member(f"{UUID}/DIAS-METS.XML"),)), UnsafeMember),
    "twin by backslash": (lambda: replace(good_dias(), beside=(member(f"{UUID}\\content\\b.txt"),)), UnsafeMember),
    "file as folder": (lambda: replace(good_dias(), beside=(member(f"{UUID}/log.xml/x"),)), UnsafeMember),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_archive_file_that_tries_something_is_refused(attack: str, tmp_path: Path) -> None:
    make, kind = ATTACKS[attack]
    place = make().write(tmp_path / "p")
    for act in (open_dias, validate_dias):
        with pytest.raises(kind):
            act(place)
    assert sorted(path.name for path in tmp_path.rglob("*")) == [f"{UUID}.tar", f"{UUID}.xml", "p"]


@pytest.mark.parametrize(
    ("limits", "why"),
    [(UnpackLimits(members=3), "members"), (UnpackLimits(total_bytes=100), "total-bytes")],
)
def test_limits_hold(limits: UnpackLimits, why: str, tmp_path: Path) -> None:
    place = good_dias().write(tmp_path / "p")
    for act in (open_dias, validate_dias):
        with pytest.raises(TooLarge) as fault:
            act(place, limits=limits)
        assert fault.value.data["why"] == why


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    draft = replace(good_dias(), packed=True)
    draft.files["content/zeros.bin"] = bytes(80_000_000)
    place = draft.write(tmp_path / "p")
    for act in (open_dias, validate_dias):
        with pytest.raises(TooLarge):
            act(place, limits=UnpackLimits(free_bytes=1_000_000, ratio=200))


def test_a_tar_that_was_cut_short_is_told(tmp_path: Path) -> None:
    place = good_dias().write(tmp_path / "p") / f"{UUID}.tar"
    place.write_bytes(place.read_bytes()[:-12_000])
    with pytest.raises(PackageFault):
        validate_dias(place)


@pytest.mark.parametrize("name", [METS, "log.xml", "administrative_metadata/dias-premis.xml"])
@pytest.mark.parametrize(
    "content",
    [
        f"{DTD}<mets>&a;</mets>",
        '<!DOCTYPE m [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><m>&b;</m>',
        "<a>" * 200_000,
        "<a" + " x='1'" * 2,
        "",
        "\x00",
    ],
    ids=["xxe", "entities", "deep", "cut", "empty", "nul"],
)
def test_hostile_xml_is_told_and_gives_nothing_away(name: str, content: str, tmp_path: Path) -> None:
    draft = good_dias()
    draft.late[name] = content.encode()
    report = validate_dias(draft.write(tmp_path / "p"))
    assert ({"D201"} if name == METS else {"D401"}) <= report.codes, report.codes
    assert not any("root:" in str(place.data) for outcome in report.outcomes for place in outcome.places)
    if name == METS:
        with pytest.raises((PackageFault, UnsafeXml)):
            open_dias(tmp_path / "p")


def test_a_hostile_description_is_told(tmp_path: Path) -> None:
    place = replace(good_dias(), seal=lambda text: text.replace("<mets ", f"{DTD}<mets ", 1)).write(tmp_path / "p")
    assert "D503" in validate_dias(place).codes


HREFS = (
    "../../etc/passwd",
    "file:///etc/passwd",
    "file:%2e%2e/%2e%2e/etc/passwd",
    "..%5C..%5Cetc",
    "C:/x",
    "//host/x",
    "http://h/x",
)


@pytest.mark.parametrize("href", [*HREFS, "content/%00", "~/.ssh/id"])
def test_an_address_that_leads_out_is_never_followed(href: str, tmp_path: Path) -> None:
    draft = replace(good_dias(), mets=edited((r'xlink:href="file:content/b.txt"', f'xlink:href="{href}"')))
    place = draft.write(tmp_path / "p")
    found = validate_dias(place).codes
    assert found & {"D301", "D307"} and "D303" in found
    with pytest.raises((PackageFault, HostileInput)):
        open_dias(place)
    for unpacked in (draft.unpack(tmp_path / "u"),):
        assert validate_dias(unpacked).codes & {"D301", "D307"}


def test_a_nested_archive_is_a_file_like_any_other(tmp_path: Path) -> None:
    inner = tarred({"x": b"x"})
    for _ in range(40):
        inner = tarred({"nested.tar": inner})
    draft = good_dias()
    draft.files["content/nested.tar"] = inner
    assert validate_dias(draft.write(tmp_path / "p")).valid


def test_a_folder_stored_as_an_empty_file_is_a_folder(tmp_path: Path) -> None:
    draft = good_dias()
    whole = draft.whole()
    out = io.BytesIO()
    head = bytearray(tarfile.TarInfo("x" * (len(UUID) + 1)).tobuf(tarfile.USTAR_FORMAT))
    head[: len(UUID) + 1] = f"{UUID}/".encode()
    head[148:156] = b"        "
    head[148:156] = f"{sum(head):06o}\0 ".encode()
    out.write(head)
    out.write(tarred(whole))
    (tmp_path / f"{UUID}.tar").write_bytes(out.getvalue())
    seal = description("SIP", UUID, f"{UUID}.tar", (out.getvalue(), whole[METS]))
    (tmp_path / f"{UUID}.xml").write_text(seal)
    assert content_of(tmp_path) == GOOD
    assert validate_dias(tmp_path).codes == {"D701"}


def test_a_description_is_never_read_through_a_link(tmp_path: Path) -> None:
    place = replace(good_dias(), sealed=False).write(tmp_path / "p")
    for name in (f"{UUID}.xml", "info.xml", "other.xml"):
        (place / name).symlink_to("/etc/passwd")
    assert "D501" in validate_dias(place / f"{UUID}.tar").codes


def test_an_aic_that_leads_out_through_a_link_finds_nothing(tmp_path: Path) -> None:
    path = write_aic(tmp_path / "p")
    (tmp_path / "p" / UUID).rename(tmp_path / "outside")
    (tmp_path / "p" / UUID).symlink_to(tmp_path / "outside")
    assert validate_dias(path).codes == {"D802"}
