"""Hostile packages through the commands that meet them first: refused by their own code, nothing written outside.

Each attack is tried on a bag and on a Noark 5 extract, in a zip or a tar, by `validate` and by `plan`.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import struct
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from noarkit.cli.main import main
from tests.cli.elsewhere import environment
from tests.forms.bagit.bags import parts

BASES: dict[str, dict[str, bytes]] = {
    "bag": {f"bag/{name}": content for name, content in parts().items()},
    "noark5": {"uttrekk/arkivstruktur.xml": b"<arkiv/>", "uttrekk/dokumenter/a.pdf": b"%PDF"},
}
Attack = Callable[[Path, dict[str, bytes]], None]


def zipped(*extra: tuple[str | zipfile.ZipInfo, bytes]) -> Attack:
    """A zip with further entries."""

    def make(path: Path, base: dict[str, bytes]) -> None:
        top = next(iter(base)).split("/")[0]
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in base.items():
                archive.writestr(name, content)
            for entry, content in extra:
                archive.writestr(entry.replace("TOP", top) if isinstance(entry, str) else entry, content)

    return make


def tarred(*extra: tarfile.TarInfo, mode: str = "w") -> Attack:
    """A tar with further members."""

    def make(path: Path, base: dict[str, bytes]) -> None:
        with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]  # one of the modes there are
            for name, content in base.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
            for info in extra:
                named = info.replace(name=info.name.replace("TOP", next(iter(base)).split("/")[0]))
                archive.addfile(named, io.BytesIO(bytes(info.size)))

    return make


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, size
    return info


def linked(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return info


def overlapping(path: Path, base: dict[str, bytes]) -> None:
    """Every entry of the directory points at the same bytes."""
    zipped()(path, base)
    content = bytearray(path.read_bytes())
    entries = [at for at in range(len(content) - 4) if content[at : at + 4] == b"PK\x01\x02"]
    for at in entries[1:]:
        content[at + 42 : at + 46] = content[entries[0] + 42 : entries[0] + 46]
    path.write_bytes(content)


def lying(path: Path, base: dict[str, bytes]) -> None:
    """The directory calls the files by other names than they bear themselves."""
    zipped()(path, base)
    content = path.read_bytes()
    at = content.rindex(b"PK\x01\x02")
    length = struct.unpack_from("<H", content, at + 28)[0]
    path.write_bytes(content[: at + 46] + b"X" * length + content[at + 46 + length :])


def claiming(size: int, method: int) -> Attack:
    """A zip whose directory says of a small file that it is a large one."""

    def make(path: Path, base: dict[str, bytes]) -> None:
        top = next(iter(base)).split("/")[0]
        with zipfile.ZipFile(path, "w", method) as archive:
            for name, content in base.items():
                archive.writestr(name, content)
            archive.writestr(f"{top}/nuller", bytes(1_000_000))
        held = bytearray(path.read_bytes())
        at = held.rindex(b"PK\x01\x02")
        held[at + 24 : at + 28] = struct.pack("<I", size)
        path.write_bytes(held)

    return make


def bombed(size: int, pack: Callable[[bytes], bytes]) -> Attack:
    """A packed tar whose last file is of zeros, which take next to nothing."""

    def make(path: Path, base: dict[str, bytes]) -> None:
        plain = path.with_name("plain.tar")
        tarred()(plain, base)
        top = next(iter(base)).split("/")[0]
        whole = plain.read_bytes()
        plain.unlink()
        files = whole[: whole.rindex(b"ustar") - 257 + 512 + 512]  # without the zeros at its end
        head = member(f"{top}/nuller", size=size).tobuf(tarfile.GNU_FORMAT)
        path.write_bytes(pack(files + head) + pack(bytes(10_000_000)))

    return make


SPELLINGS = (
    "../ut.txt",
    "TOP/../../ut.txt",
    "/tmp/ut.txt",
    "C:\\ut.txt",
    "TOP\\..\\..\\ut.txt",
    "\\\\srv\\d\\ut",
    "nul",
)
ATTACKS: dict[str, tuple[Attack, str]] = {
    **{f"zip {name}": (zipped((name, b"x")), "F601") for name in SPELLINGS},
    **{f"tar {name}": (tarred(member(name)), "F601") for name in SPELLINGS},
    "zip link": (zipped((linked("x/link"), b"/etc/passwd")), "F602"),
    "tar link": (tarred(member("TOP/link", tarfile.SYMTYPE, "/etc/passwd")), "F602"),
    "tar hard link": (tarred(member("TOP/link", tarfile.LNKTYPE, "/etc/passwd")), "F602"),
    "tar device": (tarred(member("TOP/null", tarfile.CHRTYPE)), "F602"),
    "tar FIFO": (tarred(member("TOP/fifo", tarfile.FIFOTYPE)), "F602"),
    "zip twins": (zipped(("TOP/Brev.txt", b"a"), ("TOP/brev.TXT", b"b")), "F602"),
    "tar composed twins": (tarred(member("TOP/Å.txt"), member("TOP/A\u030a.txt")), "F602"),
    "tar duplicate": (tarred(member("TOP/a"), member("TOP/a")), "F602"),
    "zip overlap": (overlapping, "F602"),
    "zip bomb": (claiming(3 * 10**9, zipfile.ZIP_BZIP2), "F603"),
    "zip that cannot hold what it says": (claiming(3 * 10**9, zipfile.ZIP_DEFLATED), "F603"),
    "tar.bz2 bomb": (bombed(3 * 10**9, bz2.compress), "F603"),
    "tar.xz bomb": (bombed(3 * 10**9, lzma.compress), "F603"),
    "tar.gz that cannot hold what it says": (bombed(3 * 10**9, gzip.compress), "F603"),
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test works in a folder of its own, three folders down."""
    place = tmp_path / "a" / "b" / "c"
    place.mkdir(parents=True)
    monkeypatch.chdir(place)


def tree(place: Path) -> set[str]:
    return {path.relative_to(place).as_posix() for path in place.rglob("*")}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("command", ["validate", "plan"])
def test_a_hostile_package_is_refused_by_its_own_code(
    command: str, attack: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, code = ATTACKS[attack]
    # a bag may hold twins: both are read where they lie, and validate warns
    base = "bag" if command == "validate" and "twins" not in attack else "noark5"
    make(Path("pakke.bin"), BASES[base])
    before = tree(tmp_path)
    line = [command, "pakke.bin", *(["-o", "run"] if command == "plan" else []), "--progress", "none"]
    assert main(line, {"HOME": str(tmp_path), "TMPDIR": str(tmp_path)}) == 4
    assert capsys.readouterr().err.splitlines()[0].startswith(code)
    assert tree(tmp_path) - before <= {"a/b/c/run"}
    assert not Path("/tmp/ut.txt").exists()


def test_a_zip_whose_directory_lies_is_not_believed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lying(Path("pakke.zip"), BASES["bag"])
    assert main(["validate", "pakke.zip"], {}) == 4
    capsys.readouterr()


def test_external_entities_are_never_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("hemmelig.txt").write_text("HEMMELIG")
    xml = f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{Path("hemmelig.txt").absolute()}">]><arkiv>&x;</arkiv>'
    zipped()(Path("pakke.zip"), {"uttrekk/arkivstruktur.xml": xml.encode()})
    assert main(["validate", "pakke.zip", "--report", "json", "-o", "funn.json"], {}) == 4
    assert "N006" in Path("funn.json").read_text()
    assert main(["plan", "pakke.zip", "-o", "run", "--progress", "none"], {}) == 4
    told = capsys.readouterr()
    assert "F604" in told.err
    everything = told.out + told.err + Path("funn.json").read_text()
    assert "HEMMELIG" not in everything


def test_bags_within_bags_have_an_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = Path("bag")
    for _ in range(40):
        (place / "data").mkdir(parents=True)
        (place / "bagit.txt").write_text("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n")
        place = place / "data"
    assert main(["plan", "bag", "-o", "run", "--progress", "none"], {}) == 4
    assert capsys.readouterr().err.startswith("F603")
    assert main(["validate", "bag"], {}) == 4, "its files are not listed"


def test_archive_files_within_archive_files_are_never_opened(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = b"innerst"
    for _ in range(40):
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            archive.writestr("innen.zip", content)
        content = held.getvalue()
    zipped()(Path("pakke.zip"), {f"bag/{name}": one for name, one in parts({"data/innen.zip": content}).items()})
    assert main(["validate", "pakke.zip"], {}) == 0
    assert main(["plan", "pakke.zip", "-o", "run", "--progress", "none", "-v"], {}) == 0
    assert "2 Dokumentversjon" in capsys.readouterr().out  # the archive file, and bag-info.txt


MANY = """
import resource, sys
from pathlib import Path
from noarkit.cli.main import main
code = main(["validate", sys.argv[1]], {})
own = Path("/proc/self/status")  # what getrusage tells begins with the memory of whoever started us
if own.exists():
    peak = next(int(line.split()[1]) for line in own.read_text().splitlines() if line.startswith("VmHWM"))
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(code, peak // 1024)
"""


@pytest.mark.parametrize("count", [1_000_000 if os.environ.get("NOARKIT_DEEP") else 100_000])
def test_a_directory_of_very_many_entries_takes_little_memory(tmp_path: Path, count: int) -> None:
    """All point at the same file: who believed the directory would read it that many times."""
    local = struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, 0, 0, 33, 0, 0, 0, 9, 0) + b"bag/a.txt"
    fixed = struct.Struct("<IHHHHHHIIIHHHHHII")
    with Path("pakke.zip").open("wb") as file:
        file.write(local)
        for number in range(count):
            name = b"bag/%08d" % number
            file.write(fixed.pack(0x02014B50, 20, 20, 0, 0, 0, 33, 0, 0, 0, len(name), 0, 0, 0, 0, 0, 0) + name)
        size = file.tell() - len(local)
        at = file.tell()
        file.write(struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, count, count, size, len(local)))
        file.write(struct.pack("<IIQI", 0x07064B50, 0, at, 1))
        file.write(struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))
    line = [sys.executable, "-c", MANY, "pakke.zip"]
    done = subprocess.run(line, capture_output=True, text=True, env=environment(tmp_path), check=False)
    code, peak = done.stdout.split()[-2:]
    assert (code, done.stderr.startswith("F602")) == ("4", True)
    assert int(peak) < 200
