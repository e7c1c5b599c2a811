"""A batch shares one start of LibreOffice, and not the fate of its worst: a stand-in hangs, crashes, lies."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from noarkit.copies.converters.limits import limits_for
from noarkit.copies.converters.office import MOST_IN_BATCH, Office
from noarkit.copies.converters.office_fates import fates_of
from noarkit.copies.port import Failure, Finding, Outcome, Product
from noarkit.copies.reasons import Reason
from noarkit.safe.sandbox import Limits, Sandbox
from tests.copies.converters.tasks import make_task, needs_bubblewrap, outcomes_of
from tests.processes import running_with
from tests.waiting import PATIENCE_S, came

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found by /proc")

PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
)
# what each document does to it stands in the document
FAKE = """#!/bin/sh
here=$(dirname "$0")
while [ $# -gt 0 ]; do
  case "$1" in
    --version) echo "LibreOffice 9.8.7.6 of cardboard"; exit 0 ;;
    --terminate_after_init) exit 0 ;;
    --outdir) out=$2; shift ;;
    --convert-to) shift ;;
    -*) ;;
    *) documents="$documents $1" ;;
  esac
  shift
done
for document in $documents; do
  name=$(basename "$document"); result=$out/${name%.*}.pdf
  say() { echo "convert $document -> $result using filter : writer_pdf_Export"; }
  case "$(head -n 1 "$document")" in
    bad*) echo "Error: source file could not be loaded" >&2; continue ;;
    silent*) continue ;;
    lost*) say; continue ;;
    hang*) while :; do :; done ;;
    late*) say; sleep 100 ;;
    crash*) kill -SEGV $$ ;;
    leave*) say; cp "$here/good.pdf" "$result"; exit 0 ;;
    partial*) say; head -c 60 "$here/good.pdf" >"$result"; kill -SEGV $$ ;;
    fill*) say; head -c 50000000 /dev/zero >"$result"; continue ;;
    fork*) say; setsid sleep SIGN & ;;
    *) say ;;
  esac
  cp "$here/good.pdf" "$result"
done
"""
SIGN = f"4712.{os.getpid()}"  # by it a process is known, of this run of the tests alone
Convert = Callable[..., dict[str, Outcome]]


@pytest.fixture(params=[pytest.param("bwrap", marks=needs_bubblewrap), pytest.param("", id="without-walls")])
def office(request: pytest.FixtureRequest) -> Iterator[Office]:
    """A converter over the stand-in, in either kind of sandbox."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # without walls, nobody must reach it
        place = Path(folder) / "bin"
        place.mkdir()
        (place / "good.pdf").write_bytes(PDF)
        (place / "soffice").write_text(FAKE.replace("SIGN", SIGN))
        (place / "soffice").chmod(0o755)
        yield Office(Sandbox(request.param), str(place / "soffice"))


@pytest.fixture
def convert(office: Office, tmp_path: Path) -> Convert:
    """Converts documents of given contents, in the order in which they are named."""

    def convert(*contents: str, cpu_s: float = 0.3, wall_s: float = PATIENCE_S) -> dict[str, Outcome]:
        tasks = []
        for number, content in enumerate(contents):
            source = tmp_path / f"{content}-{number}.rtf"
            source.write_text(f"{content}\n" + "x" * number * 10)
            limits = Limits(cpu_s, wall_s, output_bytes=2 * 1024**2)
            tasks.append(make_task(source, "fmt/45", limits=limits))
        answers = outcomes_of(office, tasks)
        return {name.split("-")[0]: outcome for name, outcome in answers.items()}

    return convert


def reasons(outcomes: dict[str, Outcome]) -> dict[str, Reason | None]:
    """Why there is no file; None where there is one."""
    for outcome in outcomes.values():
        if isinstance(outcome, Product):
            assert outcome.path.read_bytes().startswith(b"%PDF-")
            assert [path.name for path in outcome.path.parent.iterdir()] == [outcome.path.name]
    return {name: outcome.reason if isinstance(outcome, Failure) else None for name, outcome in outcomes.items()}


def test_what_cannot_be_loaded_is_damaged_and_the_others_are_made(convert: Convert) -> None:
    assert reasons(convert("a", "bad", "b", "lost")) == {
        "a": None,
        "bad": Reason.DAMAGED,
        "b": None,
        "lost": Reason.NO_RESULT,
    }


def test_exit_code_0_without_a_file_is_no_result(convert: Convert) -> None:
    assert reasons(convert("silent", "a")) == {"silent": Reason.NO_RESULT, "a": None}


def test_it_leaves_in_the_middle_and_the_others_are_made(convert: Convert) -> None:
    assert reasons(convert("leave", "bad", "a")) == {"leave": None, "bad": Reason.DAMAGED, "a": None}


def test_one_that_hangs_is_tried_alone_and_the_others_are_made(convert: Convert) -> None:
    outcomes = convert("a", "bad", "hang", "b", "c")
    expected = {"a": None, "bad": Reason.DAMAGED, "hang": Reason.TIMED_OUT, "b": None, "c": None}
    assert reasons(outcomes) == expected
    failure = outcomes["hang"]
    assert isinstance(failure, Failure) and failure.data == {"limit_s": 0.6, "alone": True}


def test_one_that_crashes_or_leaves_half_a_file_takes_nobody_with_it(convert: Convert) -> None:
    assert reasons(convert("a", "crash", "b", "partial", "c")) == {
        "a": None,
        "crash": Reason.CRASHED,
        "b": None,
        "partial": Reason.CRASHED,
        "c": None,
    }


def test_one_that_fills_the_disk_is_too_large(convert: Convert) -> None:
    assert reasons(convert("fill", "a", cpu_s=5)) == {"fill": Reason.TOO_LARGE, "a": None}


def test_a_child_of_libreoffice_does_not_outlive_it(convert: Convert) -> None:
    assert reasons(convert("fork", "a")) == {"fork": None, "a": None}
    assert came(lambda: not running_with(SIGN))


def test_time_that_passes_without_work_ends_it_as_well(convert: Convert) -> None:
    assert reasons(convert("late", wall_s=0.7)) == {"late": Reason.TIMED_OUT}


def test_more_than_a_batch_are_all_converted(convert: Convert) -> None:
    names = [f"n{number}" for number in range(MOST_IN_BATCH + 2)]
    assert reasons(convert(*names, cpu_s=5)) == dict.fromkeys(names)


def test_what_was_used_is_measured(convert: Convert) -> None:
    (product,) = convert("a", cpu_s=5).values()
    assert isinstance(product, Product)
    assert (product.tool, product.version) == ("LibreOffice", "9.8.7.6")
    assert 0 < product.cpu_s < 5 and product.wall_s > 0 and product.peak_bytes > 100_000


def test_an_empty_document_is_damaged_and_no_empty_page(office: Office, tmp_path: Path) -> None:
    source = tmp_path / "empty.docx"
    source.touch()
    (outcome,) = outcomes_of(office, [make_task(source, "fmt/412")]).values()
    assert outcome == Failure(Reason.DAMAGED)


def test_a_format_it_does_not_read_is_refused_before_anything_starts(office: Office, tmp_path: Path) -> None:
    source = tmp_path / "photo.jpg"
    source.write_text("a")
    tasks = [make_task(source, "fmt/43"), make_task(source, "fmt/45", target="ods")]
    assert {outcome for outcome in map(_reason_of, outcomes_of(office, tasks).values())} == {Reason.UNKNOWN_FORMAT}
    assert office.batch_size(tasks[0]) == 1


def _reason_of(outcome: Outcome) -> Reason | None:
    return outcome.reason if isinstance(outcome, Failure) else None


def test_without_walls_documents_that_look_outside_are_refused(tmp_path: Path) -> None:
    fake = tmp_path / "soffice"
    fake.write_text(FAKE.replace("SIGN", SIGN))
    fake.chmod(0o755)
    source = tmp_path / "a.rtf"
    source.write_text("a")
    task = make_task(source, "fmt/45", findings=[Finding("external-content")])
    ((_, outcome),) = Office(Sandbox(""), str(fake)).convert([task])
    assert outcome == Failure(Reason.EXTERNAL_CONTENT, {"isolated": False})


def test_where_there_is_no_libreoffice_there_is_a_reason(tmp_path: Path) -> None:
    office = Office(program=str(tmp_path / "soffice"))
    assert office.version() is None
    source = tmp_path / "a.rtf"
    source.write_text("a")
    ((_, outcome),) = office.convert([make_task(source, "fmt/45")])
    assert _reason_of(outcome) is Reason.TOOL_MISSING


@pytest.mark.parametrize(
    ("loaded", "made", "refusals", "ended", "fates"),
    [
        ("ab", "ab", 0, True, "made made waiting waiting"),
        ("ab", "ab", 2, True, "made made damaged damaged"),
        ("", "", 0, True, "no-result no-result no-result no-result"),
        ("abcd", "ad", 0, True, "made no-result no-result made"),
        ("ad", "ad", 2, True, "made damaged damaged made"),
        ("", "", 0, False, "broke waiting waiting waiting"),
        ("ab", "a", 0, False, "made broke waiting waiting"),
        ("ac", "ac", 1, False, "made damaged made broke"),
        ("a", "a", 1, False, "made damaged broke waiting"),
        ("abcd", "abcd", 0, False, "made made made made"),
        ("abd", "abd", 1, False, "made made damaged made"),
        ("a", "", 3, False, "broke waiting waiting waiting"),
        ("", "", 4, False, "damaged damaged damaged damaged"),
    ],
)
def test_fates_are_told_by_order_and_by_what_is_visible(
    loaded: str, made: str, refusals: int, ended: bool, fates: str
) -> None:
    answer = fates_of("abcd", loaded=set(loaded), finished=set(made), refusals=refusals, ended=ended)
    assert " ".join(answer) == fates


def test_limits_grow_with_size_and_pages_to_a_quarter_of_an_hour() -> None:
    assert limits_for(0).cpu_s == 30
    assert limits_for(5_000_000, pages=100).cpu_s == pytest.approx(45)
    assert limits_for(10**10).cpu_s == 900
    assert limits_for(0).wall_s == 120
