"""The check that holds every line of --json to its declaration, and the names and fields that the code spells."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from noarkit.cli import contract
from noarkit.cli.console import Console
from noarkit.cli.contract import OPEN_EVENTS, events
from noarkit.events import Event
from noarkit.results import JsonKind
from noarkit.sources.scan import ScanResult
from noarkit.words.texts import texts
from tests.closed_events import WRITE_EVENT, flaws_of, held_lines, hold_output
from tests.package_code import PACKAGE, modules_with, nodes_of

# what logs get, and what is for people alone
_NO_LINES = {"end", "_begins", "_ends"}
_SCAN = {"event": "scan", **ScanResult("place", "files").to_dict()}


@pytest.mark.parametrize(
    ("line", "flaw"),
    [
        ({"event": "planted"}, "event 'planted' is not declared"),
        ({"event": "bytes", "bytes": 1, "extra": 2}, "event 'bytes' does not declare field 'extra'"),
        ({"event": "bytes"}, "event 'bytes' lacks field 'bytes'"),
        ({"event": "bytes", "bytes": -1}, "event 'bytes' declares field 'bytes' as count, not -1"),
        ({"event": "bytes", "bytes": True}, "event 'bytes' declares field 'bytes' as count, not True"),
        ({"event": "bytes", "bytes": None}, "event 'bytes' declares field 'bytes' as count, not None"),
        ({"event": "hints", "connection": "crm", "count": 1, "events": {"a": "b"}}, "as counts, not"),
        ({"event": "check", "check": "disk", "state": "fine"}, "event 'check' declares field 'state' as text"),
        ({"event": "shard_handed_on", "shard": 1, "code": "F1", "losses": 1, "exit": "9"}, "as integer?, not '9'"),
        (
            {**_SCAN, "formats": {"pdf": {"count": 1, "bytes": 2, "extra": 3}}},
            "event 'scan' in field 'formats' does not declare field 'extra'",
        ),
        ({**_SCAN, "formats": {"pdf": {"count": 1}}}, "event 'scan' in field 'formats' lacks field 'bytes'"),
        ({**_SCAN, "tables": [1]}, "event 'scan' declares field 'tables' as object, not 1"),
    ],
)
def test_a_line_that_is_not_as_declared_has_a_flaw(line: dict[str, object], flaw: str) -> None:
    (found,) = flaws_of(line)
    assert flaw in found


def test_a_line_as_declared_has_none() -> None:
    assert flaws_of(_SCAN) == []
    assert flaws_of({"event": "members_listed", "members": 1}) == []
    assert flaws_of({"event": "members_listed", "members": 1, "of": None}) == []
    assert flaws_of({"event": "shard_stopped", "shard": 1, "code": "F301", "where": "as its fault says"}) == []


def test_a_line_of_this_process_is_held_where_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    flaws: list[str] = []
    with held_lines(flaws):
        console = Console(texts("en"), as_json=True)
        console.on_event(Event("bytes", {"bytes": 1, "extra": 2}))
        console.result("planted", "a line for people", field=1)
    assert flaws == [
        "noarkit: event 'bytes' does not declare field 'extra'",
        "noarkit: event 'planted' is not declared",
    ]
    assert capsys.readouterr().out.count("\n") == 2


def test_a_test_that_wrote_such_a_line_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests import conftest

    assert Console.write_event is not WRITE_EVENT
    monkeypatch.setattr(conftest, "_WRITTEN_WRONG", ["noarkit scan: planted"])
    calling = conftest.pytest_runtest_call(SimpleNamespace(nodeid="the test"))  # type: ignore[arg-type]  # all it asks
    next(calling)
    with pytest.raises(pytest.fail.Exception, match=r"the test: [^\n]*\n  noarkit scan: planted"):
        next(calling)


def test_a_field_has_one_declaration(monkeypatch: pytest.MonkeyPatch) -> None:
    alike = [("scan", "read", JsonKind("count")) for _ in range(2)]
    monkeypatch.setattr(contract, "_declarations", lambda: iter(alike))
    with pytest.raises(ValueError, match=r"scan\.read is declared twice"):
        contract.events.__wrapped__()


def test_output_of_another_process_can_be_held() -> None:
    assert hold_output('{"event": "bytes", "bytes": 1}\n{"event": "by', "noarkit") == [{"event": "bytes", "bytes": 1}]
    with pytest.raises(AssertionError, match="noarkit scan: event 'bytes' lacks field 'bytes'"):
        hold_output('{"event": "bytes"}\n', "noarkit scan")


def test_every_event_that_the_code_spells_is_declared_with_its_fields() -> None:
    declared = events()
    flaws = []
    for where, names, fields in _spelled():
        for name in names - _NO_LINES:
            known = declared.get(name)
            unknown = fields - known.keys() if known is not None and name not in OPEN_EVENTS else set()
            if known is None or unknown:
                flaws.append(f"{where}: {name} {sorted(unknown)}")
    assert flaws == []


def test_every_declared_event_is_spelled_by_the_code() -> None:
    spelled = {name for _, names, _ in _spelled() for name in names}
    by_state = {"refused", "set_aside"}  # states of a bundle, told under their own names
    assert events().keys() - spelled - by_state - {"fault", "summary"} == set()


def _spelled() -> Iterator[tuple[str, set[str], set[str]]]:
    """Where the code makes an event or tells a result, the names that it may have, and its fields as far as spelled."""
    for path in modules_with("noarkit.events import", "console.result(", "write_event(", "EVENT: ClassVar"):
        if path.is_relative_to(PACKAGE / "operations"):
            continue  # for hooks
        for node in nodes_of(path):
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "EVENT":  # of a result, with its fields
                yield str(path), {ast.literal_eval(node.value)} - {""} if node.value else set(), set()
            if not isinstance(node, ast.Call) or not node.args:
                continue
            function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if function not in ("Event", "result", "write_event"):
                continue
            names = {item.value for item in ast.walk(node.args[0]) if isinstance(item, ast.Constant)}
            yield f"{path.relative_to(PACKAGE)}:{node.lineno}", {str(name) for name in names}, _fields(node)


def _fields(call: ast.Call) -> set[str]:
    keys = [key for item in call.args[1:] if isinstance(item, ast.Dict) for key in item.keys]
    spelled = {str(key.value) for key in keys if isinstance(key, ast.Constant)}
    return spelled | {keyword.arg for keyword in call.keywords if keyword.arg is not None}
