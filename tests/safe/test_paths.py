"""A path from a package stays inside its root and is a plain name everywhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.errors import UnsafeMember, UnsafePath
from noarkit.safe.paths import Names, checked_parts, open_inside, resolve_inside, shown_path, twin_key


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "empty"),
        (".", "empty"),
        ("./", "empty"),
        ("a\0b", "nul"),
        ("/etc/passwd", "absolute"),
        ("\\windows", "absolute"),
        ("//server/share/a", "unc"),
        ("\\\\server\\share\\a", "unc"),
        ("C:/a", "drive"),
        ("c:a", "drive"),
        ("..", "climbs"),
        ("a/../../b", "climbs"),
        ("a\\..\\..\\b", "climbs"),
        ("NUL", "device-name"),
        ("dokumenter/con.pdf", "device-name"),
        ("COM1", "device-name"),
        ("lpt9 .txt", "device-name"),
        ("å" * 128, "too-long"),
        ("a/" * 2048 + "a", "too-long"),
    ],
)
def test_a_name_that_is_no_plain_way_down_is_refused(name: str, why: str) -> None:
    with pytest.raises(UnsafePath) as fault:
        checked_parts(name)
    assert fault.value.data == {"where": name, "why": why}


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("a/b.pdf", ("a", "b.pdf")),
        ("./a//b/", ("a", "b")),
        ("...", ("...",)),
        ("a\\b", ("a\\b",)),
        ("console.log", ("console.log",)),
        ("blåbær\udcff", ("blåbær\udcff",)),
        ("c1:a", ("c1:a",)),
    ],
)
def test_a_plain_name_is_cut_into_its_parts(name: str, parts: tuple[str, ...]) -> None:
    assert checked_parts(name) == parts


@given(st.text(st.sampled_from("./\\abC:\0~"), max_size=20))
def test_whatever_passes_leads_inside_its_root(name: str) -> None:
    try:
        parts = checked_parts(name)
    except UnsafePath:
        return
    assert os.path.normpath(os.path.join("/root", *parts)).startswith("/root/")  # noqa: PTH118  # compared as text, on no disk


def test_links_that_lead_out_are_refused_and_links_that_stay_are_followed(tmp_path: Path) -> None:
    root = tmp_path / "package"
    (root / "real").mkdir(parents=True)
    (tmp_path / "secret").write_text("x")
    (root / "real" / "a.txt").write_text("a")
    (root / "near").symlink_to("real")
    (root / "far").symlink_to(tmp_path)
    (root / "round").symlink_to("round")
    assert resolve_inside(root, "near/a.txt") == (root / "real" / "a.txt").resolve()
    with pytest.raises(UnsafePath, match="outside"):
        resolve_inside(root, "far/secret")
    with pytest.raises(UnsafePath):
        resolve_inside(root, "round/a")


def test_only_a_regular_file_is_opened(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"content")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with open_inside(tmp_path, "a.txt") as file:
        assert file.read() == b"content"
    for name in ("folder", "pipe"):
        with pytest.raises(UnsafePath, match="not-a-file"):
            open_inside(tmp_path, name)
    with pytest.raises(FileNotFoundError):
        open_inside(tmp_path, "none")


@pytest.mark.parametrize(
    ("one", "other"),
    [("A.pdf", "a.PDF"), ("bla\u030a.txt", "bl\u00e5.txt"), ("Straße", "STRASSE"), ("a. ", "a"), ("x/A", "X/a")],
)
def test_names_that_some_system_takes_for_the_same_have_one_key(one: str, other: str) -> None:
    assert twin_key(one) == twin_key(other)


def test_a_second_name_that_is_the_same_somewhere_is_refused() -> None:
    with Names() as names:
        names.add(("dok", "a.pdf"))
        names.add(("dok", "b.pdf"))
        names.add(("dok",), "folder")
        with pytest.raises(UnsafeMember, match="duplicate"):
            names.add(("dok", "a.pdf"))
        with pytest.raises(UnsafeMember, match="twin"):
            names.add(("dok", "A.pdf"))
        with pytest.raises(UnsafeMember, match="twin"):
            names.add(("DOK", "c.pdf"))
        with pytest.raises(UnsafeMember, match="duplicate"):
            names.add(("dok", "b.pdf", "c"))
        with pytest.raises(UnsafeMember, match="duplicate"):
            names.add(("dok",))


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("project/../xsd", "xsd"),
        ("project/../../elsewhere/xsd", "/elsewhere/xsd"),
        ("project/xsd", "project/xsd"),
        ("../xsd", "../xsd"),
        ("/srv/xsd", "/srv/xsd"),
    ],
)
def test_a_path_is_shown_without_climbing_out_of_what_it_names(
    path: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    wanted = f"{tmp_path}{shown}" if shown == "/elsewhere/xsd" else shown
    assert str(shown_path(Path(path))) == wanted
