"""Archive files give their plain files, and nothing that hides among them."""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import io
import random
import shutil
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from noarkit.errors import NoarkitError, PackageFault, TooLarge, UnsafeMember, UnsafePath
from noarkit.safe.disk import room_in
from noarkit.safe.unpack import LIMITS, Content, Member, Picker, UnpackLimits, expand_to, form_of, members, unpack_to

FILES = {"dias/a.txt": b"alpha", "dias/sub/blå.bin": bytes(range(256)) * 5000, "dias/empty": b""}
MODES = {"tar": "w", "tar.gz": "w:gz", "tar.bz2": "w:bz2", "tar.xz": "w:xz"}


def make_tar(path: Path, form: str = "tar", *extra: tarfile.TarInfo) -> Path:
    """A tar of FILES with further headers."""
    with tarfile.open(path, MODES[form]) as archive:  # type: ignore[call-overload]  # the mode is looked up
        folder = tarfile.TarInfo("dias")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, content in FILES.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for info in extra:
            archive.addfile(info)
    return path


def make_zip(path: Path, *extra: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    """A zip of FILES with further entries."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("dias/", b"")
        for name, content in [*FILES.items(), *extra]:
            archive.writestr(name, content)
    return path


def tar_entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    """A header for a tar."""
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = link
    return info


def zip_entry(name: str, mode: int) -> zipfile.ZipInfo:
    """An entry for a zip, of any kind."""
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = mode << 16
    return info


def read_all(path: Path, limits: UnpackLimits | None = None) -> dict[str, bytes]:
    """Every member with its bytes."""
    found = members(path, limits=limits) if limits else members(path)
    return {member.name: b"".join(content) for member, content in found}


@pytest.mark.parametrize("form", [*MODES, "zip"])
def test_every_form_gives_its_files_whole(tmp_path: Path, form: str) -> None:
    path = tmp_path / "no name that tells"
    make_zip(path) if form == "zip" else make_tar(path, form)
    assert form_of(path) == form
    assert read_all(path) == FILES


def test_files_are_written_under_a_folder(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    assert unpack_to(make_tar(tmp_path / "a.tar"), target) == 3
    assert {str(p.relative_to(target)): p.read_bytes() for p in target.rglob("*") if p.is_file()} == FILES


def test_a_member_that_is_not_read_is_passed_over(tmp_path: Path) -> None:
    assert [member.name for member, _ in members(make_tar(tmp_path / "a.tar.gz", "tar.gz"))] == list(FILES)


@pytest.mark.parametrize(
    ("info", "fault", "why"),
    [
        (tar_entry("../out"), UnsafePath, "climbs"),
        (tar_entry("/etc/cron.d/x"), UnsafePath, "absolute"),
        (tar_entry("c:x"), UnsafePath, "drive"),
        (tar_entry("x", tarfile.SYMTYPE, "/etc/passwd"), UnsafeMember, "link"),
        (tar_entry("x", tarfile.LNKTYPE, "dias/a.txt"), UnsafeMember, "link"),
        (tar_entry("x", tarfile.CHRTYPE), UnsafeMember, "device"),
        (tar_entry("x", tarfile.FIFOTYPE), UnsafeMember, "device"),
        (tar_entry("dias/a.txt"), UnsafeMember, "duplicate"),
        (tar_entry("DIAS/A.txt"), UnsafeMember, "twin"),
        (tar_entry("dias/sub/bla\u030a.bin"), UnsafeMember, "twin"),
    ],
)
def test_a_tar_member_that_is_no_plain_file_is_refused(
    tmp_path: Path, info: tarfile.TarInfo, fault: type[NoarkitError], why: str
) -> None:
    with pytest.raises(fault) as raised:
        read_all(make_tar(tmp_path / "a.tar", "tar", info))
    assert raised.value.data["why"] == why


@pytest.mark.parametrize(
    ("entry", "fault", "why"),
    [
        ("../out", UnsafePath, "climbs"),
        ("..\\out", UnsafePath, "climbs"),
        ("//server/share", UnsafePath, "unc"),
        ("aux", UnsafePath, "device-name"),
        (zip_entry("x", stat.S_IFLNK | 0o777), UnsafeMember, "link"),
        (zip_entry("x", stat.S_IFCHR | 0o666), UnsafeMember, "device"),
        ("Dias/a.txt", UnsafeMember, "twin"),
    ],
)
def test_a_zip_member_that_is_no_plain_file_is_refused(
    tmp_path: Path, entry: str | zipfile.ZipInfo, fault: type[NoarkitError], why: str
) -> None:
    with pytest.raises(fault) as raised:
        read_all(make_zip(tmp_path / "a.zip", (entry, b"x")))
    assert raised.value.data["why"] == why


def test_a_duplicate_in_a_zip_is_refused(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        path = make_zip(tmp_path / "a.zip", ("dias/a.txt", b"other"))
    with pytest.raises(UnsafeMember, match="duplicate"):
        read_all(path)


def test_an_encrypted_zip_is_told_so(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip")
    content = bytearray(path.read_bytes())
    for at in range(len(content) - 4):
        if content[at : at + 4] == b"PK\x01\x02":
            content[at + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(PackageFault, match="encrypted"):
        read_all(path)


def test_a_zip_whose_entries_share_bytes_is_refused(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip")
    content = bytearray(path.read_bytes())
    entries = [at for at in range(len(content) - 4) if content[at : at + 4] == b"PK\x01\x02"]
    content[entries[2] + 42 : entries[2] + 46] = content[entries[1] + 42 : entries[1] + 46]
    path.write_bytes(content)
    with pytest.raises(UnsafeMember, match="overlap"):
        read_all(path)


@pytest.mark.parametrize("form", ["zip", "tar.gz"])
def test_a_bomb_is_stopped_before_it_has_gone_off(tmp_path: Path, form: str) -> None:
    path = tmp_path / "bomb"
    zeros = bytes(20_000_000)
    if form == "zip":
        make_zip(path, ("zeros", zeros))
    else:
        with tarfile.open(path, "w:gz") as archive:
            info = tarfile.TarInfo("zeros")
            info.size = len(zeros)
            archive.addfile(info, io.BytesIO(zeros))
    with pytest.raises(TooLarge) as fault:
        read_all(path, UnpackLimits(ratio=20, free_bytes=1_000_000))
    assert fault.value.data["why"] == "ratio"


@pytest.mark.parametrize("form", ["zip", "tar.gz"])
def test_a_file_of_zeros_is_no_bomb_however_well_it_packs(tmp_path: Path, form: str) -> None:
    path = tmp_path / "zeros"
    zeros = bytes(100_000_000)
    if form == "zip":
        make_zip(path, ("zeros", zeros))
    else:
        with tarfile.open(path, "w:gz") as archive:
            info = tarfile.TarInfo("zeros")
            info.size = len(zeros)
            archive.addfile(info, io.BytesIO(zeros))
    assert path.stat().st_size < 200_000
    assert sum(sum(map(len, content)) for member, content in members(path) if member.name == "zeros") == len(zeros)


def test_what_bzip2_makes_of_nothing_has_an_end(tmp_path: Path) -> None:
    path = tmp_path / "bomb.tar.bz2"
    info = tarfile.TarInfo("zeros")
    info.size = LIMITS.free_bytes * 2
    path.write_bytes(bz2.compress(info.tobuf(tarfile.GNU_FORMAT)) + bz2.compress(bytes(10_000_000)))
    with pytest.raises(TooLarge) as fault:
        read_all(path)
    assert fault.value.data["why"] == "ratio"
    with pytest.raises(TooLarge) as fault:
        expand_to(path, tmp_path / "plain.tar", limits=UnpackLimits(ratio=1, free_bytes=1_000_000))
    assert (tmp_path / "plain.tar").stat().st_size <= 2_000_000


@pytest.mark.parametrize("how", ["expand", "unpack"])
def test_what_the_disk_has_no_room_for_is_not_begun(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_tar(tmp_path / "a.tar.gz", "tar.gz")
    full = SimpleNamespace(total=10**12, free=10**9)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: full)
    assert room_in(tmp_path) == 0
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(TooLarge) as fault:
        expand_to(path, tmp_path / "plain.tar") if how == "expand" else unpack_to(path, out)
    assert fault.value.data["why"] == "no-room" and list(out.iterdir()) == []


def test_a_zip_entry_that_lies_about_its_size_gives_no_more_than_it_said(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", ("zeros", bytes(5000)))
    content = bytearray(path.read_bytes())
    at = content.rindex(b"PK\x01\x02")
    content[at + 24 : at + 28] = struct.pack("<I", 10)
    path.write_bytes(content)
    with contextlib.suppress(PackageFault):
        assert len(read_all(path)["zeros"]) <= 10


@pytest.mark.parametrize(
    ("limits", "why"),
    [(UnpackLimits(members=2), "members"), (UnpackLimits(total_bytes=1000), "total-bytes")],
)
def test_more_than_the_limits_is_refused(tmp_path: Path, limits: UnpackLimits, why: str) -> None:
    with pytest.raises(TooLarge) as fault:
        read_all(make_tar(tmp_path / "a.tar"), limits)
    assert fault.value.data["why"] == why


def test_archive_files_inside_archive_files_have_an_end(tmp_path: Path) -> None:
    path = make_tar(tmp_path / "a.tar")
    with pytest.raises(TooLarge, match="nesting"):
        next(members(path, depth=4))


def test_a_header_of_gigabytes_is_not_read(tmp_path: Path) -> None:
    info = tarfile.TarInfo("pax")
    info.type = tarfile.XHDTYPE
    info.size = 1 << 30
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(100_000)))
    with pytest.raises(TooLarge, match="header"):
        read_all(tmp_path / "a.tar.gz")


def cut(content: bytes) -> bytes:
    """The first half."""
    return content[: len(content) // 2]


def turned(content: bytes) -> bytes:
    """Some bytes turned."""
    dice = random.Random(7)
    changed = bytearray(content)
    for _ in range(40):
        changed[dice.randrange(len(changed))] ^= 0xFF
    return bytes(changed)


@pytest.mark.parametrize("form", [*MODES, "zip"])
@pytest.mark.parametrize("harm", [cut, turned])
def test_a_broken_archive_file_is_a_fault_of_ours(tmp_path: Path, form: str, harm: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "a"
    make_zip(path) if form == "zip" else make_tar(path, form)
    path.write_bytes(harm(path.read_bytes()))
    try:
        assert read_all(path) != FILES  # a tar has no checksum of its content
    except NoarkitError as fault:
        assert isinstance(fault, (PackageFault, UnsafePath, UnsafeMember, TooLarge))


def test_a_file_that_is_no_archive_file_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"hello" * 200)
    assert form_of(tmp_path / "a.zip") is None
    with pytest.raises(PackageFault, match="not-an-archive-file"):
        read_all(tmp_path / "a.zip")


def test_the_root_of_a_tar_is_no_member(tmp_path: Path) -> None:
    assert read_all(make_tar(tmp_path / "a.tar", "tar", tar_entry(".", tarfile.DIRTYPE))) == FILES


def test_a_way_of_packing_nobody_knows_is_told_so(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip")
    content = bytearray(path.read_bytes())
    for magic, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        for at in [at for at in range(len(content) - 4) if content[at : at + 4] == magic]:
            content[at + offset] = 97
    path.write_bytes(content)
    with pytest.raises(PackageFault, match="unknown-compression") as told:
        read_all(path)
    assert told.value.data["detail"] == "compression 97"


def test_what_goes_wrong_with_whoever_reads_is_not_told_of_the_archive_file(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip")
    member = next(member for member, _ in members(path))
    with (
        contextlib.closing(Picker(path)) as picker,
        pytest.raises(RuntimeError, match="of our own"),
        picker.open(member),
    ):
        raise RuntimeError("of our own")


class Failing:
    """A disk that breaks."""

    def __init__(self, error: OSError | None) -> None:
        self._error = error

    def read(self, size: int = -1, /) -> bytes:
        """Breaks, or is at its end too early."""
        if self._error is not None:
            raise self._error
        return b""


def test_a_disk_that_breaks_is_no_fault_of_the_archive_file() -> None:
    member = Member(("a",), 5, None)
    with pytest.raises(OSError, match="broken"):
        Content(Failing(OSError(errno.EIO, "broken")), member).read()
    with pytest.raises(PackageFault, match="cut-short"):
        Content(Failing(None), member).read()


def _three_files(path: Path) -> list[int]:
    """A tar of three files; returns where its headers begin."""
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as packed:
        for name in ("a.txt", "b.txt", "c.txt"):
            info = tarfile.TarInfo(name)
            info.size = 700
            packed.addfile(info, io.BytesIO(b"x" * 700))
    with tarfile.open(path) as packed:
        return [info.offset for info in packed]


@pytest.mark.parametrize("byte", [0, 50, 124, 130, 150, 156, 300, 511])
def test_a_tar_with_a_broken_header_in_its_middle_never_ends_there_in_silence(byte: int, tmp_path: Path) -> None:
    path = tmp_path / "three.tar"
    for header in _three_files(path)[1:]:
        _three_files(path)
        content = bytearray(path.read_bytes())
        content[header + byte] ^= 4
        path.write_bytes(content)
        with pytest.raises(PackageFault):
            list(members(path))


def test_a_tar_that_is_cut_within_a_header_or_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "three.tar"
    headers = _three_files(path)
    whole = path.read_bytes()
    cuts = [cut for header in headers[1:] for cut in (header + 1, header + 300, header + 511, header + 600)]
    assert len(cuts) == 8
    for cut in cuts:
        path.write_bytes(whole[:cut])
        with pytest.raises(PackageFault):
            for _, content in members(path):
                while content.read(1_000):
                    pass
    path.write_bytes(whole[: headers[2] + 512 + 1024])  # without the blocks of zeros at the end, as some tools write it
    assert [member.name for member, _ in members(path)] == ["a.txt", "b.txt", "c.txt"]
