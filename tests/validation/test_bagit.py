"""Every rule for bags has a bag that breaks it and nothing else of weight, and one that keeps it."""

from __future__ import annotations

import os
import time
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from noarkit.errors import HostileInput, NoarkitError, PackageFault, TooLarge, UnsafeMember, UnsafePath
from noarkit.forms.bagit.profile import read_profile
from noarkit.forms.bagit.read import open_bag
from noarkit.forms.bagit.rules import run
from noarkit.forms.bagit.rules.run import validate_bag
from noarkit.forms.bagit.spec import read_info
from noarkit.safe.unpack import UnpackLimits
from samples.packages.copies import BAD_COPIES, COPY, PREMIS_3, CopiedLetter
from tests.forms.bagit.bags import FILES, folder, lines, parts, seal, tarred, zipped

Whole = dict[str, bytes]
MANIFEST = "manifest-sha256.txt"
QUIET = {"BAGIT-2.4-WEAK", "BAGIT-6.1.2-WINDOWS", "BAGIT-2.2.1-UNLISTED"}


def changed(name: str, content: bytes, **of: object) -> Whole:
    """A good bag with one tag file changed, sealed again."""
    return seal({**parts(**of), name: content})  # type: ignore[arg-type]  # the words of `parts`


def listed(text: str) -> Whole:
    """A good bag with these lines more in its manifest."""
    return changed(MANIFEST, (lines(FILES) + text).encode())


def tag_listed(text: str) -> Whole:
    """A good bag with these lines more in its tag manifest."""
    whole = parts()
    whole["tagmanifest-sha256.txt"] += text.encode()
    return whole


def without(*names: str) -> Whole:
    return {name: content for name, content in parts().items() if name not in names}


def fetching(text: str, more: str = "") -> Whole:
    whole = parts()
    whole[MANIFEST] += more.encode()
    whole["fetch.txt"] = text.encode()
    return seal(whole)


def old(name: str, content: bytes, *, sealed: bool = True) -> Whole:
    """A good bag of version 0.97 with one tag file changed."""
    whole = {**parts(version="0.97"), name: content}
    return seal(whole) if sealed else whole


def apart(version: str) -> Whole:
    """Two manifests, each listed by the tag manifest of its own algorithm alone."""
    whole = parts(version=version, algorithms=("sha256", "sha512"))
    for mine, other in (("sha256", "sha512"), ("sha512", "sha256")):
        tags = {name: whole[name] for name in ("bagit.txt", "bag-info.txt", f"manifest-{mine}.txt")}
        whole[f"tagmanifest-{mine}.txt"] = lines(tags, mine).encode()
        assert f"manifest-{other}.txt" not in whole[f"tagmanifest-{mine}.txt"].decode()
    return whole


SUM = "0" * 64
URL = "https://example.org/x"

BROKEN: dict[str, list[Callable[[], Whole]]] = {
    "BAGIT-2.1.1-MISSING": [lambda: without("bagit.txt")],
    "BAGIT-2.1.1-FORM": [
        lambda: changed("bagit.txt", b"\xef\xbb\xbfBagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"),
        lambda: changed("bagit.txt", b"BagIt-Version: 1.0\n"),
        lambda: changed("bagit.txt", b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\nMore: 1\n"),
        lambda: changed("bagit.txt", b"BagIt-Version : 1.0\nTag-File-Character-Encoding: UTF-8\n"),
        lambda: changed("bagit.txt", b"BagIt-Version: 7.0\nTag-File-Character-Encoding: UTF-8\n"),
        lambda: changed("bagit.txt", b"BagIt-Version: 1.0\nTag-File-Character-Encoding: rot13\n"),
        lambda: changed("bagit.txt", b"BagIt-Version: 1.0\nTag-File-Character-Encoding: \xff\n"),
        lambda: changed("bagit.txt", b"x" * 100_000),
    ],
    "BAGIT-2.1.3-NONE": [lambda: seal(without(MANIFEST))],
    "BAGIT-2.1.3-LINE": [
        lambda: listed("no line\n"),
        lambda: listed(f"{SUM}\n"),
        lambda: listed("abc  data/a.txt\n"),
        lambda: listed(f"{SUM}  data//c.txt\n"),
    ],
    "BAGIT-2.1.3-OUTSIDE": [lambda: listed(f"{SUM}  bagit.txt\n"), lambda: listed(f"{SUM}  ~root/x\n")],
    "BAGIT-2.1.3-TWICE": [
        lambda: listed(lines({"data/a.txt": b"first"})),
        lambda: listed(lines({"data/a.txt": b"other"})),
    ],
    "BAGIT-2.1.3-TWICE-ALIKE": [lambda: old(MANIFEST, (lines(FILES) + lines({"data/a.txt": b"first"})).encode())],
    "BAGIT-2.1.3-UNLISTED": [lambda: {**parts(), "data/new.txt": b"x"}],
    "BAGIT-2.1.3-PERCENT": [
        lambda: parts({"data/100%.txt": b"x"}),
        lambda: parts({"data/100%25.txt": b"x"}),
    ],
    "BAGIT-2.2.1-LINE": [lambda: tag_listed("no line\n")],
    "BAGIT-2.2.1-PAYLOAD": [lambda: tag_listed(lines({"data/a.txt": b"first"}))],
    "BAGIT-2.2.1-ITSELF": [lambda: tag_listed(f"{SUM}  tagmanifest-sha256.txt\n")],
    "BAGIT-2.2.1-TWICE": [lambda: tag_listed(lines({"bagit.txt": parts()["bagit.txt"]}))],
    "BAGIT-2.2.1-MANIFESTS": [
        lambda: {**parts(), "tagmanifest-sha256.txt": lines({"bagit.txt": parts()["bagit.txt"]}).encode()}
    ],
    "BAGIT-2.2.1-MANIFESTS-EACH": [
        lambda: apart("1.0"),
        lambda: apart("0.97"),
        lambda: old(
            "tagmanifest-sha256.txt", lines({"bag-info.txt": b"Source-Organization: Vik\n"}).encode(), sealed=False
        ),
    ],
    "BAGIT-2.2.1-UNLISTED": [lambda: {**parts(), "notes.txt": b"x"}],
    "BAGIT-2.2.2-LINE": [lambda: parts(info="nothing\n"), lambda: parts(info=" folded: too early\n")],
    "BAGIT-2.2.2-OXUM": [lambda: parts(info="Payload-Oxum: many\n")],
    "BAGIT-2.2.2-OXUM-TWICE": [lambda: parts(info="Payload-Oxum: 85.2\npayload-oxum: 85.2\n")],
    "BAGIT-2.2.2-OXUM-DIFFERS": [
        lambda: parts(info="Payload-Oxum: 86.2\n"),
        lambda: parts(info="Payload-Oxum: 85.3\n"),
    ],
    "BAGIT-2.2.2-REPEATED": [lambda: parts(info="Bagging-Date: 2026-01-01\nBAGGING-DATE: 2026-01-02\n")],
    "BAGIT-2.2.3-LINE": [lambda: fetching("what\n"), lambda: fetching(f"{URL} long data/a.txt\n")],
    "BAGIT-2.2.3-TAG": [lambda: fetching(f"{URL} - bag-info.txt\n")],
    "BAGIT-2.2.3-TWICE": [lambda: fetching(f"{URL} - data/a.txt\n" * 2)],
    "BAGIT-2.2.3-UNLISTED": [lambda: fetching(f"{URL} - data/nowhere.txt\n")],
    "BAGIT-2.3-TEXT": [
        lambda: changed(MANIFEST, lines(FILES).encode() + b"\xff\xfe\n"),
        lambda: changed(MANIFEST, b"\xef\xbb\xbf" + lines(FILES).encode()),
        lambda: changed(MANIFEST, lines(FILES).encode() + b"a" * 70_000),
        lambda: changed("bag-info.txt", b"A: \xff\n"),
        lambda: seal({**parts(), "fetch.txt": b"\xff"}),
    ],
    "BAGIT-2.4-NAME": [lambda: seal({**parts(), "manifest-SHA-256.txt": lines(FILES).encode()})],
    "BAGIT-2.4-UNKNOWN": [lambda: seal({**parts(), "manifest-crc32.txt": b"00000000  data/a.txt\n"})],
    "BAGIT-2.4-WEAK": [lambda: parts(algorithms=("md5",))],
    "BAGIT-3-MISSING": [lambda: without("data/a.txt")],
    "BAGIT-3-HOLE": [lambda: fetching(f"{URL} 5 data/hole.txt\n", f"{SUM}  data/hole.txt\n")],
    "BAGIT-3-TAG-MISSING": [lambda: without("bag-info.txt")],
    "BAGIT-3-EVERY": [
        lambda: seal({**parts(), "manifest-sha512.txt": lines({"data/a.txt": b"first"}, "sha512").encode()})
    ],
    "BAGIT-3-CHECKSUM": [lambda: {**parts(), "data/a.txt": b"other"}],
    "BAGIT-3-TAG-CHECKSUM": [lambda: {**parts(), "bag-info.txt": b"A: b\n"}],
    "BAGIT-5.1-PATH": [
        lambda: listed(f"{SUM}  data/../../out\n"),
        lambda: listed(f"{SUM}  /etc/passwd\n"),
        lambda: listed(f"{SUM}  ../bag-sibling/file\n"),
        lambda: listed(f"{SUM}  C:\\windows\n"),
        lambda: listed(f"{SUM}  \\\\?\\C:\\x\n"),
        lambda: listed(f"{SUM}  data/..\\..\\x\n"),
        lambda: listed(f"{SUM}  data/%0A/../../x\n"),
        lambda: tag_listed(f"{SUM}  ../x\n"),
        lambda: fetching(f"{URL} - data/../../x\n"),
    ],
    "BAGIT-5.2-URL": [
        lambda: fetching("file:///etc/passwd - data/a.txt\n"),
        lambda: fetching("https://u:secret@example.org/ - data/a.txt\n"),
        lambda: fetching("http://[ - data/a.txt\n"),
    ],
    "BAGIT-6.1.1-TWIN": [
        lambda: parts({"data/a": b"1", "data/A": b"2"}),
        lambda: parts({"data/å": b"", "data/a\u030a": b""}),
    ],
    "BAGIT-6.1.2-WINDOWS": [lambda: parts({"data/why?": b""}), lambda: parts({"data/end. ": b""})],
    "BAGIT-6.1.3-ASTERISK": [lambda: changed(MANIFEST, lines(FILES).replace("  data", " *data").encode())],
    "BAGIT-6.1.3-DOT-SLASH": [lambda: changed(MANIFEST, lines(FILES).replace("  data", "  ./data").encode())],
    "BAGIT-6.1-SYSTEM-FILE": [lambda: parts({"data/Thumbs.db": b"x"}), lambda: parts({"data/.DS_Store": b"x"})],
}


def copied(changes: Mapping[str, object], *, gone: bool = False) -> Whole:
    """A bag with a letter and its archival copy; `gone` leaves out the letter, of which premis.xml still tells."""
    letter = replace(CopiedLetter("data", PREMIS_3), **changes)  # type: ignore[arg-type]  # fields by name
    files = letter.files()
    if gone:
        files.pop(f"data/{letter.names[0]}")
    return seal({**parts(files), "premis.xml": letter.premis().encode()})


BROKEN |= {f"BAGIT-COPY-{rule}": [partial(copied, changes) for _, changes in ways] for rule, ways in BAD_COPIES.items()}
BROKEN["BAGIT-COPY-SOURCE"].append(partial(copied, {}, gone=True))
BROKEN["BAGIT-COPY-CHECKSUM"].append(partial(copied, {"swapped": COPY + b" "}))
BROKEN["BAGIT-COPY-PREMIS"] = [
    lambda: seal({**parts(), "premis.xml": b"<premis>"}),
    lambda: seal({**parts(), "premis.xml": b"<!DOCTYPE x [<!ENTITY a 'b'>]><premis>&a;</premis>"}),
]
ON_DISK = {"BAGIT-2.1.2-DATA", "BAGIT-2.1.2-ODD", "BAGIT-3-UNREADABLE", "BAGIT-6.1.1-COMPOSITION", "BAGIT-2-TOP"}


def breaking() -> Iterator[tuple[str, Callable[[], Whole]]]:
    for code, makers in BROKEN.items():
        yield from ((code, make) for make in makers)


def test_every_rule_has_a_bag_that_breaks_it() -> None:
    rules = tomllib.loads(Path(run.__file__).with_name("rules.toml").read_text("utf-8"))
    assert set(rules) == set(BROKEN) | ON_DISK | {"BAGIT-PROFILE"}


@pytest.mark.parametrize(("code", "make"), list(breaking()))
def test_a_broken_rule_is_told_in_every_container(tmp_path: Path, code: str, make: Callable[[], Whole]) -> None:
    whole = make()
    found = validate_bag(folder(tmp_path / "bag", whole), width=1)
    assert code in found.codes
    level = run.RULES[code].level
    assert found.valid is (level != "error")
    if level != "error":
        assert found.codes - QUIET <= {code}
    if code != "BAGIT-6.1.1-TWIN" and not any(name.endswith((" ", ".")) for name in whole):
        for packed in (zipped(tmp_path / "bag.zip", whole), tarred(tmp_path / "bag.tar", whole)):
            assert validate_bag(packed).codes == found.codes


@pytest.mark.parametrize("version", ["0.93", "0.94", "0.95", "0.96", "0.97", "1.0"])
@pytest.mark.parametrize("encoding", ["UTF-8", "ISO-8859-1", "UTF-16"])
def test_a_good_bag_of_any_version_and_encoding_is_good(tmp_path: Path, version: str, encoding: str) -> None:
    files = {"data/blåbær.txt": b"x", "data/b/c": b""}
    info = "Contact-Name: Bjørn\n"
    path = folder(tmp_path / "bag", parts(files, version=version, encoding=encoding, info=info))
    report = validate_bag(path)
    assert report.codes == set()
    assert (report.version, report.summary["files"], report.summary["bytes"]) == (version, ("2",), ("1",))
    with open_bag(path) as bag:
        assert bag.value("contact-name") == "Bjørn"
        assert [entry.name for entry in bag.entries()] == ["b/c", "blåbær.txt"]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_lines_may_end_in_three_ways(tmp_path: Path, end: str) -> None:
    whole = {name: content.replace(b"\n", end.encode()) for name, content in parts().items() if name in ("bagit.txt",)}
    whole = seal({**parts(), **whole, MANIFEST: lines(FILES).replace("\n", end).encode()})
    assert validate_bag(folder(tmp_path / "bag", whole)).codes == set()


FOLDED = 5_000_000 if os.environ.get("NOARKIT_DEEP") == "1" else 200_000


@pytest.mark.parametrize(
    "info",
    ["Note: x\n" + " more of it\n" * FOLDED, f"A: {'b' * 1_000}\n" * 17_000],
    ids=["a value", "entries"],
)
def test_metadata_without_end_are_refused_for_what_reading_them_costs(tmp_path: Path, info: str) -> None:
    path = folder(tmp_path / "bag", parts(info=info))
    began = time.process_time()
    assert "BAGIT-2.2.2-LINE" in validate_bag(path).codes
    with pytest.raises(PackageFault) as fault:
        open_bag(path)
    assert fault.value.data["why"] in ("endless-line", "too-large")
    assert time.process_time() - began < 10


def test_a_value_may_be_folded_often_and_is_read_whole() -> None:
    lines = ["Note: a", *[" b"] * 100_000, "", "Other: c"]
    began = time.process_time()
    assert list(read_info(enumerate(lines, 1))) == [(1, "Note", "a" + " b" * 100_000), (100_003, "Other", "c")]
    assert time.process_time() - began < 5


def test_paths_are_decoded_once_and_only_in_version_1(tmp_path: Path) -> None:
    files = {"data/a%0Ab": b"1", "data/100%": b"2"}
    assert validate_bag(folder(tmp_path / "old", parts(files, version="0.97"))).codes == set()
    whole = parts({"data/line\nbreak": b"1", "data/100%": b"2", "data/%0A": b"3"})
    text = (
        whole[MANIFEST]
        .decode()
        .replace("100%", "100%25")
        .replace("%0A", "%250A")
        .replace("line\nbreak", "line%0abreak")
    )
    found = validate_bag(folder(tmp_path / "new", seal({**whole, MANIFEST: text.encode()})))
    assert found.codes <= QUIET


def test_one_manifest_was_enough_before_version_1(tmp_path: Path) -> None:
    whole = parts(version="0.97")
    whole["manifest-sha256.txt"] = lines({"data/a.txt": b"first"}).encode()
    whole["manifest-md5.txt"] = lines({"data/more/b.bin": FILES["data/more/b.bin"]}, "md5").encode()
    assert validate_bag(folder(tmp_path / "bag", seal(whole))).codes <= QUIET


def test_names_are_matched_as_they_stand_before_they_are_composed(tmp_path: Path) -> None:
    composed, apart = "data/å.txt", "data/a\u030a.txt"
    both = folder(tmp_path / "both", parts({composed: b"1", apart: b"2"}))
    assert validate_bag(both).codes == {"BAGIT-6.1.1-TWIN"}
    (both / composed).write_bytes(b"changed")
    assert "BAGIT-3-CHECKSUM" in validate_bag(both).codes
    whole = parts({composed: b"1"})
    whole[apart] = whole.pop(composed)
    moved = folder(tmp_path / "moved", whole)
    assert unicodedata.normalize("NFC", apart) == composed
    assert "BAGIT-6.1.1-COMPOSITION" in validate_bag(moved).codes
    assert validate_bag(moved).valid
    with open_bag(moved) as bag, bag.open("å.txt") as file:
        assert file.read(5) == b"1"


@pytest.mark.parametrize("version", ["0.97", "1.0"])
@pytest.mark.parametrize("pack", [folder, zipped, tarred])
def test_a_file_that_is_listed_in_two_normal_forms_is_there_and_is_checked(
    tmp_path: Path, version: str, pack: Callable[[Path, Whole], Path]
) -> None:
    composed, apart = "data/å.txt", "data/a\u030a.txt"
    whole = parts({composed: b"1"}, version=version)
    whole[MANIFEST] += lines({apart: b"1"}).encode()
    good = pack(tmp_path / "bag", seal(whole))
    found = validate_bag(good)
    assert found.valid, found.codes
    assert {"BAGIT-6.1.1-TWIN", "BAGIT-6.1.1-COMPOSITION"} == found.codes
    assert "BAGIT-3-CHECKSUM" in validate_bag(pack(tmp_path / "other", {**seal(whole), composed: b"2"})).codes
    whole[MANIFEST] = whole[MANIFEST].replace(lines({apart: b"1"}).encode(), lines({apart: b"3"}).encode())
    assert "BAGIT-3-MISSING" in validate_bag(pack(tmp_path / "third", seal(whole))).codes


def test_a_file_listed_twice_alike_can_be_read_before_version_1_alone(tmp_path: Path) -> None:
    twice = (lines(FILES) + lines({"data/a.txt": b"first"})).encode()
    with open_bag(folder(tmp_path / "old", old(MANIFEST, twice))) as bag:
        assert sorted(entry.name for entry in bag.entries()) == ["a.txt", "more/b.bin"]
    with open_bag(folder(tmp_path / "new", changed(MANIFEST, twice))) as bag, pytest.raises(PackageFault):
        list(bag.entries())


def test_what_only_a_disk_can_hold_is_told(tmp_path: Path) -> None:
    path = folder(tmp_path / "bag", parts())
    (path / "data" / "link").symlink_to("/etc/passwd")
    os.mkfifo(path / "data" / "pipe")
    (path / "data" / os.fsdecode(b"b\xff")).write_bytes(b"")
    found = validate_bag(path)
    assert {outcome.rule.code: outcome.count for outcome in found.outcomes} == {
        "BAGIT-2.1.2-ODD": 2,
        "BAGIT-2.1.3-UNLISTED": 1,
    }
    with pytest.raises(PackageFault):
        open_bag(path).entries().__next__()


def test_a_listed_file_behind_a_link_is_not_read(tmp_path: Path) -> None:
    path = folder(tmp_path / "bag", parts())
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b.bin").write_bytes(FILES["data/more/b.bin"])
    (path / "data" / "more" / "b.bin").unlink()
    (path / "data" / "more").rmdir()
    (path / "data" / "more").symlink_to(tmp_path / "elsewhere")
    assert {"BAGIT-2.1.2-ODD", "BAGIT-3-MISSING"} <= validate_bag(path).codes


def test_a_file_nobody_may_read_is_told(tmp_path: Path) -> None:
    path = folder(tmp_path / "bag", parts())
    if os.geteuid() == 0:
        pairs = [("BAGIT-3-UNREADABLE", run.RULES["BAGIT-3-UNREADABLE"].level)]
        assert pairs == [("BAGIT-3-UNREADABLE", "error")]
        return
    (path / "data" / "a.txt").chmod(0)
    assert "BAGIT-3-UNREADABLE" in validate_bag(path).codes


def test_a_bag_without_its_payload_folder_is_told(tmp_path: Path) -> None:
    path = tmp_path / "bag"
    path.mkdir()
    for name, content in parts({}).items():
        (path / name).write_bytes(content)
    assert validate_bag(path).codes == {"BAGIT-2.1.2-DATA"}


def test_a_packed_bag_has_one_top_folder(tmp_path: Path) -> None:
    assert validate_bag(zipped(tmp_path / "bare.zip", parts(), top="")).codes == {"BAGIT-2-TOP"}


@pytest.mark.parametrize(
    ("name", "fault"),
    [("../out", UnsafePath), ("/etc/cron.d/x", UnsafePath), ("bag/data", UnsafeMember), ("C:/x", UnsafePath)],
)
def test_a_hostile_archive_file_is_refused_and_nothing_is_written(
    tmp_path: Path, name: str, fault: type[HostileInput]
) -> None:
    path = zipped(tmp_path / "bag.zip", {**{f"bag/{key}": value for key, value in parts().items()}, name: b"x"}, top="")
    before = sorted(tmp_path.rglob("*"))
    for act in (validate_bag, open_bag):
        with pytest.raises(fault):
            act(path)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("kind", [b"1", b"2", b"3", b"6"])
def test_links_and_devices_in_a_tar_are_refused(tmp_path: Path, kind: bytes) -> None:
    import tarfile

    info = tarfile.TarInfo("bag/data/link")
    info.type, info.linkname = kind, "/etc/passwd"
    path = tarred(tmp_path / "bag.tar", parts(), extra=[info])
    with pytest.raises(UnsafeMember):
        validate_bag(path)


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    path = tarred(tmp_path / "bag.tar.gz", parts({"data/zero": bytes(3_000_000)}))
    with pytest.raises(TooLarge):
        validate_bag(path, limits=UnpackLimits(ratio=10, free_bytes=1_000))
    with pytest.raises(TooLarge):
        validate_bag(path, limits=UnpackLimits(members=2))


@pytest.mark.parametrize("cut", [0, 10, 200, 500])
@pytest.mark.parametrize("tail", ["zip", "tar", "tar.gz"])
def test_a_cut_archive_file_is_refused_or_found_wanting(tmp_path: Path, tail: str, cut: int) -> None:
    make = zipped if tail == "zip" else tarred
    path = make(tmp_path / f"bag.{tail}", parts())
    path.write_bytes(path.read_bytes()[:cut])
    try:
        assert not validate_bag(path).valid
    except NoarkitError as error:
        assert error.code.startswith("F")


def test_validation_changes_nothing(tmp_path: Path) -> None:
    path = folder(tmp_path / "bag", parts())
    before = {place: place.stat().st_mtime_ns for place in tmp_path.rglob("*")}
    validate_bag(path)
    assert {place: place.stat().st_mtime_ns for place in tmp_path.rglob("*")} == before


PROFILE = b"""{
 "BagIt-Profile-Info": {"BagIt-Profile-Identifier": "https://example.org/p.json"},
 "Bag-Info": {"Source-Organization": {"required": true, "values": ["Vik", "Hof"]}, "Note": {"repeatable": false}},
 "Manifests-Required": ["sha256"], "Manifests-Allowed": ["sha256"], "Tag-Manifests-Required": ["sha256"],
 "Tag-Files-Required": ["metadata/dc.xml"], "Tag-Files-Allowed": ["metadata/*"], "Allow-Fetch.txt": false,
 "Serialization": "required", "Accept-Serialization": ["application/zip"], "Accept-BagIt-Version": ["1.0"]}"""
GOOD_INFO = "BagIt-Profile-Identifier: https://example.org/p.json\nSource-Organization: Vik\n"


@pytest.mark.parametrize(
    ("info", "more", "keys"),
    [
        (GOOD_INFO, {}, set()),
        ("Source-Organization: Vik\n", {}, {"BagIt-Profile-Identifier"}),
        (GOOD_INFO.replace("Vik", "Os"), {}, {"Bag-Info: Source-Organization"}),
        (GOOD_INFO.partition("\n")[0] + "\n", {}, {"Bag-Info: Source-Organization"}),
        (GOOD_INFO + "Note: 1\nnote: 2\n", {}, {"Bag-Info: Note"}),
        (GOOD_INFO, {"manifest-md5.txt": lines(FILES, "md5").encode()}, {"Manifests-Allowed"}),
        (GOOD_INFO, {"notes.txt": b""}, {"Tag-Files-Allowed"}),
        (GOOD_INFO, {"fetch.txt": f"{URL} - data/a.txt\n".encode()}, {"Allow-Fetch.txt"}),
        (GOOD_INFO, {"metadata/dc.xml": None}, {"Tag-Files-Required"}),
    ],
)
def test_a_profile_is_held_against_a_bag(
    tmp_path: Path, info: str, more: dict[str, bytes | None], keys: set[str]
) -> None:
    whole = {**parts(info=info), "metadata/dc.xml": b"<dc/>", **more}
    path = zipped(tmp_path / "bag.zip", seal({name: content for name, content in whole.items() if content is not None}))
    found = [
        outcome
        for outcome in validate_bag(path, profile=read_profile(PROFILE)).outcomes
        if outcome.rule.level == "error"
    ]
    assert {place.data["key"] for outcome in found for place in outcome.places} == keys
    assert {outcome.rule.code for outcome in found} <= {"BAGIT-PROFILE"}


def test_a_profile_speaks_of_packing_and_versions(tmp_path: Path) -> None:
    profile = read_profile(PROFILE)
    whole = seal({**parts(info=GOOD_INFO, version="0.97"), "metadata/dc.xml": b"<dc/>"})
    bare = validate_bag(folder(tmp_path / "bag", whole), profile=profile)
    packed = validate_bag(tarred(tmp_path / "bag.tar", whole), profile=profile)
    keys = [{place.data["key"] for one in found.outcomes for place in one.places} for found in (bare, packed)]
    assert keys == [{"Serialization", "Accept-BagIt-Version"}, {"Accept-Serialization", "Accept-BagIt-Version"}]


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"BagIt-Profile-Info": 1}', b'{"Bag-Info": []}'])
def test_what_is_no_profile_is_refused(content: bytes) -> None:
    with pytest.raises(PackageFault):
        read_profile(content)
