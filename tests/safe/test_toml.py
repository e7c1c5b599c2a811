"""TOML that people write is read with the line of each key, and faults name theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.errors import ConfigFault
from noarkit.safe.toml import MAX_BYTES, parse_toml, read_toml


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
        (b"a = " + b"[" * 5000, "", "not-toml"),
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
