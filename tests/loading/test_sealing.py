"""What is packed is what was planned: a document that is another by then is left out, and a bundle whose parts do not
belong together is refused though its seal is good."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import noarkit
from noarkit.airgap.receiving import receive
from noarkit.airgap.sealing import PackOrder, find_sealed_bundle, pack
from noarkit.errors import ItemUnreadable, SealBroken, SourceFault, SourceGone, UsageFault
from noarkit.events import Event, ignore_event
from noarkit.forms.container.building import File
from noarkit.forms.sealed.read import open_sealed
from noarkit.forms.sealed.write import SealOrder, seal_package
from noarkit.graph.entity import Content
from noarkit.loading.delivery import delivery_state, open_deliveries
from noarkit.loading.folder import RunFolder
from noarkit.loading.plan import PackResult
from noarkit.records import ContentStream
from noarkit.safe.signing import PublicKey, Signer, new_key_pair, read_public, read_signer
from noarkit.sources.files.source import FileTree
from tests.airgap.gap import files, plain_file

PRIVATE, PUBLIC = new_key_pair()
Change = Callable[[Content, bytes], "Stream"]


def signer() -> Signer:
    return read_signer(PRIVATE, "a.key")


def keys() -> tuple[PublicKey, ...]:
    return (read_public(PUBLIC, "a.pub"),)


class Stream:
    """Bytes as a source gives them; `fails` when so many were read."""

    def __init__(self, content: bytes, *, still: bool = True, fails: SourceFault | None = None) -> None:
        self._left = content
        self._still = still
        self._fails = fails

    def read(self, size: int = -1, /) -> bytes:
        if self._fails is not None:
            raise self._fails
        block, self._left = (self._left, b"") if size < 0 else (self._left[:size], self._left[size:])
        return block

    def still_the_same(self) -> bool:
        return self._still


class Odd(FileTree):
    """A tree of which one document is another than it was."""

    change: Change

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        with super().open(content) as stream:
            whole = stream.read()
            if content.name == "b.txt":
                yield self.change(content, whole)
            else:
                yield Stream(whole)


def moved(content: Content, whole: bytes) -> Stream:
    return Stream(whole, still=False)


def longer(content: Content, whole: bytes) -> Stream:
    return Stream(whole + b"!")


def other(content: Content, whole: bytes) -> Stream:
    return Stream(b"x" * len(whole))


def broken(content: Content, whole: bytes) -> Stream:
    return Stream(whole, fails=ItemUnreadable(key=content.locator, why="EIO"))


def planned(place: Path, *, hashed: bool = False) -> RunFolder:
    source = files(place / "src", "case/a.txt", "case/b.txt", "case/c.txt")
    return noarkit.plan(source, place / "run", hash_contents=hashed).folder


def packed(folder: RunFolder, change: Change, name: str = "bundle", *, strict: bool = False) -> PackResult:
    source = Odd(folder.path.parent / "src")
    source.change = change
    order = PackOrder(folder, source, folder.path.parent / name, signer(), {"user": "kari"}, strict)
    return pack(order, emit=ignore_event, now_s=lambda: 1_800_000_000.0)


def as_it_was(content: Content, whole: bytes) -> Stream:
    return Stream(whole)


@pytest.mark.parametrize("name", ["bundle", "bundle.zip", "bundle.tar"])
@pytest.mark.parametrize(("change", "code"), [(moved, "F203"), (longer, "F203"), (other, "F203"), (broken, "F201")])
def test_a_document_that_is_another_while_it_is_packed_is_left_out_with_its_reason(
    name: str, change: Change, code: str, tmp_path: Path
) -> None:
    folder = planned(tmp_path, hashed=change is other)
    made = packed(folder, change, name)
    assert (made.documents, made.left_out) == (2, 1)
    receive(tmp_path / name, RunFolder(tmp_path / "there"), keys(), ignore_event)
    with closing(sqlite3.connect(tmp_path / "there" / "bundle.db")) as db:
        rows = db.execute("SELECT locator, code FROM held WHERE code IS NOT NULL").fetchall()
    assert [(locator.rpartition("/")[2], found) for locator, found in rows] == [("b.txt", code)]


def test_with_strict_the_first_such_document_stops_it_and_the_next_call_goes_on(tmp_path: Path) -> None:
    folder = planned(tmp_path)
    with pytest.raises(SourceFault):
        packed(folder, moved, strict=True)
    assert not (tmp_path / "bundle").exists()
    assert packed(folder, as_it_was, strict=True).documents == 3


def test_a_run_is_sealed_only_once_its_bundle_stands(tmp_path: Path) -> None:
    folder = planned(tmp_path)
    assert delivery_state(folder) is None
    with pytest.raises(SourceFault):
        packed(folder, moved, strict=True)
    assert delivery_state(folder) is None
    made = packed(folder, as_it_was)
    assert delivery_state(folder) == ("sealed", None)
    found = find_sealed_bundle(folder, made.path, signer())
    assert found is not None and found.already_packed and (found.id, found.seal_sha256) == (made.id, made.seal_sha256)
    with closing(open_deliveries(folder)) as known:
        assert known.bundle("another") is None


def test_what_is_not_ours_at_its_place_is_never_taken_for_the_bundle(tmp_path: Path) -> None:
    folder = planned(tmp_path)
    (tmp_path / "taken.zip").write_bytes(b"not ours")
    for name in ("taken.zip", "run/inside", "made.tar.gz", "nowhere/made.zip"):
        with pytest.raises(UsageFault):
            find_sealed_bundle(folder, tmp_path / name, signer())
    again = tmp_path / "again"
    again.mkdir()
    elsewhere = planned(again)
    packed(elsewhere, as_it_was, "other.zip")
    with pytest.raises(UsageFault):
        find_sealed_bundle(folder, again / "other.zip", signer())


def sealed_anew(bundle: Path, target: Path, change: Callable[[dict[str, bytes]], None], plan: str = "") -> Path:
    """The same bundle with other files, sealed by the same key all the same."""
    with open_sealed(bundle, keys(), "bundle") as sealed:
        contents = {}
        for listed in sealed.files():
            with sealed.open(listed.name) as content:
                contents[listed.name] = content.read(10_000_000)
        said, own = dict(sealed.seal.statement), sealed.seal.id
    change(contents)
    order = SealOrder(target, "bundle", own, "now", signer())
    told: list[File] = [plain_file(*one) for one in contents.items()]
    seal_package(iter(told), order, lambda listed: {**said, **({"plan": plan} if plan else {})})
    return target


def without_a_document(contents: dict[str, bytes]) -> None:
    del contents[next(name for name in contents if name.startswith("documents/"))]


def with_one_more(contents: dict[str, bytes]) -> None:
    contents["documents/9/9999"] = b"more"


def with_another_plan(contents: dict[str, bytes]) -> None:
    told = json.loads(contents["noarkit-plan/plan.json"])
    contents["noarkit-plan/plan.json"] = json.dumps({**told, "sha256": "0" * 64}).encode()


def with_no_plan(contents: dict[str, bytes]) -> None:
    contents["noarkit-plan/plan.json"] = b"nothing"


def with_odd_lines(contents: dict[str, bytes]) -> None:
    contents["left-out.jsonl"] = b"nothing\n"


@pytest.mark.parametrize("change", [without_a_document, with_one_more, with_another_plan, with_no_plan, with_odd_lines])
def test_a_bundle_whose_parts_do_not_belong_together_makes_no_run(
    change: Callable[[dict[str, bytes]], None], tmp_path: Path
) -> None:
    bundle = packed(planned(tmp_path), as_it_was).path
    odd = sealed_anew(bundle, tmp_path / "odd", change)
    with pytest.raises(SealBroken) as caught:
        receive(odd, RunFolder(tmp_path / "there"), keys(), ignore_event)
    assert caught.value.data["why"] == "seal-plan"
    assert not (tmp_path / "there" / "plan.json").exists()
    whole = sealed_anew(bundle, tmp_path / "whole", lambda contents: None)
    assert receive(whole, RunFolder(tmp_path / "there"), keys(), ignore_event).records == {"mapped": 3}


def test_a_graph_that_is_not_the_one_that_was_frozen_makes_no_run(tmp_path: Path) -> None:
    folder = planned(tmp_path)
    bundle = packed(folder, as_it_was).path
    shutil.copy(folder.graph, tmp_path / "other.db")
    with closing(sqlite3.connect(tmp_path / "other.db")) as db:
        db.execute("UPDATE record SET key = 'another' WHERE n = 1")
        db.commit()

    def swap(contents: dict[str, bytes]) -> None:
        contents["noarkit-plan/graph.db"] = (tmp_path / "other.db").read_bytes()

    with pytest.raises(SealBroken) as caught:
        receive(sealed_anew(bundle, tmp_path / "odd", swap), RunFolder(tmp_path / "there"), keys(), ignore_event)
    assert (caught.value.data["why"], caught.value.data["name"]) == ("seal-plan", "graph.db")


def test_a_seal_that_names_another_plan_than_its_own_is_refused(tmp_path: Path) -> None:
    bundle = packed(planned(tmp_path), as_it_was).path
    odd = sealed_anew(bundle, tmp_path / "odd", lambda contents: None, plan="0" * 64)
    with pytest.raises(SealBroken):
        receive(odd, RunFolder(tmp_path / "there"), keys(), ignore_event)


def test_where_ten_and_more_than_a_tenth_cannot_be_had_nothing_is_sealed(tmp_path: Path) -> None:
    names = [f"case/{number}.txt" for number in range(95)]
    folder = noarkit.plan(files(tmp_path / "src", *names), tmp_path / "run").folder
    for name in names[:9]:
        (tmp_path / "src" / name).unlink()
    told: list[Event] = []
    order = PackOrder(folder, FileTree(tmp_path / "src"), tmp_path / "nine", signer(), {})
    assert pack(order, emit=told.append, now_s=lambda: 0.0).left_out == 9
    assert [event.data["code"] for event in told if event.name == "not_sealed"] == ["F202"] * 9
    (tmp_path / "src" / names[9]).unlink()
    more = PackOrder(folder, FileTree(tmp_path / "src"), tmp_path / "ten", signer(), {})
    with pytest.raises(SourceGone):
        pack(more, emit=ignore_event, now_s=lambda: 0.0)
    assert not (tmp_path / "ten").exists()
