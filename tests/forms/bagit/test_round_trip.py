"""What goes into a bag comes out of it, whatever its names and sizes, in every container."""

from __future__ import annotations

import tempfile
from pathlib import Path

import bagit
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noarkit.errors import UnsafePath
from noarkit.forms.bagit.read import open_bag
from noarkit.forms.bagit.rules.run import validate_bag
from noarkit.forms.bagit.write import BagOrder, files_below, make_bag
from noarkit.safe.paths import checked_parts, twin_key

TAILS = ("", ".zip", ".tar", ".tar.gz")


def is_plain(name: str) -> bool:
    try:
        return checked_parts(name) == tuple(name.split("/"))
    except UnsafePath:
        return False


part = st.text(
    st.one_of(st.sampled_from("aB%\n\r\t* ~.å\u030aÅ'\"\\;:0"), st.characters(exclude_categories=["Cs"])),
    min_size=1,
    max_size=12,
).filter(lambda text: "/" not in text and is_plain(text))
names = st.lists(part, min_size=1, max_size=3).map("/".join).filter(is_plain)


@st.composite
def trees(draw: st.DrawFn) -> dict[str, bytes]:
    """Files whose names are no twins, none of which is another's folder."""
    found: dict[str, bytes] = {}
    taken: dict[str, str] = {}
    for name in draw(st.lists(names, max_size=6)):
        steps = [name[:at] for at in range(len(name)) if name[at] == "/"]
        free = twin_key(name) not in taken and all(taken.get(twin_key(step), step) == step for step in steps)
        if free and not any(step in found for step in steps):
            taken.update({twin_key(step): step for step in steps})
            taken[twin_key(name)] = name
            found[name] = draw(st.binary(max_size=200))
    return found


def laid(root: Path, tree: dict[str, bytes]) -> Path:
    for name, content in tree.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root


def contents(path: Path) -> dict[str, bytes]:
    with open_bag(path) as bag:
        found = {}
        for entry in bag.entries():
            with bag.open(entry.name) as file:
                found[entry.name] = file.read(1 << 23)
        assert found == {name: file.read(1 << 23) for name, file in bag.contents()}
        return found


@pytest.mark.parametrize("tail", TAILS)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tree=trees())
def test_any_tree_comes_back_equal_and_valid(tail: str, tree: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as place:
        source = Path(place, "source")
        source.mkdir()
        laid(source, tree)
        made = make_bag(files_below(source), Path(place, f"bag{tail}"), BagOrder(algorithms=("sha256", "md5")))
        assert contents(made.path) == tree
        report = validate_bag(made.path)
        assert report.valid, report.outcomes
        assert made.files == len(tree)
        # it does not decode %25, takes blanks at the end of a name away, and ends lines at signs that end none
        odd = any("%" in name or name != name.strip() or name.splitlines() != [name] for name in tree)
        if not tail and not odd:
            assert bagit.Bag(str(made.path)).validate()


def test_large_and_many_files_come_back_through_threads_and_processes(tmp_path: Path) -> None:
    tree = {f"many/{number // 100}/{number}.txt": str(number).encode() for number in range(700)}
    tree |= {"large.bin": b"0123456789abcdef" * 200_000, "large2.bin": b"x" * 2_500_000}
    source = laid(tmp_path / "source", tree)
    made = make_bag(files_below(source), tmp_path / "bag", BagOrder(algorithms=("sha512", "sha1"), width=2))
    assert contents(made.path) == tree
    assert validate_bag(made.path, width=2).valid
    assert bagit.Bag(str(made.path)).validate()


def test_the_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    source = laid(tmp_path / "source", {"a": b"1", "b/c": b"2"})
    for tail in (".zip", ".tar", ".tar.gz"):
        (tmp_path / "1").mkdir(exist_ok=True)
        (tmp_path / "2").mkdir(exist_ok=True)
        one = make_bag(files_below(source), tmp_path / "1" / f"bag{tail}").path
        other = make_bag(files_below(source), tmp_path / "2" / f"bag{tail}").path
        assert one.read_bytes() == other.read_bytes()
