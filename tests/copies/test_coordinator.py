"""Every document has one outcome that is right, whatever its converter does, and nothing is made twice."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from noarkit.copies import coordinator
from noarkit.copies.coordinator import Derivation, DerivingOptions, DerivingTools
from noarkit.copies.numbers import format_rows, state_counts
from noarkit.copies.port import Response, Rule
from noarkit.copies.reading import ReadingOptions
from noarkit.copies.store import CopyStore
from noarkit.forms.finders import open_source
from noarkit.safe.sandbox import Limits
from tests.copies.fake import RULE, FakePolicy, left_behind, toolbox
from tests.waiting import came


class Bench:
    """A folder of documents, the store of their copies, and what the converter was asked to do."""

    def __init__(self, place: Path) -> None:
        self.source, self.copies, self.log = place / "source", place / "copies", place / "log"
        self.source.mkdir()
        self.policy, self.version, self.options = FakePolicy(), "1", DerivingOptions(workers=1)
        self.spare = ""

    def write(self, **documents: str) -> None:
        for name, text in documents.items():
            (self.source / name.replace("_", ".")).write_text(text)

    def derive(self) -> Derivation:
        tools = DerivingTools(self.policy, partial(toolbox, self.log, self.version, self.spare), lambda event: None)
        with CopyStore.open(self.copies, create=True) as store:
            derivation = coordinator.derive(open_source(str(self.source)), store, tools, self.options)
            counts = state_counts(format_rows(store, derivation.walk))
        assert sum(counts.values()) == derivation.totals.documents
        return derivation

    def states(self) -> dict[str, tuple[str, str | None]]:
        """State and reason of each document, as any SQLite tool reads them."""
        with closing(sqlite3.connect(self.copies / "derive.db")) as db, db:
            rows = db.execute("SELECT d.name, c.state, c.reason FROM document d LEFT JOIN copy c ON c.n = d.copy")
            return {name: (state, reason) for name, state, reason in rows}

    def data(self) -> dict[str, object]:
        """What is known of the only document's copy."""
        with closing(sqlite3.connect(self.copies / "derive.db")) as db, db:
            ((data,),) = db.execute("SELECT c.data FROM document d JOIN copy c ON c.n = d.copy")
            return dict(json.loads(data))

    def objects(self) -> Counter[bytes]:
        return Counter(path.read_bytes() for path in (self.copies / "objects").rglob("*") if path.is_file())

    def runs(self) -> Counter[str]:
        return Counter(self.log.read_text().splitlines() if self.log.exists() else [])


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinator, "limits_for", lambda size, *, again: Limits(1, 1.5, output_bytes=1024**2))


def test_a_copy_lies_under_the_hash_of_its_bytes_and_the_original_is_as_it_was(bench: Bench) -> None:
    bench.write(a_1="good\nHei")
    before = (bench.source / "a.1").stat()
    bench.derive()
    name = hashlib.sha256(b"good\nHei").hexdigest()
    assert (bench.copies / "objects" / name[:2] / name).read_bytes() == b"good\nHei"
    assert bench.states() == {"a.1": ("made", None)}
    after = (bench.source / "a.1").stat()
    assert (before.st_mtime_ns, before.st_ino, before.st_mode) == (after.st_mtime_ns, after.st_ino, after.st_mode)


def test_a_document_that_its_converter_tried_alone_has_no_further_turn(bench: Bench) -> None:
    bench.write(a_1="good", b_1="hung-alone", c_1="good\nc")
    bench.derive()
    assert bench.states()["b.1"] == ("failed", "timed-out")
    assert bench.runs()["hung-alone b.1"] == 1
    assert bench.states()["c.1"] == ("made", None)


def test_the_same_again_converts_nothing(bench: Bench) -> None:
    bench.write(a_1="good", b_1="never-valid", c_1="good", d_5="left", e_6="hand", f_x="unknown", g_2="kept")
    assert bench.derive().converted > 0
    runs = bench.runs()
    again = bench.derive()
    assert (again.converted, bench.runs()) == (0, runs)
    assert runs["good a.1"] + runs["good c.1"] == 1  # the same bytes, made once
    assert bench.states()["c.1"] == bench.states()["a.1"] == ("made", None)
    assert [bench.states()[name] for name in ("d.5", "e.6", "f.x", "g.2")] == [
        ("left", None),
        ("failed", "manual"),
        ("failed", "unknown-format"),
        ("kept", None),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no-file", "no-result"),
        ("empty", "no-result"),
        ("partial of all this", "not-valid"),
        ("wrong-format", "not-valid"),
        ("crash", "crashed"),
        ("raise", "crashed"),
        ("fail", "no-result"),
        ("link", "no-result"),
        ("fifo", "no-result"),
        ("good\nnever-valid", "not-valid"),
        ("good\ngate-raises", "crashed"),
        ("good\nno-gate", "tool-missing"),
        ("good\npassword", "password"),
        ("kill-worker", "crashed"),
        ("good\ninspection-kills", "crashed"),
    ],
)
def test_what_is_no_copy_costs_its_own_document_only(bench: Bench, text: str, reason: str) -> None:
    bench.write(a_1="good\na", b_1=text, c_1="good\nc", d_1="good\nd")
    bench.derive()
    assert bench.states() == {"b.1": ("failed", reason)} | {name: ("made", None) for name in ("a.1", "c.1", "d.1")}
    assert bench.objects() == Counter([b"good\na", b"good\nc", b"good\nd"])


@pytest.mark.usefixtures("short_limits")
@pytest.mark.parametrize(
    ("text", "reason"), [("hang", "timed-out"), ("hang-worker", "timed-out"), ("fill", "too-large")]
)
def test_what_takes_too_much_is_stopped(bench: Bench, text: str, reason: str) -> None:
    bench.options = replace(bench.options, grace_s=1.0)
    bench.write(a_1="good\na", b_1=text, c_1="good\nc")
    bench.derive()
    assert bench.states() == {"a.1": ("made", None), "b.1": ("failed", reason), "c.1": ("made", None)}


def test_a_process_that_a_tool_leaves_behind_changes_nothing_and_is_ended(bench: Bench) -> None:
    bench.write(a_1="fork\nand go on")
    bench.derive()
    # it may have been quick enough to spoil what was made, and never to spoil what was judged
    assert (bench.states()["a.1"][0], bench.objects()) in [
        ("made", Counter([b"fork\nand go on"])),
        ("failed", Counter()),
    ]
    assert came(lambda: not left_behind(str(bench.copies)))


def test_what_a_tool_leaves_behind_is_ended_before_the_next_batch(bench: Bench) -> None:
    bench.write(a_1="fork", b_1="good\nbb", c_1="good\nccc", d_1="good\ndddd", e_1="census\n" + 100 * "e")
    bench.derive()
    assert bench.states()["e.1"] == ("made", None)
    assert bench.runs()["left behind"] == 0


def test_the_next_converter_of_a_rule_comes_where_one_refuses_by_itself(bench: Bench) -> None:
    bench.write(a_4="good")
    bench.derive()
    assert bench.states() == {"a.4": ("made", None)}
    runs = bench.runs()
    assert sum(runs.values()) == 2
    bench.derive()
    assert bench.runs() == runs


def test_what_cannot_be_kept_goes_to_the_rule_for_such_documents(bench: Bench) -> None:
    bench.write(a_2="good\nnever-valid", b_2="good")
    bench.derive()
    assert bench.states() == {"a.2": ("failed", "not-valid"), "b.2": ("kept", None)}
    assert bench.runs() == Counter(["good a.2"])
    bench.derive()
    assert bench.runs() == Counter(["good a.2"])


def test_a_kept_document_has_the_copy_that_is_wanted_in_addition(bench: Bench) -> None:
    bench.write(a_3="good")
    bench.derive()
    with closing(sqlite3.connect(bench.copies / "derive.db")) as db, db:
        rows = db.execute("SELECT a.state FROM document d JOIN copy a ON a.n = d.also").fetchall()
    assert (bench.states(), rows) == ({"a.3": ("kept", None)}, [("made",)])


def test_a_finding_is_answered_as_the_rule_says_also_when_that_changes(bench: Bench) -> None:
    def answered(response: Response | None) -> tuple[str, str | None]:
        rule = replace(RULE, responses={"tracked-changes": response} if response else {})
        bench.policy = FakePolicy({"fmt/1": rule})
        bench.derive()
        return bench.states()["a.1"]

    bench.write(a_1="good\ntracked")
    assert answered("hold") == ("held", "held")
    assert answered(None) == ("made", None)
    assert answered("refuse") == ("failed", "content-refused")
    assert answered("note") == ("made", None)
    assert answered("hold") == ("held", "held")


def test_a_name_that_contradicts_the_bytes_is_not_converted(bench: Bench) -> None:
    bench.write(lie_1="good")
    bench.derive()
    assert (bench.states(), bench.runs()) == ({"lie.1": ("failed", "format-mismatch")}, Counter())


def test_a_missing_tool_is_said_and_its_documents_are_made_once_it_is_there(bench: Bench) -> None:
    bench.write(a_1="good")
    bench.version = ""
    bench.derive()
    assert bench.states() == {"a.1": ("failed", "tool-missing")}
    bench.version = "1"
    bench.derive()
    assert bench.states() == {"a.1": ("made", None)}


def test_what_helps_most_is_told_where_every_converter_has_failed(bench: Bench) -> None:
    bench.write(a_4="fonts")
    bench.derive()
    assert bench.states() == {"a.4": ("failed", "content-refused")}  # by the first; the last made half a file
    assert bench.data()["why"] == "font-without-program"


def test_a_tool_that_may_do_it_is_told_with_what_stands_in_the_way_and_makes_it_once_it_is_there(bench: Bench) -> None:
    bench.write(a_7="fonts")
    bench.derive()
    bench.derive()
    assert bench.states() == {"a.7": ("failed", "tool-missing")}
    assert bench.data()["tools"] == ["spare"] and bench.data()["why"] == "font-without-program"
    assert bench.runs() == Counter({"fonts a.7": 2})
    bench.spare = "1"
    bench.derive()
    assert bench.states() == {"a.7": ("made", None)}


def test_a_tool_that_is_there_since_and_cannot_do_it_either_is_missing_no_more(bench: Bench) -> None:
    bench.write(a_7="fonts\nnever-valid")
    bench.derive()
    bench.spare = "1"
    bench.derive()
    assert bench.states() == {"a.7": ("failed", "content-refused")}
    assert bench.data() == {"why": "font-without-program"}


def test_a_tool_that_is_too_old_is_said_and_a_newer_one_makes_the_copy(bench: Bench) -> None:
    bench.write(a_1="old")
    bench.derive()
    bench.derive()
    assert bench.states() == {"a.1": ("failed", "tool-too-old")}
    assert sum(bench.runs().values()) == 1
    bench.version = "2"
    bench.derive()
    assert bench.states() == {"a.1": ("made", None)}


def test_another_version_makes_new_copies_only_where_that_is_asked_for(bench: Bench) -> None:
    bench.write(a_1="good")
    bench.derive()
    bench.version = "2"
    bench.derive()
    assert sum(bench.runs().values()) == 1
    bench.options = replace(bench.options, reading=ReadingOptions(retry=frozenset({"outdated"})))
    bench.derive()
    assert sum(bench.runs().values()) == 2
    bench.derive()
    assert sum(bench.runs().values()) == 2
    with closing(sqlite3.connect(bench.copies / "derive.db")) as db, db:
        assert db.execute("SELECT version, state FROM copy ORDER BY n").fetchall() == [("1", "made"), ("2", "made")]


def test_a_reason_is_tried_again_where_it_is_named_and_no_other(bench: Bench) -> None:
    bench.write(a_1="crash", b_1="no-file")
    bench.derive()
    runs = bench.runs()
    bench.options = replace(bench.options, reading=ReadingOptions(retry=frozenset({"no-result"})))
    bench.derive()
    assert bench.runs() - runs == Counter(["no-file b.1"])


def test_only_documents_of_the_formats_named_are_converted(bench: Bench) -> None:
    bench.write(a_1="good", b_4="good\nb")
    bench.options = replace(bench.options, reading=ReadingOptions(only=frozenset({"fmt/1"})))
    bench.derive()
    assert bench.states() == {"a.1": ("made", None), "b.4": (None, None)}
    bench.options = DerivingOptions(workers=1)
    bench.derive()
    assert bench.states() == {"a.1": ("made", None), "b.4": ("made", None)}
    bench.options = replace(bench.options, reading=ReadingOptions(only=frozenset({"fmt/4"})))
    bench.derive()  # what has its copy already keeps it
    assert bench.states() == {"a.1": ("made", None), "b.4": ("made", None)}


def test_changed_bytes_are_another_document(bench: Bench) -> None:
    bench.write(a_1="good\nfirst")
    bench.derive()
    stat = (bench.source / "a.1").stat()
    bench.write(a_1="good\nother")
    os.utime(bench.source / "a.1", ns=(stat.st_atime_ns, stat.st_mtime_ns))  # same size and time
    bench.derive()
    assert bench.objects() == Counter([b"good\nfirst", b"good\nother"])


def test_rules_without_a_place_in_the_policy_are_told(bench: Bench) -> None:
    bench.policy = FakePolicy({"fmt/2": Rule("x", ("fmt/2",), "leave")})
    bench.write(a_1="good")
    bench.derive()
    assert bench.states() == {"a.1": ("failed", "no-rule")}
