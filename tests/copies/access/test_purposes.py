"""A rule says what its copies are for, and both purposes are told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

import noarkit
from noarkit.cli.main import main
from noarkit.copies.policy import read_policy
from noarkit.copies.port import Identity
from noarkit.errors import ConfigFault
from tests.copies.access.made import POLICY, master
from tests.copies.corpus.office import xlsx

TIFF = Identity("fmt/353", "image/tiff", "tif", "signature")
SHEETS = """
[policy]
name = "sheets"
base = "no-raf-2022"

[rules.read-sheet]
purpose = "access"
match = ["fmt/214"]
action = "derive"
converters = ["tables"]
target = "siard"
findings = { hidden-sheets = "hold" }
"""


def _policy(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_format_has_a_rule_for_each_purpose(tmp_path: Path) -> None:
    policy = read_policy(_policy(tmp_path, POLICY))
    kept, read = policy.rule_for(TIFF), policy.rule_for(TIFF, "access")
    assert kept is not None
    assert read is not None
    assert (kept.name, read.name, policy.has_access) == ("tiff", "read-picture", True)
    shipped = read_policy()
    assert (shipped.rule_for(TIFF, "access"), shipped.has_access) == (None, False)
    assert shipped.rule_digest(kept) == policy.rule_digest(kept)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('purpose = "access"\n', "", "not-one-of"),  # a JPEG is no archival copy
        ('purpose = "access"', 'purpose = "reading"', "not-one-of"),
        ('action = "derive"', 'action = "keep"', "not-one-of"),
        ('otherwise = "read-pages"', 'otherwise = "pdf"', "not-one-of"),
        ("longest-side = 600", "longest-side = 20", "not-in-range"),
        ("longest-side = 600", "longest-side = true", "not-a-number"),
        ("longest-side = 600", 'also = "png"', "unknown-key"),
        ("match = []", 'match = ["fmt/353"]', "match-twice"),
    ],
)
def test_what_an_access_rule_may_not_say_is_a_fault(old: str, new: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigFault) as caught:
        read_policy(_policy(tmp_path, POLICY.replace(old, new, 1)))
    assert caught.value.data["why"] == why


@pytest.mark.parametrize(
    ("lang", "head"), [("en", "Access copies, of 1 document: "), ("nb", "Brukskopier, av 1 dokument: ")]
)
def test_derive_prints_access_copies_apart(
    lang: str, head: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("saker").mkdir()
    master().save("saker/map.tif")
    _policy(tmp_path, POLICY)
    assert main(["derive", "saker", "-o", "copies", "--policy", "policy.toml", "--lang", lang], {}) == 0
    first, _, access = capsys.readouterr().out.partition(head)
    assert "TIFF fmt/353" in first
    assert access.splitlines()[1].split()[0] == "1"


def test_an_access_copy_that_waits_is_accepted_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("saker").mkdir()
    Path("saker/book.xlsx").write_bytes(xlsx([["Navn", "Sum"], ["Per", "12"]], hidden_sheet="hemmelig"))
    _policy(tmp_path, SHEETS)
    command = ["derive", "saker", "-o", "copies", "--policy", "policy.toml"]
    assert main(command, {}) == 3
    assert "--accept hidden-sheets" in capsys.readouterr().err
    assert main(["derive", "-o", "copies", "--accept", "hidden-sheets", "--by", "Kari Nordmann"], {}) == 0
    assert main(command, {}) == 0
    result = noarkit.derive("saker", "copies", policy="policy.toml", workers=1)
    assert (result.access, result.held, result.converted) == ({"made": 1}, 0, 0)
