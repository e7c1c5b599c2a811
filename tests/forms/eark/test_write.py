"""A package is made whole or not at all, goes on after a kill with the same bytes, and says what no order told."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tarfile
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from lxml import etree

import noarkit
from noarkit.errors import RunLocked, UnsafeMember, UnsafePath, UsageFault
from noarkit.events import Event
from noarkit.forms.container.progress import Progress
from noarkit.forms.eark.read.package import open_eark
from noarkit.forms.eark.rules.run import validate_eark
from noarkit.forms.eark.schemas import METS_XSD, PREMIS_XSD, schemas
from noarkit.forms.eark.spec import KINDS, METS, PREMIS, PROFILES, WRITTEN_VERSIONS, XSI, Kind, Version
from noarkit.forms.eark.write.order import DEFAULT_SUBMITTER, PackageEvent
from noarkit.forms.eark.write.package import (
    EarkFile,
    EarkOrder,
    MetadataFile,
    Representation,
    files_below,
    make_eark,
)
from tests.forked import Forked, run_forked
from tests.forms.eark.oracles import TAILS, disagreements, faults_of, held, own_schema

FILES = 1_500
DEEP = os.environ.get("NOARKIT_DEEP") == "1"
WHEN = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)


def tree(root: Path, count: int = 3) -> Path:
    root.mkdir()
    for number in range(count):
        (root / f"{number:05}.txt").write_bytes(f"content {number}".encode())
        os.utime(root / f"{number:05}.txt", (1_000_000_000, 1_000_000_000))
    return root


def ordered(source: Path) -> list[Representation]:
    return [Representation("rep1", [EarkFile(path.name, path) for path in sorted(source.iterdir())])]


KILLED = """
import os, signal, sys
from pathlib import Path
from noarkit.forms.container.building import ArchiveBuild, FolderBuild
from noarkit.forms.eark.write.package import EarkFile, EarkOrder, Representation, make_eark
source, target, where, at = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
def die():
    os.kill(os.getpid(), signal.SIGKILL)
def files():
    for number, path in enumerate(sorted(source.iterdir())):
        if where == "file" and number == at:
            die()
        yield EarkFile(path.name, path)
heard = []
def tell(event):
    heard.append(event.name)
    if where == event.name and heard.count(event.name) == at:
        die()
class Tags:
    count = 0
def watched(tag):
    def dying(self, name, blocks):
        Tags.count += 1
        if where == "tag" and Tags.count == at:
            blocks = (block if number == 0 else die() for number, block in enumerate(blocks))
        tag(self, name, blocks)
    return dying
for kind in (FolderBuild, ArchiveBuild):
    kind.tag = watched(kind.tag)
make_eark([Representation("rep1", files())], target, EarkOrder(), emit=tell)
"""


def killed(source: Path, target: Path, where: str, at: int) -> None:
    done = run_forked(["-c", KILLED, source, target, where, at], cwd=source.parent)
    assert done.returncode == -signal.SIGKILL


def all_bytes(path: Path) -> dict[str, bytes]:
    if path.is_file():
        return {"": path.read_bytes()}
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*") if file.is_file()}


@pytest.mark.parametrize(
    ("tail", "where", "at"),
    [
        ("", "file", 5),
        ("", "file", 1_450),
        ("", "tag", 2),
        ("", "tag", 4),
        ("", "package_made", 1),
        (".zip", "file", 1_450),
        (".zip", "tag", 1),
        (".tar", "file", 1_450),
        (".tar", "tag", 4),
        (".tar.gz", "tag", 3),
        (".tar.gz", "package_files", 1),
    ],
)
def test_a_killed_build_goes_on_to_the_same_bytes_and_leaves_no_half_package(
    tmp_path: Path, tail: str, where: str, at: int
) -> None:
    source = tree(tmp_path / "source", FILES)
    target = tmp_path / f"package{tail}"
    killed(source, target, where, at)
    assert target.exists() is (where == "package_made")
    made = make_eark(ordered(source), target)
    if at > 5 or where == "tag":
        assert made.resumed
    with open_eark(target) as package:
        assert disagreements(package) == []
        begun = datetime.fromisoformat(package.root.created)
    assert sorted(path.name for path in tmp_path.iterdir()) == [target.name, "source"]
    again = tmp_path / "again" / target.name
    again.parent.mkdir()
    make_eark(ordered(source), again, EarkOrder(created=begun))
    assert all_bytes(again) == all_bytes(target)


@pytest.mark.parametrize("tail", TAILS)
def test_a_build_that_is_killed_again_and_again_ends_in_the_same_bytes(tmp_path: Path, tail: str) -> None:
    source = tree(tmp_path / "source", FILES)
    target = tmp_path / f"package{tail}"
    wanted, kills, seconds = 60 if DEEP else 2, 0, 0.02
    while kills < wanted:
        child = Forked(["-c", KILLED, source, target, "", 0], cwd=tmp_path)
        while child.poll() is None and not any(path.name.startswith(".") for path in tmp_path.iterdir()):
            time.sleep(0.001)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(seconds)
        child.kill()
        if child.wait() == -signal.SIGKILL:
            kills += 1
            seconds += 0.02
        else:  # it was done before: begin again, and strike sooner
            seconds /= 2
            shutil.rmtree(target) if target.is_dir() else target.unlink()
        assert {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")} <= {"source", target.name}
    if not target.exists():
        make_eark(ordered(source), target)
    with open_eark(target) as package:
        assert disagreements(package) == []
        begun = datetime.fromisoformat(package.root.created)
    again = tmp_path / "again" / target.name
    again.parent.mkdir()
    make_eark(ordered(source), again, EarkOrder(created=begun))
    assert all_bytes(again) == all_bytes(target)


def test_what_changed_between_two_tries_is_taken_anew(tmp_path: Path) -> None:
    source = tree(tmp_path / "source", FILES)
    target = tmp_path / "package"
    killed(source, target, "file", 1_450)
    (source / "00003.txt").write_bytes(b"another content")
    (source / "00700.txt").unlink()
    make_eark(ordered(source), target)
    found = held(target, "rep1")
    assert found["00003.txt"] == b"another content"
    assert len(found) == FILES - 1
    with open_eark(target) as package:
        assert disagreements(package) == []


@pytest.mark.parametrize("version", WRITTEN_VERSIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_bare_folder_makes_a_package_that_is_valid(
    tmp_path: Path, reference: Path, kind: Kind, version: Version
) -> None:
    source = tree(tmp_path / "source")
    made = make_eark([Representation("rep1", files_below(source))], tmp_path / "p", EarkOrder(kind, version))
    with open_eark(made.path) as package:
        assert faults_of(package, reference) == []
        assert disagreements(package) == []
        assert package.root.profile == PROFILES[kind, version][0]
        assert (package.root.content_type, package.root.other_content_type) == ("OTHER", "Files")
        assert [agent.name for agent in package.root.agents] == ["noarkit", DEFAULT_SUBMITTER]
        assert [entry.name for entry in package.metadata("")] == [
            "metadata/descriptive/dc.xml",
            "metadata/preservation/premis.xml",
        ]


def test_ids_are_unique_in_a_package_and_every_pointer_finds_its_end(tmp_path: Path) -> None:
    source = tree(tmp_path / "source")
    parts = [Representation(name, files_below(source), documentation=[EarkFile("d", b"")]) for name in ("a", "b")]
    made = make_eark(parts, tmp_path / "p", EarkOrder(kind="aip"))
    ids: list[str] = []
    for path in made.path.rglob("METS.xml"):
        root = etree.parse(str(path)).getroot()
        own = [str(one.get("ID")) for one in root.iter() if one.get("ID")]
        pointers = [str(one.get("FILEID")) for one in root.iter(f"{{{METS}}}fptr")]
        assert set(pointers) <= set(own)
        ids += own
    assert len(ids) == len(set(ids))
    root = etree.parse(str(made.path / "METS.xml")).getroot()
    titles = [one.get("{http://www.w3.org/1999/xlink}title") for one in root.iter(f"{{{METS}}}mptr")]
    groups = {one.get("ID"): one.get("USE") for one in root.iter(f"{{{METS}}}fileGrp")}
    assert [groups[str(title)] for title in titles] == ["Representations/a", "Representations/b"]
    assert all(
        len(one.findall(f"{{{METS}}}fptr")) == 1 for one in root.iter() if one.find(f"{{{METS}}}mptr") is not None
    )


def test_what_the_order_tells_stands_in_the_package(tmp_path: Path, reference: Path) -> None:
    order = EarkOrder(
        object_id="urn:uuid:1",
        metadata=(MetadataFile("ead.xml", b"<ead/>"), MetadataFile("log.txt", b"x", folder="other")),
        documentation=[EarkFile("how.pdf", b"x")],
        schemas=[EarkFile("ead3.xsd", b"<x/>")],
        events=(PackageEvent("virus check", WHEN, "clamd", "success", "nothing found"),),
        checksum="SHA-512",
    )
    part = Representation("rep1", [], metadata=(MetadataFile("mods.xml", b"<m/>"),), schemas=[EarkFile("a.xsd", b"")])
    made = make_eark([part], tmp_path / "p.tar", order)
    with open_eark(made.path) as package:
        assert faults_of(package, reference) == []
        assert disagreements(package) == []
        assert [(entry.name, entry.md_type) for entry in package.metadata()] == [
            ("metadata/descriptive/ead.xml", "EAD"),
            ("metadata/other/log.txt", "OTHER"),
            ("metadata/preservation/premis.xml", "PREMIS"),
            ("representations/rep1/metadata/descriptive/mods.xml", "MODS"),
            ("representations/rep1/metadata/preservation/premis.xml", "PREMIS"),
        ]
        assert {entry.checksum_type for entry in package.files()} == {"SHA-512"}
        assert package.find("documentation/how.pdf") and package.find("schemas/ead3.xsd")
        with package.open("metadata/preservation/premis.xml") as file:
            events = etree.fromstring(file.read(1 << 20)).findall(f"{{{PREMIS}}}event")
    assert [one.findtext(f"{{{PREMIS}}}eventType") for one in events] == ["virus check", "information package creation"]
    with tarfile.open(made.path) as tar:
        assert {name.split("/")[0] for name in tar.getnames()} == {"urn+uuid+1"}


def test_a_representation_of_nothing_has_no_empty_group(tmp_path: Path, reference: Path) -> None:
    made = make_eark([Representation("rep1", [])], tmp_path / "p")
    assert (made.path / "representations" / "rep1" / "data").is_dir()
    with open_eark(made.path) as package:
        assert faults_of(package, reference) == []
    assert b"fileSec" not in (made.path / "representations" / "rep1" / "METS.xml").read_bytes()


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("kind", KINDS)
def test_our_own_validator_has_nothing_to_say(tmp_path: Path, kind: Kind, tail: str) -> None:
    source = tree(tmp_path / "source")
    made = make_eark([Representation("rep1", files_below(source))], tmp_path / f"p{tail}", EarkOrder(kind=kind))
    report = validate_eark(made.path)
    assert report.valid
    said = {outcome.rule.code for outcome in report.outcomes if outcome.rule.level != "info"}
    assert said == ({"AIP28"} if (kind, tail) == ("aip", ".tar.gz") else set())  # which asks for a plain tar


def test_premis_that_was_given_stands_beside_our_own(tmp_path: Path) -> None:
    given = MetadataFile("premis.xml", b"<premis/>", folder="preservation")
    made = make_eark([Representation("rep1", [], metadata=(given,))], tmp_path / "p", EarkOrder(metadata=(given,)))
    with open_eark(made.path) as package:
        assert disagreements(package) == []
        assert [entry.name for entry in package.metadata("rep1")] == [
            "representations/rep1/metadata/preservation/premis-2.xml",
            "representations/rep1/metadata/preservation/premis.xml",
        ]


def test_premis_can_be_left_out(tmp_path: Path, reference: Path) -> None:
    made = make_eark([Representation("rep1", [])], tmp_path / "p", EarkOrder(premis=False))
    with open_eark(made.path) as package:
        assert faults_of(package, reference) == []
        assert [entry.md_type for entry in package.metadata()] == ["DC"]


@pytest.mark.parametrize("tail", TAILS)
def test_nothing_that_is_there_is_written_over(tmp_path: Path, tail: str) -> None:
    target = tmp_path / f"p{tail}"
    target.write_bytes(b"mine")
    with pytest.raises(UsageFault):
        make_eark([Representation("rep1", [])], target)
    assert target.read_bytes() == b"mine"
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def test_two_builds_of_one_package_do_not_meet(tmp_path: Path) -> None:
    with closing(Progress(tmp_path / "p", "eark 2 sip 2.2.0 p folder sha256")), pytest.raises(RunLocked):
        make_eark([Representation("rep1", [])], tmp_path / "p")


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("name", ["../out", "/etc/passwd", "a/../../out", "C:/x", "\udcff", "con", "a//b", "", "./a"])
def test_names_no_package_can_hold_are_refused(tmp_path: Path, tail: str, name: str) -> None:
    with pytest.raises(UnsafePath):
        make_eark([Representation("rep1", [EarkFile(name, b"")])], tmp_path / f"p{tail}")
    assert not (tmp_path / f"p{tail}").exists()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("names", [("a/b",), ("..",), ("a", "A"), ("",)])
def test_representations_have_plain_names_of_their_own(tmp_path: Path, names: tuple[str, ...]) -> None:
    with pytest.raises(UnsafePath):
        make_eark([Representation(name, []) for name in names], tmp_path / "p")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("tail", TAILS)
def test_a_file_twice_is_refused(tmp_path: Path, tail: str) -> None:
    with pytest.raises(UnsafeMember):
        make_eark([Representation("rep1", [EarkFile("a", b"1"), EarkFile("a", b"2")])], tmp_path / f"p{tail}")
    assert not (tmp_path / f"p{tail}").exists()


def test_links_of_a_folder_are_no_files_of_a_package(tmp_path: Path) -> None:
    source = tree(tmp_path / "source")
    (source / "link").symlink_to("/etc/passwd")
    with pytest.raises(UnsafeMember):
        make_eark([Representation("rep1", files_below(source))], tmp_path / "p")


@pytest.mark.parametrize(
    "order",
    [
        EarkOrder(version="2.0.4"),
        EarkOrder(checksum="CRC32"),
        EarkOrder(record_status="OLD"),
        EarkOrder(content_type="unheard of"),
    ],
)
def test_an_order_that_makes_no_package_is_refused(tmp_path: Path, order: EarkOrder) -> None:
    with pytest.raises(UsageFault):
        make_eark([Representation("rep1", [])], tmp_path / "p", order)
    with pytest.raises(UsageFault):
        make_eark([], tmp_path / "p")
    assert list(tmp_path.iterdir()) == []


def test_files_are_told_of_as_they_come(tmp_path: Path) -> None:
    def files() -> Iterator[EarkFile]:
        for number in range(1_200):
            yield EarkFile(f"{number}", b"x")

    events: list[Event] = []
    make_eark([Representation("rep1", files())], tmp_path / "p.zip", emit=events.append)
    assert sum(int(str(event.data["files"])) for event in events if event.name == "package_files") >= 1_000


def test_our_own_schemas_take_what_we_write(tmp_path: Path) -> None:
    made = make_eark([Representation("rep1", [EarkFile("a.txt", b"x", puid="x-fmt/111")])], tmp_path / "p")
    judges = {name: own_schema(tmp_path, name) for name in (METS_XSD, PREMIS_XSD)}
    judged = [path for path in made.path.rglob("*.xml") if path.name in ("METS.xml", "premis.xml")]
    assert {path.name for path in judged} == {"METS.xml", "premis.xml"}
    for path in judged:
        if path.name in ("METS.xml", "premis.xml"):
            judge = judges[METS_XSD if path.name == "METS.xml" else PREMIS_XSD]
            assert judge.validate(etree.parse(str(path))), judge.error_log


@pytest.mark.parametrize("kind", KINDS)
def test_no_schema_of_ours_bears_the_name_of_a_published_one(kind: Kind, tmp_path: Path) -> None:
    own = EarkFile("mets.xsd", b"<schema/>")
    made = make_eark(
        [Representation("rep1", [EarkFile("a.txt", b"a")])], tmp_path / "p", EarkOrder(kind=kind, schemas=(own,))
    )
    names = {path.name for path in (made.path / "schemas").iterdir()}
    assert names == {"mets.xsd", *schemas()}
    assert all(name.startswith("noarkit-") for name in schemas())
    assert (made.path / "schemas" / "mets.xsd").read_bytes() == b"<schema/>"  # what the owner brings keeps its name
    for document in made.path.rglob("METS.xml"):
        places = etree.parse(str(document)).getroot().get(f"{{{XSI}}}schemaLocation", "")
        assert places
        for place in places.split()[1::2]:
            assert (document.parent / place).is_file(), place


@pytest.mark.parametrize("kind", KINDS)
def test_every_id_of_a_package_begins_as_strict_judges_want_it(kind: Kind, tmp_path: Path) -> None:
    made = make_eark([Representation("rep1", [EarkFile("a.txt", b"a")])], tmp_path / "p", EarkOrder(kind=kind))
    descriptions = list(made.path.rglob("METS.xml"))
    assert len(descriptions) == 2
    for document in descriptions:
        ids = [str(one.attrib["ID"]) for one in etree.parse(str(document)).iter() if "ID" in one.attrib]
        assert len(ids) > 5
        assert all(one.startswith("ID") for one in ids)


@pytest.mark.parametrize(
    "name", ["delivery", "delivery.zip", "delivery.tar", "uuid-6ba7b810-9dad-41d1-80b4-00c04fd430c8"]
)
def test_no_package_of_ours_is_warned_of_for_the_name_of_its_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.txt").write_text("a")
    noarkit.convert(tmp_path / "files", tmp_path / name, form="eark-sip")
    report = noarkit.validate(tmp_path / name)
    assert report.valid
    assert "CSIPSTR2" not in {outcome.rule.code for outcome in report.outcomes}
