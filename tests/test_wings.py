"""Each wing can be taken away: the rest goes on as before, and whoever needs it is told what is not installed."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from noarkit.errors import UsageFault
from noarkit.wings import FACES, REMEDY, WINGS, require_wing
from noarkit.words.texts import texts
from tests.package_code import MODULES, PACKAGE, nodes_of, tree_of
from tests.test_layers import KNOWN, name_of
from tests.waiting import PATIENCE_S

FOLDERS = {"standins": ("services/standins", "services/*/standin")}
"""The folders of a wing that is not its package alone."""
# What works without any wing, in this order: a later call reads what an earlier one made.
CALLS: tuple[tuple[str, ...], ...] = (
    ("--help",),
    ("version",),
    ("scan", "files"),
    ("plan", "files", "-o", "run"),
    ("ingest", "run", "--dry-run"),
    ("convert", "files", "--as", "bagit", "-o", "bag"),
    ("validate", "bag"),
    ("ls", "run"),
    ("search", "run", "hello"),
)
# What each wing is for: its own commands, and others that need it.
OWN: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "server": (
        ("serve",),
        ("serve", "--check", "archive"),
        ("backup", "archive", "-o", "copy"),
        ("ingest", "run"),
        ("ingest", "run", "--dry-run"),
        ("plan", "files", "-o", "other", "--archive", "embedded:archive"),
        ("ls", "embedded:archive"),
    ),
    "standins": (("standin", "crm"),),
    "services": (
        ("connect", "crm:main"),
        ("connect", "crm:main", "configure"),
        ("listen",),
        ("scan", "crm:main"),
        ("plan", "crm:main", "-o", "other"),
    ),
    "cluster": (
        ("worker", "dask://localhost:8786"),
        ("scheduler",),
        ("key", "cluster", "certificates"),
        ("ingest", "run", "--engine", "dask://localhost:8786", "--tls", "certificates"),
    ),
    "copies": (
        ("derive", "files", "-o", "copies"),
        ("derive", "--archive", "embedded:archive", "-o", "copies"),
        ("plan", "files", "-o", "other", "--copies", "copies"),
        ("doctor", "--copies"),
    ),
    "reading-room": (("browse", "run"), ("browse", "run", "--static", "pages")),
}
OWN_NAMES = {
    "copies": {
        *("CheckCopiesResult", "DeriveResult", "TakeResult"),
        *("accept_copies", "check_copies", "derive", "seal_copies", "take_copies"),
    },
    "services": {"WriteBackResult"},
}
_PROGRAM = """
import json, sys
import noarkit
from noarkit.cli.main import main
jobs = json.loads(sys.argv[1])
for name in noarkit.__all__:
    try:
        getattr(noarkit, name)
    except noarkit.NoarkitError as fault:
        print("#", name, fault.code)
print("# end of names", flush=True)
for lang, arguments in jobs:
    code = main(arguments, {"HOME": ".", "NOARKIT_LANG": lang})
    print(f"## {code}", flush=True)
"""


@cache
def folders_of(wing: str) -> list[Path]:
    """The folders that a wing is."""
    patterns = FOLDERS.get(wing, (WINGS[wing].removeprefix("noarkit.").replace(".", "/"),))
    return [path for pattern in patterns for path in PACKAGE.glob(pattern)]


def calls_without(wing: str) -> list[tuple[str, ...]]:
    """What works without it; a rehearsal is into an archive of one's own where no other is named."""
    return [call for call in CALLS if call not in OWN[wing]]


def own_calls(wing: str) -> list[tuple[str, tuple[str, ...]]]:
    """What does not, with the language it is told in: once in Norwegian."""
    return [("en", call) for call in OWN[wing]] + [("nb", OWN[wing][0])]


def house_without(wing: str, place: Path) -> dict[str, str]:
    """A copy of the package without a wing; returns the environment of who works with it."""
    folders = folders_of(wing)
    assert folders
    shutil.copytree(PACKAGE, place / "house" / "noarkit", ignore=lambda at, names: _inside(folders, at, names))
    return {"HOME": str(place), "PATH": os.environ["PATH"], "PYTHONPATH": str(place / "house")}


def run_without(wing: str, place: Path) -> tuple[list[str], list[tuple[int, str]]]:
    """The public names that a house without a wing refuses, and the exit code and the output of each call."""
    environment = house_without(wing, place)
    (place / "files" / "road").mkdir(parents=True)
    (place / "files" / "road" / "a.txt").write_text("hello", "utf-8")
    (place / "archive").mkdir()
    jobs = [("en", call) for call in calls_without(wing)] + own_calls(wing)
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", _PROGRAM, json.dumps(jobs)],
        cwd=place,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    refused = re.findall(r"^# (\w+ F\d+)$", result.stdout, re.M)
    parts = re.split(r"^## (\d+)\n", result.stdout.partition("# end of names\n")[2], flags=re.M)
    assert len(parts) == 2 * len(jobs) + 1, result.stdout
    return refused, [(int(code), told) for told, code in zip(parts[::2], parts[1::2], strict=False)]


@pytest.mark.parametrize("wing", OWN)
def test_without_a_wing_the_rest_works_and_its_own_commands_say_that_it_is_not_here(wing: str, tmp_path: Path) -> None:
    refused, outcomes = run_without(wing, tmp_path)
    assert refused == [f"{name} {UsageFault.code}" for name in sorted(OWN_NAMES.get(wing, ()))]
    calls, own = calls_without(wing), own_calls(wing)
    assert [(call, *outcome) for call, outcome in zip(calls, outcomes, strict=False) if outcome[0]] == []
    for (lang, call), (code, told) in zip(own, outcomes[len(calls) :], strict=True):
        assert (code, re.findall(r"^F\d+", told, re.M)) == (UsageFault.exit_code, [UsageFault.code]), (call, told)
        assert texts(lang).reason(f"wing-{wing}")[1:] in told
        assert REMEDY in told


def test_without_the_reading_room_an_archive_is_served_alone(tmp_path: Path) -> None:
    served = subprocess.Popen(
        [sys.executable, "-m", "noarkit", "--json", "serve", "--data", "archive", "--port", "0"],
        cwd=tmp_path,
        env=house_without("reading-room", tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert served.stdout is not None
    first = json.loads(served.stdout.readline())
    with socket.create_connection(("127.0.0.1", urlsplit(first["url"]).port or 0), timeout=PATIENCE_S):
        served.terminate()
    _, told = served.communicate(timeout=PATIENCE_S)
    assert (served.returncode, "F900" in told) == (0, False), told


def _inside(folders: list[Path], at: str, names: list[str]) -> list[str]:
    return [name for name in names if Path(at, name) in folders]


@cache
def wings_of(name: str) -> set[str]:
    """The wings that a module is part of, by its dotted name. Stand-ins are part of services, too."""
    path = PACKAGE.parent / name.replace(".", "/")
    folders = {wing for wing in WINGS if any(path.is_relative_to(folder) for folder in folders_of(wing))}
    return folders | {wing for wing, names in FACES.items() if name in names}


def imports_of(node: ast.AST, is_late: bool = False) -> Iterator[tuple[str, bool]]:
    """The modules that code imports, and whether only when a function is called; what is for types alone is none."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from ((alias.name, is_late) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            names = [f"{child.module}.{alias.name}" for alias in child.names]
            yield from ((name if name in KNOWN else str(child.module), is_late) for name in names)
        elif not isinstance(child, ast.expr) and not (
            isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        ):
            yield from imports_of(child, is_late or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef))


def asked_for(path: Path) -> set[str]:
    """The wings that a module asks for before it reaches into them."""
    calls = [node for node in nodes_of(path) if isinstance(node, ast.Call)]
    words = [call.args[0] for call in calls if ast.unparse(call.func) in ("require_wing", "has_wing")]
    words += [ast.Constant("services") for call in calls if ast.unparse(call.func) == "connection_of"]
    words += [keyword.value for call in calls for keyword in call.keywords if keyword.arg == "wing"]
    names = {str(word.value) for word in words if isinstance(word, ast.Constant)}
    return names | ({"services"} if "standins" in names else set())  # where those are not, these are none


def test_nothing_outside_a_wing_imports_it_unasked() -> None:
    at_once, unasked = set[tuple[str, str]](), set[str]()
    for path in MODULES:
        own = wings_of(name_of(path))
        for other, is_late in imports_of(tree_of(path)):
            reached = wings_of(other)
            for wing in ({"standins"} if "standins" in reached else reached) - own:
                if not is_late:
                    at_once.add((wing, name_of(path)))
                elif wing not in asked_for(path):
                    unasked.add(f"{name_of(path)} → {other}")
    assert sorted(at_once) == []
    assert sorted(unasked) == []


def test_what_is_amiss_inside_a_wing_is_not_told_as_its_absence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "damaged_wing").mkdir()
    (tmp_path / "damaged_wing" / "__init__.py").write_text("import no_such_library", "utf-8")
    (tmp_path / "removed_wing" / "__pycache__").mkdir(parents=True)
    for name in ("damaged", "removed"):
        monkeypatch.setitem(WINGS, name, f"{name}_wing")
    require_wing("damaged")
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        importlib.import_module("damaged_wing")
    with pytest.raises(UsageFault, match="removed_wing"):
        require_wing("removed")
