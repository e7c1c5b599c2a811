"""Each long command knows from the start how much there is to do where that can be known, and never passes it."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from noarkit.cli.console import Console
from noarkit.cli.main import main
from noarkit.cli.progress import Progress
from noarkit.events import Event
from noarkit.operations.tally import Tally, step_text, take_event
from noarkit.words.texts import texts

pytestmark = pytest.mark.usefixtures("one_archive")


@dataclass
class Heard:
    """The steps of a command, by name and number: of each what was done and of how many, event by event."""

    steps: dict[tuple[str, int], list[tuple[int, int | None]]] = field(default_factory=dict)

    def hear(self, lines: Sequence[str]) -> None:
        tally = Tally()
        for line in lines:
            data = json.loads(line)
            if take_event(tally, Event(data.pop("event"), data), 0.0) and tally.step:
                self.steps.setdefault((tally.step, tally.steps_begun), []).append((tally.done_count, tally.total))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with documents, loaded, closed, delivered."""
    root = tmp_path_factory.mktemp("totals")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        for number in range(30):
            path = Path("share") / f"2015-{number // 10 + 20:04} Sak" / f"{number} 2015-03-{number % 28 + 1:02}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"Brev nummer {number}")
        yield root


# each goes on with what those before it made
COMMANDS = (
    ("plan share -o run", ()),
    ("derive share -o copies", ("converting",)),
    ("ingest run", ("loading", "closing")),
    ("verify run --depth bytes", ("walking", "comparing")),
    ("extract -o package", ("downloading", "validating")),
    ("validate package", ("validating",)),
    ("extract --as dias-aip -o dias", ("downloading", "packing")),
    ("validate dias", ("validating",)),
    ("convert package --as eark-sip -o eark", ("packing",)),
    ("convert share --as bagit -o bag.zip", ("packing",)),
    ("convert eark --as bagit -o bag.tar", ("packing",)),
    ("convert eark --as dias-sip -o sip", ("packing",)),
    ("convert dias --as eark-aip -o eark.zip", ("packing",)),
    ("convert eark --as noark5 -o again", ("packing",)),
)


@pytest.fixture(scope="module")
def steps_by_command(place: Path) -> dict[str, Heard]:
    """The steps of each command."""
    heard: dict[str, Heard] = {}
    for words, _ in COMMANDS:
        out = io.StringIO()
        with redirect_stdout(out):
            assert main([*words.split(), "--json"], {}) in (0, 3), (words, out.getvalue())
        heard[words] = Heard()
        heard[words].hear(out.getvalue().splitlines())
    return heard


@pytest.mark.parametrize(("words", "steps"), COMMANDS[1:])
def test_a_total_is_known_from_the_start_and_never_passed(
    steps_by_command: dict[str, Heard], words: str, steps: tuple[str, ...]
) -> None:
    heard = steps_by_command[words].steps
    assert {*steps} <= {step for step, _ in heard}
    for counts in (counts for (step, _), counts in heard.items() if step in steps):
        assert counts[0] == (0, counts[-1][1]), "nothing is done, and how much there is to do is known"
        assert counts[-1][0] == counts[-1][1] != 0, "all is done at last"
        assert all(total is not None and done <= total for done, total in counts)


def test_links_and_what_is_tried_in_two_ways_are_in_no_total(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    share = tmp_path / "share"
    share.mkdir()
    for number in range(9):
        (share / f"{number}.txt").write_text(f"Brev nummer {number}")
        (share / f"link{number}").symlink_to(f"{number}.txt")
    (share / "latin.txt").write_bytes(
        "Vårt brev på æøå".encode("latin-1")
    )  # cannot be kept as it is, and is made UTF-8
    assert main(["derive", "share", "-o", "copies", "--json"], {}) == 0
    heard = Heard()
    heard.hear(capsys.readouterr().out.splitlines())
    (counts,) = (counts for (step, _), counts in heard.steps.items() if step == "converting")
    assert counts[0] == (0, 10) and counts[-1] == (10, 10)
    assert {total for _, total in counts} == {10} and counts == sorted(counts)


def test_a_step_that_is_counted_in_bytes_is_shown_as_that() -> None:
    tally = Tally()
    take_event(tally, Event("validating", {"file": "a.xml", "bytes": 0, "of": 4_000_000}), 0.0)
    take_event(tally, Event("validating", {"file": "a.xml", "bytes": 1_500_000, "of": 4_000_000}), 2.0)
    assert step_text(tally, texts("en")) == "checked 1.5 MB of 4.0 MB"


def test_the_pace_of_bytes_is_in_bytes() -> None:
    clock = iter((0.0, *(0.0,) * 3, *(2.0,) * 9))
    progress = Progress(Console(texts("en")), "none", clock=lambda: next(clock))
    for done in (0, 1_500_000):
        progress.on_event(Event("validating", {"file": "a.xml", "bytes": done, "of": 4_000_000}))
    assert progress.line().endswith("checked 1.5 MB of 4.0 MB  750.0 kB/s")
