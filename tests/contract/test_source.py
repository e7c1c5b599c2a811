"""What every source promises, tried on each kind of source.

A new kind joins by a `Case` in `CASES`: how to lay out a place, open it, change one content, and take the place away.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from noarkit.errors import ItemChanged, ItemVanished, SourceGone
from noarkit.events import ignore_event
from noarkit.forms.addml.source import AddmlSource
from noarkit.forms.dias.source import DiasSource
from noarkit.forms.eark.source import EarkSource
from noarkit.forms.eark.write.package import EarkFile, EarkOrder, Representation, make_eark
from noarkit.graph.entity import Content, SetAside, Skipped
from noarkit.records import Groundwork, Source, SourceRecord
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree
from samples.packages.dias import good_dias
from tests.forms.addml.deliveries import CASE_LINES, delivery

MAIL = (
    b"From: Kari <kari@example.no>\r\nTo: Ola <ola@example.no>\r\nSubject: Hei\r\nMessage-ID: <%d@example.no>\r\n"
    b"MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=B\r\n\r\n"
    b"--B\r\nContent-Type: text/plain\r\n\r\nHei\r\n"
    b"--B\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\n"
    b"Content-Transfer-Encoding: base64\r\n\r\nJVBERi0xLjc=\r\n--B--\r\n"
)
SEPARATOR = b"From kari@example.no Mon Jan  6 12:00:00 2020\n"


@dataclass(frozen=True)
class Case:
    """One kind of source, laid out under a folder of its own. `expected` is the bytes of each content by locator."""

    name: str
    lay_out: Callable[[Path], dict[str, bytes]]
    open: Callable[[Path], Source]
    file_behind: Callable[[Path, Content], Path]


def _tree(place: Path) -> dict[str, bytes]:
    held = {"b.txt": b"to", "a.txt": b"en", "sak/c.txt": b"", "sak/d/e.bin": os.urandom(300_000)}
    for name, content in held.items():
        path = place / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (place / "root" / "link").symlink_to("a.txt")
    os.mkfifo(place / "root" / "fifo")
    return held


def _one_file(place: Path) -> dict[str, bytes]:
    (place / "root").mkdir()
    (place / "root" / "alene.txt").write_bytes(b"alene")
    (place / "root" / "andre.txt").write_bytes(b"andre")
    return {"alene.txt": b"alene"}


def _mail(place: Path) -> dict[str, bytes]:
    (place / "root").mkdir()
    (place / "root" / "en.eml").write_bytes(MAIL % 1)
    return {"en.eml": MAIL % 1, "en.eml//part/1": b"%PDF-1.7"}


def _mailbox(place: Path) -> dict[str, bytes]:
    (place / "root").mkdir()
    first, second = MAIL % 1, MAIL % 2
    (place / "root" / "inn.mbox").write_bytes(SEPARATOR + first + b"\r\n" + SEPARATOR + second + b"\r\n")
    starts = (len(SEPARATOR), 2 * len(SEPARATOR) + len(first) + 2)
    held: dict[str, bytes] = {}
    for start, message in zip(starts, (first, second), strict=True):
        held[f"inn.mbox//{start}+{len(message)}"] = message
        held[f"inn.mbox//{start}+{len(message)}//part/1"] = b"%PDF-1.7"
    return held


def _register(place: Path) -> dict[str, bytes]:
    (place / "root" / "filer").mkdir(parents=True)
    held = {"filer/b.txt": b"b", "filer/a.txt": b"a"}
    for name, content in held.items():
        (place / "root" / name).write_bytes(content)
    (place / "root" / "unevnt.txt").write_bytes(b"x")
    (place / "root" / "liste.csv").write_text("fil;tittel\nfiler/b.txt;B\nfiler/a.txt;A\nborte.txt;C\n")
    return held


def _files(policy: FilePolicy, below: str = "root") -> Callable[[Path], Source]:
    return lambda place: FileTree(place / below, policy)


def _behind(place: Path, content: Content) -> Path:
    return place / "root" / content.locator.split("//")[0]


def _eark(place: Path) -> dict[str, bytes]:
    held = {"a.txt": b"en", "sak/b.bin": os.urandom(300_000), "tom": b""}
    files = [EarkFile(name, content) for name, content in held.items()]
    note = [EarkFile("les.txt", b"les")]
    make_eark([Representation("r", files)], place / "root", EarkOrder(documentation=note))
    base = "::representations/r/data/"
    own = {f"{base}{name}": content for name, content in held.items()}
    return {**own, "::documentation/les.txt": b"les", **_descriptions(place / "root", own)}


def _flat_files(place: Path) -> dict[str, bytes]:
    delivery(place / "root", cases=(*CASE_LINES, "S4;kort"))
    names = ("addml.xml", "les meg.txt", "DATA/brev/1.txt", "DATA/brev/2.txt")
    return {f"file:{name}": (place / "root" / name).read_bytes() for name in names}


def _below_root(place: Path, content: Content) -> Path:
    return place / "root" / content.locator.removeprefix("file:")


def _dias(place: Path) -> dict[str, bytes]:
    held = {"a.txt": b"en", "sak/b.bin": os.urandom(300_000), "tom": b""}
    draft = good_dias("SIP", held)
    draft.late["content/mer.txt"] = b"mer"
    draft.unpack(place).rename(place / "root")
    own = {f"::content/{name}": content for name, content in held.items()}
    return {**own, **_descriptions(place / "root", {**own, "::content/mer.txt": b""})}


def _descriptions(root: Path, own: Mapping[str, bytes]) -> dict[str, bytes]:
    """What describes a package: all in it that is neither its content nor a schema."""
    names = {f"::{path.relative_to(root)}": path for path in root.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in names.items() if name not in own and path.suffix != ".xsd"}


def _in_package(place: Path, content: Content) -> Path:
    return place / "root" / content.locator.removeprefix("::")


CASES = (
    Case("file tree", _tree, _files(FilePolicy()), _behind),
    Case("file tree from outside", _tree, _files(FilePolicy(look_inside=False)), _behind),
    Case("single file", _one_file, _files(FilePolicy(), "root/alene.txt"), _behind),
    Case("mail in parts", _mail, _files(FilePolicy(mail="parts"), "root/en.eml"), _behind),
    Case("mailbox", _mailbox, _files(FilePolicy(mail="parts")), _behind),
    Case("E-ARK package", _eark, lambda place: EarkSource(place / "root"), _in_package),
    Case("DIAS package", _dias, lambda place: DiasSource(place / "root"), _in_package),
    Case("flat files", _flat_files, lambda place: AddmlSource(place / "root"), _below_root),
    Case("leading register", _register, _files(FilePolicy(lead="liste.csv")), _behind),
)


@dataclass(frozen=True)
class Laid:
    """A case laid out."""

    case: Case
    place: Path
    expected: dict[str, bytes]

    @property
    def source(self) -> Source:
        """The source, opened anew."""
        return self.case.open(self.place)

    def contents(self) -> list[Content]:
        """Every content of every record."""
        return [content for record in _records(self.source) for content in record.contents]


@pytest.fixture(params=CASES, ids=lambda case: case.name.replace(" ", "-"))
def laid(request: pytest.FixtureRequest, tmp_path: Path) -> Laid:
    """Each kind of source in turn."""
    case: Case = request.param
    place = tmp_path / "place"
    place.mkdir()
    return Laid(case, place, case.lay_out(place))


def _records(source: Source) -> Iterator[SourceRecord]:
    return (item for item in source.records(ignore_event) if isinstance(item, SourceRecord))


def test_every_item_comes_once_under_a_key_of_its_own(laid: Laid) -> None:
    items = [item for item in laid.source.records(ignore_event) if not isinstance(item, Groundwork)]
    keys = [item.key if isinstance(item, SourceRecord) else item.record_key for item in items]
    assert keys
    assert len(keys) == len(set(keys))


def test_two_readings_give_the_same_items_in_the_same_order(laid: Laid) -> None:
    assert list(laid.source.records(ignore_event)) == list(laid.source.records(ignore_event))


def test_contents_are_those_that_were_laid_out(laid: Laid) -> None:
    assert {content.locator for content in laid.contents()} == set(laid.expected)


def test_open_gives_the_planned_bytes(laid: Laid) -> None:
    source = laid.source
    contents = laid.contents()
    assert contents
    for content in contents:
        with source.open(content) as stream:
            taken = b"".join(iter(lambda stream=stream: stream.read(1000), b""))  # type: ignore[misc]  # bound at once
            assert stream.still_the_same()
        assert taken == laid.expected[content.locator]
        assert content.size_bytes == len(taken)


def test_open_gives_all_bytes_at_once_where_no_size_is_asked_for(laid: Laid) -> None:
    contents = laid.contents()
    assert contents
    for content in contents:
        with laid.source.open(content) as stream:
            assert stream.read() == laid.expected[content.locator]


def test_a_time_other_than_planned_is_told_before_a_byte_is_read(laid: Laid) -> None:
    contents = laid.contents()
    assert contents
    for content in contents:
        path = laid.case.file_behind(laid.place, content)
        os.utime(path, ns=(1, path.stat().st_mtime_ns + 1))
        with pytest.raises(ItemChanged), laid.source.open(content):
            pass


def test_a_size_other_than_planned_is_told(laid: Laid) -> None:
    contents = laid.contents()
    assert contents
    for content in contents:
        changed = replace(content, size_bytes=(content.size_bytes or 0) + 1)
        if "//" in content.locator and "part" not in content.locator:
            continue  # the place of a mail in its mailbox is its size
        with pytest.raises(ItemChanged), laid.source.open(changed):
            pass


def test_a_change_while_it_is_read_is_told_after_the_last_byte(laid: Laid) -> None:
    contents = laid.contents()
    assert contents
    for content in contents:
        path = laid.case.file_behind(laid.place, content)
        before = path.stat()
        with laid.source.open(content) as stream:
            stream.read(1)
            with path.open("ab") as file:
                file.write(b"!")
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            assert not stream.still_the_same()
        os.truncate(path, before.st_size)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_another_file_under_the_same_name_while_it_is_read_is_told(laid: Laid) -> None:
    content = laid.contents()[0]
    path = laid.case.file_behind(laid.place, content)
    twin = path.with_name("twin")
    shutil.copy2(path, twin)
    with laid.source.open(content) as stream:
        stream.read()
        twin.replace(path)
        assert not stream.still_the_same()


def test_a_content_that_is_gone_is_told(laid: Laid) -> None:
    source, content = laid.source, laid.contents()[0]
    laid.case.file_behind(laid.place, content).unlink()
    with pytest.raises(ItemVanished), source.open(content):
        pass


def test_nothing_is_written_and_no_time_is_touched(laid: Laid) -> None:
    for path in (laid.place / "root", *(laid.place / "root").rglob("*")):
        # a time of access before that of change is what a system most readily brings up to date
        os.utime(path, ns=(1, path.lstat().st_mtime_ns), follow_symlinks=False)
    before = _picture(laid.place)
    source = laid.source
    list(source.records(ignore_event))
    for content in laid.contents():
        with source.open(content) as stream:
            stream.read()
    assert _picture(laid.place) == before


def test_a_root_that_is_gone_is_no_empty_source(laid: Laid) -> None:
    source = laid.source
    shutil.rmtree(laid.place / "root")
    with pytest.raises(SourceGone):
        list(source.records(ignore_event))


def test_descriptors_are_given_back_also_by_who_stops_early(laid: Laid) -> None:
    before = _open_descriptors()
    items = laid.source.records(ignore_event)
    next(items)
    del items
    list(laid.source.records(ignore_event))
    for content in laid.contents():
        with laid.source.open(content):
            pass
    assert _open_descriptors() == before


def test_fields_are_plain_values(laid: Laid) -> None:
    records = list(_records(laid.source))
    assert records
    for record in records:
        assert _is_plain(record.fields), record.key
        record.key.encode("utf-8")


def test_the_default_recipe_is_text_and_the_proposal_too(laid: Laid) -> None:
    assert "[target]" in laid.source.default_recipe()
    assert "[target]" in laid.source.proposal(ignore_event)


def test_what_is_not_taken_says_why(laid: Laid) -> None:
    for item in laid.source.records(ignore_event):
        if isinstance(item, SetAside):
            assert item.code.startswith("F2")
            assert item.data["key"] == item.record_key
        if isinstance(item, Skipped):
            assert item.reason


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(isinstance(name, str) and _is_plain(inner) for name, inner in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (str, int, float, bool))


def _picture(place: Path) -> list[tuple[object, ...]]:
    picture: list[tuple[object, ...]] = []
    for path in sorted(place.rglob("*")):
        status = path.lstat()
        times = (status.st_mtime_ns, status.st_ctime_ns, status.st_atime_ns)
        picture.append((str(path), status.st_ino, status.st_size, status.st_mode, *times))
    return picture


def _open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").is_dir() else 0
