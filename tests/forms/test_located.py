"""Files of an archive file are opened by their locators in any order, in any process, and only while it is the same."""

from __future__ import annotations

import io
import os
import random
import tarfile
import zipfile
from pathlib import Path

import pytest

from noarkit.errors import ItemChanged, ItemUnreadable, ItemVanished
from noarkit.forms.container.locators import MemberReader, MemberStream, locator_of, member_at
from noarkit.forms.container.storage import open_storage

HELD = {f"{number:03}/a {number}.bin": os.urandom(2_000) for number in range(60)}
KINDS = ("zip", "tar", "tar.gz", "tar.xz")


def packed(place: Path, kind: str) -> Path:
    path = place / f"pakke-{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in HELD.items():
                archive.writestr(f"p/./{name}", content)
        return path
    with tarfile.open(path, "w" if kind == "tar" else f"w:{kind[4:]}") as tar:  # type: ignore[call-overload]  # a mode
        for name, content in HELD.items():
            info = tarfile.TarInfo(f"p/{name}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def locators(path: Path) -> dict[str, str]:
    storage = open_storage(path)
    try:
        return {name: locator_of(member) for name in HELD if (member := storage.member(name)) is not None}
    finally:
        storage.close()


@pytest.mark.parametrize("kind", KINDS)
def test_any_order_gives_the_same_bytes(tmp_path: Path, kind: str) -> None:
    path = packed(tmp_path, kind)
    known = list(locators(path).items())
    random.Random(3).shuffle(known)
    place = MemberReader(path)
    for name, locator in known:
        assert member_at(locator).name == f"p/{name}"
        with place.open(locator) as content:
            assert content.read() == HELD[name]
    unpacked = place._expanded
    assert (unpacked is not None) is (kind in ("tar.gz", "tar.xz")), "unpacked once, where going back costs"
    del place
    assert unpacked is None or not unpacked.exists()


def test_two_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = packed(tmp_path, "zip")
    (one, first), (other, second) = list(locators(path).items())[:2]
    place = MemberReader(path)
    with place.open(first) as a, place.open(second) as b:
        begun = a.read(10)
        assert b.read() == HELD[other]
        assert begun + a.read() == HELD[one]
    place.close()


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_child_reads_by_files_of_its_own(tmp_path: Path, kind: str) -> None:
    path = packed(tmp_path, kind)
    known = locators(path)
    place = MemberReader(path)
    name, locator = next(iter(known.items()))
    with place.open(locator) as content:
        content.read(10)
    before = place._idle[0]
    place._owner = -1  # as a child sees it
    with place.open(locator) as content:
        assert content.read() == HELD[name]
    assert place._idle[0] is not before
    before.close()


def test_what_is_changed_gone_or_no_locator_is_told(tmp_path: Path) -> None:
    path = packed(tmp_path, "zip")
    locator = next(iter(locators(path).values()))
    place = MemberReader(path)
    with place.open(locator) as content, pytest.raises(ItemChanged):
        MemberStream(content, place, 1)
    with pytest.raises(ItemVanished), place.open("tull"):
        pass
    content_at = path.read_bytes()
    path.write_bytes(content_at[:30] + bytes(len(content_at) - 30))
    with pytest.raises(ItemUnreadable), MemberReader(path).open(locator) as broken:
        broken.read()
    path.unlink()
    with pytest.raises(ItemVanished), MemberReader(path).open(locator):
        pass
