"""TOML that people write is read with the line of each key, and faults name theirs."""

from __future__ import annotations

import ast
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.errors import ConfigFault, NoarkitError
from noarkit.forms.noark5.source.extract_recipe import read_extract_recipe
from noarkit.recipes import read_recipe
from noarkit.safe.toml import MAX_BYTES, MAX_DEPTH, BadToml, key_lines, load_toml, parse_toml, read_toml
from noarkit.server.clients import ClientsFile
from noarkit.server.fault_script import read_script
from noarkit.server.settings import read_settings
from tests.package_code import PACKAGE, modules_with, nodes_of

DOOR = "safe/toml.py"
# these read what lies in the package itself, never what others write
OF_THE_PACKAGE = {
    "model/formats.py",
    "model/metamodel.py",
    "server/starter_codes.py",
    "forms/eark/rules/codes.py",
    "forms/eark/rules/media.py",
    "forms/findings.py",
    "forms/noark5/rules/relations.py",
    "forms/noark5/rules/values.py",
    "reading_room/viewers/detection.py",
    "words/texts.py",
}
LONG = 200_000
BOMBS = {
    "dotted key": ".".join("a" * LONG) + " = 1",
    "quoted dotted key": ".".join(['"a"'] * LONG) + " = 1",
    "literal dotted key": " . ".join(["'a'"] * LONG) + " = 1",
    "dotted header": "[" + ".".join("a" * LONG) + "]",
    "dotted header of a list": "[[" + ".".join("a" * LONG) + "]]",
    "key in an inline table": "a = {" + ".".join("a" * LONG) + " = 1}",
    "arrays": "a = " + "[" * LONG,
    "closed arrays": "a = " + "[" * LONG + "]" * LONG,
    "inline tables": "a = " + "{a=" * LONG + "1" + "}" * LONG,
    "behind a text": 'a = """x\\""""""\nb' + ".b" * LONG + " = 1",
    "behind a comment": "# \" '''\nb" + ".b" * LONG + " = 1",
    "number": "a = " + "9" * LONG,
    "bytes": "#" * (MAX_BYTES + 1),
}


def as_file(read: Callable[[Path], object]) -> Callable[[str, Path], object]:
    """A reader of files as one of texts."""

    def reader(text: str, folder: Path) -> object:
        path = folder / "a.toml"
        path.write_text(text)
        path.chmod(0o600)
        return read(path)

    return reader


def as_server_settings(text: str, folder: Path) -> object:
    """The settings of an archive folder."""
    (folder / "server.toml").write_text(text)
    return read_settings(folder)


DOORS: dict[str, Callable[[str, Path], object]] = {
    "config": as_file(read_toml),
    "recipe": lambda text, _: read_recipe(text),
    "recipe of a package": lambda text, _: read_extract_recipe(text, "recipe"),
    "server.toml": as_server_settings,
    "clients.toml": as_file(lambda path: ClientsFile(path).current()),
    "fault script": as_file(read_script),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_text_that_would_take_minutes_or_gigabytes_is_refused_at_once(door: str, bomb: str, tmp_path: Path) -> None:
    began = time.process_time()
    with pytest.raises(NoarkitError) as fault:
        DOORS[door](BOMBS[bomb], tmp_path)
    assert fault.value.exit_code in (2, 4)
    assert time.process_time() - began < 2


def test_a_long_line_within_a_text_is_passed_quickly() -> None:
    began = time.process_time()
    assert key_lines('a = """\n[' + " " * LONG + 'x\n"""\nb = 1') == {"a": 1, "b": 4}
    assert time.process_time() - began < 2


def test_toml_of_others_comes_in_by_one_door() -> None:
    users = {
        str(path.relative_to(PACKAGE))
        for path in modules_with("tomllib")
        for node in nodes_of(path)
        if isinstance(node, ast.Import) and any(alias.name == "tomllib" for alias in node.names)
    }
    assert users == {DOOR, *OF_THE_PACKAGE}
    for name in OF_THE_PACKAGE:
        assert "files(" in (PACKAGE / name).read_text("utf-8"), name


def test_what_is_as_deep_as_allowed_is_read() -> None:
    deepest = MAX_DEPTH - 1
    assert load_toml("a" + ".a" * deepest + " = 1")
    assert load_toml("a = " + "[" * deepest + "]" * deepest)
    with pytest.raises(BadToml, match="depth"):
        load_toml("a" + ".a" * MAX_DEPTH + " = 1")


@pytest.mark.parametrize(
    "text",
    [
        "a = '" + "." * 500 + "'",
        'a = "\\"' + "[" * 500 + '"',
        'a = """' + "[{.\n" * 500 + '"""""',
        "a = '''" + "[{.\n" * 500 + "'''''",
        "# it's " + "." * 500 + "\na = 1",
        "a = [" + "0.5, " * 500 + "]",
        "a = [" + "{ b.c = 1.5 },\n" * 500 + "]",
        "a.b = 1 # '\n" * 1 + "c.d = '#'\n",
    ],
)
def test_what_stands_in_texts_and_comments_does_not_count(text: str) -> None:
    assert load_toml(text) == tomllib.loads(text)


@given(st.text(alphabet="ab.='\"\\[]{}#\n, 1", max_size=60))
def test_a_short_text_is_read_as_the_standard_reads_it(text: str) -> None:
    try:
        expected = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with pytest.raises(BadToml, match=r"not-toml|depth"):
            load_toml(text)
    else:
        assert load_toml(text) == expected


def test_a_file_is_read_with_the_line_of_each_key(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("\ufeff# note\n[a]\nb = 1\nc = [1, { d = 2 }]\n", encoding="utf-8")
    document = read_toml(path)
    assert document.data == {"a": {"b": 1, "c": [1, {"d": 2}]}}
    assert document.where("a.b") == f"{path}:3"
    assert list(document.dotted_keys()) == ["a", "a.b", "a.c", "a.c.d"]


@pytest.mark.parametrize(
    ("content", "where", "why"),
    [
        (b"a = 1\nb = \n", ":2", "not-toml"),
        (b"a = 1\na = 2\n", ":2", "not-toml"),
        (b"a = '\xff'", "", "not-utf-8"),
        (b"a = " + b"[" * 5000, ":1", "depth"),
        (b"a = 1" + b"0" * 5000, "", "not-toml"),
        (b"#" * (MAX_BYTES + 1), "", "too-large"),
    ],
)
def test_a_file_that_cannot_be_used_says_where_and_why(tmp_path: Path, content: bytes, where: str, why: str) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigFault) as fault:
        read_toml(path)
    assert fault.value.data == {"where": f"{path}{where}", "why": why}


def test_what_is_not_there_and_what_is_no_file_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault, match="not-there"):
        read_toml(tmp_path / "none.toml")
    with pytest.raises(ConfigFault, match="unreadable"):
        read_toml(tmp_path)


def test_a_fault_at_the_end_has_no_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault) as fault:
        parse_toml("a = [", Path("t"))
    assert str(fault.value.data["where"]).startswith("t")
