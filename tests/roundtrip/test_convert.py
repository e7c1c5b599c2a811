"""What is carried from form to form comes back the same, whatever its names, containers and the kills on the way."""

from __future__ import annotations

import os
import random
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from noarkit.errors import PackageFault, UsageFault
from noarkit.events import Event
from noarkit.extraction.convert import ConvertOptions, convert
from noarkit.extraction.delivery import deliver, delivery_folder
from noarkit.extraction.payload import payload_of
from noarkit.extraction.run import ExtractSettings
from noarkit.forms.comparison import compare_extracts
from noarkit.forms.eark.write.package import EarkFile, EarkOrder, MetadataFile, Representation, files_below, make_eark
from noarkit.forms.registry import known_forms
from noarkit.forms.validation import validate
from samples.packages.make import write_good
from tests.forked import run_forked
from tests.forms.bagit.test_round_trip import laid, trees
from tests.roundtrip.circle import archive_in
from tests.roundtrip.worlds import build

DEEP = bool(os.environ.get("NOARKIT_DEEP"))
TAILS = ("", ".zip", ".tar", ".tar.gz")


PACKED_EXTRACTS = known_forms().product_names("package")


def tail_of(form: str, number: int) -> str:
    return "" if form.startswith("dias") else TAILS[number % 4]


def held(path: Path) -> dict[str, bytes]:
    """The files that a package carries, without anything that its form adds."""
    found = {}
    with payload_of(path) as payload:
        for part in payload.parts:
            for name, source, _, _ in part.files():
                if isinstance(source, str | Path):
                    found[name] = Path(source).read_bytes()
                else:
                    with source() as content:
                        found[name] = content.read()
    return found


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("form", PACKED_EXTRACTS)
@given(tree=trees(), number=st.integers(0, 3))
@settings(
    max_examples=100 if DEEP else 4, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
def test_any_tree_comes_back_equal_and_the_package_is_valid(form: str, tree: dict[str, bytes], number: int) -> None:
    assume(tree or not form.startswith("dias"))  # which must hold something
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "kilde"
        source.mkdir()
        laid(source, tree)
        made = convert(source, Path(place) / f"pakke{tail_of(form, number)}", ConvertOptions(form))
        assert made.files == len(tree)
        assert held(made.package) == tree
        report = validate(made.package)
        assert [one.rule.code for one in report.outcomes if one.rule.level == "error"] == []


@pytest.mark.parametrize("seed", range(20 if DEEP else 2))
def test_an_extract_goes_through_every_form_and_back_without_loss(tmp_path: Path, seed: int) -> None:
    write_good(tmp_path / "extract", "5.0")
    forms = [*PACKED_EXTRACTS]
    random.Random(seed).shuffle(forms)
    at = tmp_path / "extract"
    for number, form in enumerate(forms):
        at = convert(at, tmp_path / f"{number}-{form}{tail_of(form, number + seed)}", ConvertOptions(form)).package
    back = convert(at, tmp_path / "back", ConvertOptions("noark5")).package
    assert files_in(back) == files_in(tmp_path / "extract")
    assert compare_extracts(tmp_path / "extract", back).equal
    assert validate(back).valid


KILLED = """
import os, signal, sys
from pathlib import Path
from noarkit.extraction.convert import ConvertOptions, convert
heard = []
def tell(event):
    heard.append(event.name)
    if event.name == sys.argv[4] and heard.count(event.name) == int(sys.argv[5]):
        os.kill(os.getpid(), signal.SIGKILL)
convert(Path(sys.argv[1]), Path(sys.argv[2]), ConvertOptions(sys.argv[3]), emit=tell)
"""


@pytest.mark.parametrize(
    ("form", "tail", "event", "at"),
    [
        ("eark-sip", "", "package_begun", 1),
        ("eark-sip", "", "package_files", 1),
        ("eark-aip", ".tar", "package_files", 2),
        ("dias-aip", "", "package_files", 2),
    ],
)
def test_a_killed_conversion_goes_on_and_leaves_no_half_package(
    tmp_path: Path, form: str, tail: str, event: str, at: int
) -> None:
    tree = {f"{number // 500}/{number:05}.txt": b"%d" % number for number in range(2_100)}
    source, target = laid(tmp_path / "kilde", tree), tmp_path / f"pakke{tail}"
    line = ["-c", KILLED, source, target, form, event, at]
    assert run_forked(line, cwd=tmp_path).returncode == -signal.SIGKILL
    assert not target.exists()
    told: list[Event] = []
    made = convert(source, target, ConvertOptions(form), emit=told.append)
    assert made.resumed is (event == "package_files")
    if made.resumed:
        assert sum(int(str(one.data["files"])) for one in told if one.name == "package_files") < len(tree)
    assert held(target) == tree
    assert validate(target).valid


@pytest.mark.parametrize(("form", "tail"), [("eark-sip", ".zip"), ("dias-aip", ""), ("bagit", "")])
def test_an_archive_is_delivered_in_any_form_also_after_a_stop(tmp_path: Path, form: str, tail: str) -> None:
    class Stopped(Exception):
        """The process ended here."""

    def stop(event: Event, /) -> None:
        if event.name == "package_begun":
            raise Stopped

    with archive_in(tmp_path / "archive") as archive:
        build(random.Random(5), archive)
        target, wanted, terms = tmp_path / f"ut{tail}", ConvertOptions(form), ExtractSettings(include_open=True)
        with pytest.raises(Stopped):
            deliver(archive, target, wanted, terms, emit=stop)
        assert not target.exists()
        told: list[str] = []
        made = deliver(archive, target, wanted, terms, emit=lambda event: told.append(event.name))
        assert "fetching" not in told, "the extract stands: it is not made again"
        assert (made.package, made.report.is_file(), made.report.parent) == (target, True, tmp_path)
        deliver(archive, tmp_path / "bag.tar", ConvertOptions("bagit"), terms)
        with pytest.raises(UsageFault):
            deliver(archive, target, wanted, terms)
    assert not delivery_folder(target).exists()
    back = convert(target, tmp_path / "back", ConvertOptions("noark5")).package
    other = convert(tmp_path / "bag.tar", tmp_path / "other", ConvertOptions("noark5")).package
    assert compare_extracts(back, other).equal
    assert {path.name for path in tmp_path.iterdir()} >= {target.name, f"{target.name}.not-in-form.json"}


def test_only_an_extract_is_taken_out_and_nothing_is_written_over(tmp_path: Path) -> None:
    source = laid(tmp_path / "kilde", {"a.txt": b"a"})
    with pytest.raises(PackageFault):
        convert(source, tmp_path / "ut", ConvertOptions("noark5"))
    with pytest.raises(UsageFault):
        convert(source, source / "ut", ConvertOptions("bagit"))
    with pytest.raises(UsageFault):
        convert(source, tmp_path / "ut", ConvertOptions("papir"))
    convert(source, tmp_path / "ut", ConvertOptions("bagit"))
    with pytest.raises(UsageFault):
        convert(source, tmp_path / "ut", ConvertOptions("bagit"))
    with pytest.raises(PackageFault):
        convert(tmp_path / "borte", tmp_path / "ny", ConvertOptions("bagit"))


def test_descriptions_go_along_from_one_package_to_another(tmp_path: Path) -> None:
    source = laid(tmp_path / "kilde", {"a.txt": b"a"})
    ead, note = tmp_path / "ead.xml", tmp_path / "notat.txt"
    ead.write_text("<ead/>")
    note.write_text("om")
    part = Representation("rep1", files_below(source), documentation=(EarkFile("notat.txt", note),))
    order = EarkOrder(metadata=(MetadataFile("ead.xml", ead),))
    make_eark([part], tmp_path / "sip.zip", order)
    convert(tmp_path / "sip.zip", tmp_path / "aip", ConvertOptions("eark-aip"))
    assert (tmp_path / "aip" / "metadata" / "descriptive" / "ead.xml").read_text() == "<ead/>"
    assert (tmp_path / "aip" / "representations" / "rep1" / "documentation" / "notat.txt").read_text() == "om"
    assert held(tmp_path / "aip") == {"a.txt": b"a"}
    assert validate(tmp_path / "aip").valid
    convert(laid(tmp_path / "annen", {"b.txt": b"b"}), tmp_path / "dias", ConvertOptions("dias-aip"))
    convert(tmp_path / "dias", tmp_path / "dip", ConvertOptions("eark-dip"))
    assert {path.name for path in (tmp_path / "dip" / "metadata" / "descriptive").iterdir()} >= {"ead.xml"}
    assert validate(tmp_path / "dip").valid
