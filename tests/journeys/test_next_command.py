"""Whatever noarkit advises is run here as it was printed, and must do what it said.

Journeys end in a state; each command that the terminal, --json, the lists and the pages advise there is taken from the
texts themselves, run through a shell's eyes, and must end as a journey says; with 0, where it says nothing. What is
written once for all must at least parse, and has no placeholder that a reader could copy.
"""

from __future__ import annotations

import ast
import csv
import html
import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from noarkit.cli.main import COMMANDS, find_command, main
from noarkit.loading.next_step import READERS_OWN, TAKES
from noarkit.loading.request import GLOBALS
from tests.package_code import MODULES, PACKAGE, nodes_of

Output = pytest.CaptureFixture[str]
BELOW_THE_OWNER = {
    *("forms/eark/source/source.py", "forms/recognition.py", "forms/sealed/read.py"),
    *("loading/part.py", "loading/request.py", "loading/state.py"),
}
"""They cannot ask it, and name the place at hand and nothing else."""
HOW_IT_IS_CALLED = {
    *("cli/connect.py", "cli/runs.py"),
    *("extraction/selection.py", "services/commands.py", "services/connections.py"),
}
"""What a usage fault says of a command that was called wrongly."""
WORDS = sorted(Path(__file__).parents[2].glob("noarkit/words/*.toml"))
CHAPTERS = sorted(Path(__file__).parents[2].glob("noarkit/manual/*/*.md"))
_LINE = re.compile(r"\bnoarkit [a-z]")
_PLACEHOLDER = re.compile(
    r"(?:RUN2?|SOURCE|KILDE|FILE?|KEY|NAME|NAVN|TOOL|VERKTØY|JSON|DIR|PKG|COPIES|FINDING|FUNN|K/N|…)(?:\.pub)?"
)
A_READERS = {"--by": "Kari Nordmann"}
Promise = Mapping[str, Sequence[int]]
"""How commands end that do not end with 0, by their names."""


def commands_in(text: str) -> Iterator[list[str]]:
    """Each command that a text advises: to the end of its line, to what it is for, or to the end of its sentence."""
    for line in text.splitlines():
        for match in _LINE.finditer(line):
            is_aside = match.start() > 0 and line[match.start() - 1] == "("
            end = r"\)" if is_aside else r"     |  and then: |, or |\. |: |; | \(|</"
            words = shlex.split(re.split(end, line[match.start() :], maxsplit=1)[0].rstrip(".,;)»?"))
            if words[1] in COMMANDS and not is_name_alone(words):
                yield words


def is_name_alone(words: Sequence[str]) -> bool:
    """True for a command that is mentioned by its name, and takes arguments."""
    return len(words) == 2 and any(parameter.required for parameter in find_command(words[1]).params)


class Journey:
    """A person who does what they are told."""

    def __init__(self, capsys: Output) -> None:
        self._capsys = capsys
        self.said = ""
        self.followed: set[str] = set()

    def run(self, *words: str, exit_code: int | None = None) -> int:
        """Runs a command; what it said is in `said`."""
        code = main([*words, "--progress", "none"], {})
        streams = self._capsys.readouterr()
        self.said = streams.out + streams.err
        assert exit_code is None or code == exit_code, (words, self.said)
        return code

    def collect(self, *commands: Sequence[str], exit_code: int) -> None:
        """Runs several commands, each of which ends with this code; `said` is what all of them said."""
        texts = []
        for words in commands:
            self.run(*words, exit_code=exit_code)
            texts.append(self.said)
        self.said = "".join(texts)

    def advised(self, *, is_look: bool = False) -> list[list[str]]:
        """The commands that were advised just now: by what was said, and by the lists and pages of all runs here; by a
        look, which writes none of these, what it said and its own page."""
        texts = [text for line in self.said.splitlines() for text in texts_of_line(line)]
        written_then = () if is_look else (*Path().glob("*/plan.html"), *Path().glob("*/report.html"))
        for page in (*written_then, *Path().glob("*.html"), *Path().glob("reading/**/*.html")):
            bare = re.sub(r"</(?:p|td|li|code|dd|h\d)>", "\n", page.read_text("utf-8"))
            texts.append(html.unescape(re.sub(r"<[^>]+>", "", bare)))
        for list_ in () if is_look else Path().glob("*/set-aside.csv"):
            with list_.open(encoding="utf-8-sig", newline="") as file:
                texts += [row["do"] for row in csv.DictReader(file, dialect=csv.Sniffer().sniff(file.read(2000)))]
        found = {shlex.join(words): words for text in texts for words in commands_in(text)}
        return list(found.values())

    def follow_all(self, promise: Promise, *, is_look: bool = False) -> list[list[str]]:
        """Runs each command that is advised, as printed, with the reader's own words where it ends in wait for them: it
        must end as was promised."""
        # to accept is offered in place of mending, after which there is nothing left to accept
        lines = sorted(self.advised(is_look=is_look), key=lambda words: "--accept" not in words)
        for words in lines:
            if is_look and shlex.join(words) in self.followed:
                continue
            self.followed.add(shlex.join(words))
            assert [word for word in words if _PLACEHOLDER.fullmatch(word)] == [], words
            own = [A_READERS[words[-1]]] if words[-1] in READERS_OWN else []
            code = self.run(*words[1:], *own)
            assert code in promise.get(words[1], (0,)), (words, code, self.said)
        return lines


def texts_of_line(line: str) -> Iterator[str]:
    """A line of a terminal as it is; of --json, the texts of its values, deep down too."""
    yield from texts_in(json.loads(line)) if line.startswith("{") else (line,)


def loaded(journey: Journey) -> None:
    journey.run("ingest", "share", "-o", "run", "--archive", "embedded:a", exit_code=0)


def planned(journey: Journey) -> None:
    journey.run("plan", "share", "-o", "run", "--recipe", "ours.toml", "--archive", "embedded:a", "--hash", exit_code=0)


def scanned(journey: Journey) -> None:
    journey.run("scan", "share", "--source-kind", "files", exit_code=0)


def set_aside_by_the_plan(journey: Journey) -> None:
    import os

    os.mkfifo("share/pipe")
    words = ("--recipe", "ours.toml", "--source-kind", "files", "--accept-loss", "gradering")
    journey.run("ingest", "share", "-o", "run", "--archive", "embedded:a", *words, exit_code=3)
    Path("share/pipe").unlink()  # corrected, as the list asks
    (again,) = [words for words in journey.advised() if words[1] == "plan"][:1]
    assert {"--recipe", "--source-kind", "--accept-loss", "--archive"} <= set(again), again
    assert not [words for words in journey.advised() if words[1] == "retry"], "a retry cannot help"


def refused_by_the_check(journey: Journey) -> None:
    check = Path("check")
    check.write_text("#!/bin/sh\nexit 1\n")
    check.chmod(0o700)
    journey.run("plan", "share", "-o", "run", "--archive", "embedded:a", exit_code=0)
    journey.run("ingest", "run", "--check-command", "./check", "--max-rate", "500/s", exit_code=3)
    retries = [shlex.join(words) for words in journey.advised() if words[1] == "retry"]
    assert retries
    assert all("--check-command ./check" in words and "--max-rate 500/s" in words for words in retries)
    check.write_text("#!/bin/sh\ncat > read\n")  # the items are clean now


def changed_since_the_plan(journey: Journey) -> None:
    planned(journey)
    Path("share/a.txt").write_text("another text, and a longer one")
    journey.run("ingest", "run", exit_code=3)
    assert not [words for words in journey.advised() if words[1] == "retry"], "only a new plan helps"


def stopped_by_a_limit(journey: Journey) -> None:
    journey.run("plan", "share", "-o", "run", "--archive", "embedded:a", exit_code=0)
    journey.run("ingest", "run", "--until", "2020-01-01T00:00", "--check-command", "true", exit_code=11)
    (again,) = [words for words in journey.advised() if words[1] == "ingest" and "--check-command" in words]
    assert "--until" not in again, "that moment is past"


def retracted(journey: Journey) -> None:
    loaded(journey)
    journey.run("retract", "run", "--delete", "--closed", exit_code=0)


def unapproved(journey: Journey) -> None:
    planned(journey)
    journey.run("ingest", "run", "--approved-only", exit_code=4)
    assert [words[-1] for words in journey.advised() if words[1] == "approve"] == ["--by"]
    loads = [words for words in journey.advised(is_look=True) if words[1] == "ingest"]
    assert loads and all("--approved-only" in words for words in loads)


def spine_loaded(journey: Journey) -> None:
    planned(journey)
    journey.run("ingest", "run", "--shard", "spine", exit_code=0)


def rehearsed(journey: Journey) -> None:
    planned(journey)
    journey.run("ingest", "run", "--dry-run", exit_code=0)


def received(journey: Journey) -> None:
    journey.run("key", "new", "-o", "sender.key", exit_code=0)
    journey.run("plan", "share", "-o", "out", "--pack", "case.zip", "--seal-key", "sender.key", exit_code=0)
    journey.run(
        "ingest", "case.zip", "-o", "run", "--trust-key", "sender.key.pub", "--archive", "embedded:a", exit_code=0
    )


def differing(journey: Journey) -> None:
    loaded(journey)
    (document,) = [path for path in Path("a").rglob("*") if path.is_file() and path.read_bytes() == b"text of a"]
    document.chmod(0o600)
    document.write_bytes(b"TEXT of a")
    journey.run("verify", "run", "--depth", "bytes", exit_code=7)
    journey.run("status", "run", exit_code=7)


def mended(journey: Journey) -> None:
    differing(journey)
    (mend,) = [words for words in journey.advised(is_look=True) if words[1] == "retry"]
    journey.run(*mend[1:], exit_code=0)
    journey.run("verify", "run", "--depth", "bytes", exit_code=0)


def left_open(journey: Journey) -> None:
    text = Path("ours.toml").read_text()
    Path("open.toml").write_text(text.replace("close = true", "close = false"))
    journey.run("ingest", "share", "-o", "run", "--recipe", "open.toml", "--archive", "embedded:a", exit_code=0)
    journey.run("extract", "-o", "refused", "--archive", "embedded:a", exit_code=4)
    assert "noarkit close" in journey.said
    journey.collect(
        ("extract", "-o", "open", "--archive", "embedded:a", "--include-open"),
        exit_code=3,
    )
    extracted = journey.said
    journey.run("validate", "open", exit_code=4)
    journey.said += extracted


def closed(journey: Journey) -> None:
    left_open(journey)
    journey.run("close", "run", exit_code=0)
    journey.run("verify", "run", "--depth", "bytes", exit_code=0)
    assert journey.advised(is_look=True) == [], "this part is finished"
    journey.run("extract", "-o", "whole", "--archive", "embedded:a", exit_code=3)
    assert "not closed" not in journey.said


def read_in_the_room(journey: Journey) -> None:
    loaded(journey)
    journey.run("browse", "run", "--static", "reading", exit_code=0)


def package_read_in_the_room(journey: Journey) -> None:
    journey.run("convert", "share", "--as", "bagit", "-o", "bag", exit_code=0)
    journey.run("browse", "bag", "--static", "reading", exit_code=0)
    assert [words for words in journey.advised() if words[1] == "validate"]


def asked_wrongly_in_json(journey: Journey) -> None:
    loaded(journey)
    journey.collect(
        ("plan", "share", "--json"),
        ("plan", "a", "-o", "of-archive", "--json"),
        ("validate", "a", "--json"),
        ("ingest", "share", "-o", "run", "--encoding", "cp865", "--json"),
        exit_code=2,
    )
    assert {words[1] for words in journey.advised(is_look=True)} == {"plan", "extract", "serve", "ingest"}


def called_wrongly(journey: Journey) -> None:
    loaded(journey)
    journey.collect(
        ("plan", "share", "-o", "again", "--archive", "embedded:a", "--as-new", "--hsh", "--json"),
        ("verify", "run", "--depth", "byte", "--json"),
        ("approve", "run", "--note", "case 7", "--json"),
        ("key", "new", "--json"),
        exit_code=2,
    )
    events = map(json.loads, journey.said.splitlines())
    journey.said = "\n".join(event["do"] for event in events if event["event"] == "fault")
    assert [words[1] for words in journey.advised(is_look=True)] == ["plan", "verify", "approve", "key"]


def loaded_from_another_path(journey: Journey) -> None:
    loaded(journey)
    Path("share").rename("moved")
    journey.run("plan", "moved", "-o", "again", "--archive", "embedded:a", "--json", exit_code=2)
    advised = journey.advised(is_look=True)
    (same,), (new,) = ([words for words in advised if option in words] for option in ("--same-as", "--as-new"))
    new[new.index("again")] = "new"  # one of the two is done, and here both are tried
    journey.run(*new[1:], exit_code=0)
    journey.said = shlex.join(same)


LEFT_OUT: Promise = {"verify": (3,), "status": (3,)}  # what was left out is said of every proof
ACCEPTED: Promise = {"verify": (3,)}
SOURCE_MOVED: Promise = {"verify": (0, 3)}  # of the first run and of the second, whose source is there
NOT_READY: Promise = {"extract": (3,), "validate": (4,)}
JOURNEYS: Sequence[tuple[Callable[[Journey], None], Promise]] = (
    *((scanned, {}), (planned, {}), (loaded, {}), (set_aside_by_the_plan, LEFT_OUT), (refused_by_the_check, {})),
    *((changed_since_the_plan, LEFT_OUT), (stopped_by_a_limit, {}), (retracted, {}), (unapproved, {})),
    *((spine_loaded, {}), (rehearsed, {}), (received, {}), (differing, ACCEPTED), (mended, {})),
    *((left_open, NOT_READY), (closed, NOT_READY), (read_in_the_room, {}), (package_read_in_the_room, {})),
    *((called_wrongly, {}), (asked_wrongly_in_json, NOT_READY), (loaded_from_another_path, SOURCE_MOVED)),
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "share").mkdir()
    for name in ("a", "b"):
        (tmp_path / "share" / f"{name}.txt").write_text(f"text of {name}")
    assert main(["recipe", "new", "share", "-o", "ours.toml"], {}) == 0
    capsys.readouterr()


@pytest.mark.usefixtures("one_archive")
@pytest.mark.parametrize(("make", "promise"), JOURNEYS, ids=[make.__name__ for make, _ in JOURNEYS])
def test_each_command_that_is_advised_does_what_it_says(
    make: Callable[[Journey], None], promise: Promise, capsys: Output
) -> None:
    journey = Journey(capsys)
    make(journey)
    journey.follow_all(promise)
    assert journey.followed or make is closed
    if Path("run/plan.json").exists():
        for look in (("status", "run"), ("runs", "--html", "runs.html"), ("status", "run", "--json")):
            assert journey.run(*look) in promise.get(look[0], (0,)), journey.said
            journey.follow_all(promise, is_look=True)


def test_another_call_with_other_options_names_the_difference(capsys: Output) -> None:
    journey = Journey(capsys)
    journey.run("plan", "share", "-o", "run", "--recipe", "ours.toml", "--archive", "embedded:a", exit_code=0)
    Path("other.toml").write_text(Path("ours.toml").read_text() + "\n# other\n")
    for options in (("--recipe", "other.toml"), ("--encoding", "cp865"), ("--accept-loss", "gradering")):
        journey.run("ingest", "share", "-o", "run", *options, exit_code=2)
        assert all(word in journey.said for word in options) and not Path("run/run.db").exists()
    Path("same.toml").write_text(Path("ours.toml").read_text())
    journey.run("ingest", "share", "-o", "run", "--recipe", "same.toml", exit_code=0)


def test_what_a_later_command_repeats_are_options_that_it_has() -> None:
    for verb, names in TAKES.items():
        options = {name for parameter in find_command(verb).params for name in parameter.opts}
        assert {f"--{name}" for name in (*names, *GLOBALS)} <= options, verb


def texts_in(value: object) -> Iterator[str]:
    """Every text of a value of TOML or JSON, deep down too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_in(item)


@pytest.mark.parametrize("path", WORDS, ids=lambda path: path.name)
def test_no_command_that_is_offered_has_a_placeholder(path: Path) -> None:
    """The help of a command and its options speak of any run; the console puts names in place of those of a remedy."""
    words_by_section = tomllib.loads(path.read_text("utf-8"))
    for section in words_by_section.keys() - {"commands", "options"}:
        named_at_hand = {"RUN", "RUN2", "SOURCE"} if section == "faults" else set()
        for words in (words for text in texts_in(words_by_section[section]) for words in commands_in(text)):
            bare = {word.strip("().,") for word in words} - named_at_hand
            assert [word for word in bare if _PLACEHOLDER.fullmatch(word)] == [], (section, words)
        spoken = " ".join(texts_in(words_by_section[section]))
        assert re.findall(r"--by (?:NAME|NAVN)\b", spoken) == [], section


def test_nobody_else_puts_a_command_together() -> None:
    """Who prints a command asks `loading.next_step` for it; the list may only shrink."""
    elsewhere = set()
    for path in MODULES:
        if re.search(r"""["']noarkit(?: [a-z]|["'],)""", path.read_text("utf-8")) is None:
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.JoinedStr):
                texts = [first.value for first in node.values[:1] if isinstance(first, ast.Constant)]
                is_command = any(re.match(r"noarkit [a-z][a-z-]* ", str(text)) for text in texts)
            else:
                words = node.elts[:2] if isinstance(node, ast.Tuple | ast.List) else []
                names = [word.value if isinstance(word, ast.Constant) else None for word in words]
                is_command = len(names) == 2 and names[0] == "noarkit" and names[1] in COMMANDS
            if is_command:
                elsewhere.add(path.relative_to(PACKAGE).as_posix())
    assert elsewhere == BELOW_THE_OWNER | HOW_IT_IS_CALLED


@pytest.mark.parametrize("path", (*WORDS, *CHAPTERS), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_every_command_that_is_written_has_the_options_that_it_is_given(path: Path) -> None:
    text = path.read_text("utf-8")
    texts = texts_in(tomllib.loads(text)) if path.suffix == ".toml" else [text]
    wrong = []
    for text in texts:
        for line in text.splitlines():
            for match in re.finditer(r"\bnoarkit ([a-z-]+)((?: [^\s.,;()`»]\S*)*)", line):
                verb, options = match[1], []
                for word in match[2].partition("  ")[0].split():
                    options += re.findall(r"^--[a-z][a-z-]*[a-z]", word)
                    if word[-1] in ".,;:)`»":
                        break
                if verb in COMMANDS:
                    known = {"--help", *(name for parameter in find_command(verb).params for name in parameter.opts)}
                    wrong += [f"noarkit {verb} {name}" for name in options if name not in known]
    assert wrong == []
