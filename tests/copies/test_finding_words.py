"""Every finding and every gate has its words in both languages, and none has judged what it passed over."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from noarkit.copies.by_hand import BY_HAND, DOUBTS
from noarkit.copies.composition import AsDeliveredGate
from noarkit.copies.gates.registry import all_gates, has_judged
from noarkit.copies.identity import Identifier
from noarkit.copies.numbers import STATES
from noarkit.copies.policy import read_policy
from noarkit.copies.port import Failure, Finding, Identity, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.reports.copies_words import finding_sentence, reason_detail
from noarkit.safe.sandbox import Limits
from noarkit.words.texts import LANGUAGES, fields, texts
from tests.package_code import MODULES, PACKAGE, nodes_of

TARGETS = ("pdfa-2b", "pdf", "png", "tiff", "utf-8", "odt", "ods", "flac", "matroska", "siard")
PDF, WORD = "application/pdf", "application/msword"


def codes_of_findings() -> set[str]:
    """Every code that a finding is made with, and every name that an inspection counts under."""
    codes: set[str] = {BY_HAND, *DOUBTS}
    for path in MODULES:
        for node in nodes_of(path) if path.is_relative_to(PACKAGE / "copies") else ():
            names: list[ast.expr | None] = []
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Finding":
                names = [node.args[0]]
            elif isinstance(node, ast.Subscript) and ast.unparse(node.value) == "counts":
                names = [node.slice]
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "counts":
                names = list(node.value.keys) if isinstance(node.value, ast.Dict) else []
            codes |= {
                str(name.value) for name in names if isinstance(name, ast.Constant) and isinstance(name.value, str)
            }
    return codes


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_finding_has_a_sentence_that_needs_no_data(lang: str) -> None:
    codes = codes_of_findings()
    assert len(codes) > 25
    written = texts(lang).tables["copies"]["finding"]
    assert isinstance(written, dict)
    assert codes == written.keys()
    for code in codes:
        forms = texts(lang).forms("copies", "finding", code)
        assert not fields(forms[-1]), code
        assert "…" not in finding_sentence(texts(lang), Finding(code))


def test_a_finding_is_told_with_its_data() -> None:
    told = finding_sentence(texts("en"), Finding("remote-refused", {"count": 2, "hosts": ["a.example", "b.example"]}))
    assert told == "Content on other servers that was not fetched: 2 (a.example, b.example)."
    assert "DATE" in finding_sentence(texts("nb"), Finding("fields", {"unfrozen": ["DATE"]}))
    assert "3 (DATE, TIME)" in finding_sentence(texts("nb"), Finding("fields", {"count": 3, "kinds": ["DATE", "TIME"]}))
    assert finding_sentence(texts("en"), Finding("of-a-later-version")) == "of-a-later-version"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_gate_has_its_words(lang: str) -> None:
    gates = [gate.name for gate in all_gates(cast("Identifier", None), lambda *_: None, verapdf="verapdf")]
    for name in (*gates, AsDeliveredGate.name):
        assert texts(lang).text("copies", "gate", name)


@pytest.mark.parametrize("media_type", [PDF, WORD])
@pytest.mark.parametrize("target", TARGETS)
def test_a_gate_has_judged_where_it_looks_at_the_file(target: str, media_type: str, tmp_path: Path) -> None:
    identity = Identity(None, media_type, "x", "signature")
    task = Task(
        *(tmp_path / "nothing", "x", identity, Rule("r", (), "derive"), target, tmp_path, Limits(1, 1)),
    )
    nobody = cast("Identifier", SimpleNamespace())
    for gate in all_gates(nobody, lambda *_: None, verapdf=str(tmp_path / "nowhere")):
        try:
            answer = gate.check(task, Product(tmp_path / "missing", "", ""))
            looked = isinstance(answer, Failure) or bool(answer)
        except OSError:
            looked = True
        assert has_judged(gate.name, target, of_pdf=media_type == PDF) == looked, gate.name


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_reason_finding_and_state_has_a_name(lang: str) -> None:
    tables = texts(lang).tables["copies"]
    for name, codes in (
        ("reason_name", {str(reason) for reason in Reason}),
        ("finding_name", codes_of_findings()),
        ("state", set(STATES)),
    ):
        table = tables[name]
        assert isinstance(table, dict)
        assert table.keys() == codes


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_format_that_the_policy_names_has_a_name(lang: str) -> None:
    rules = read_policy(None).rules.values()
    puids = {match for rule in rules for match in rule.match if "fmt/" in match}
    assert len(puids) > 150
    assert {puid for puid in puids if not texts(lang).has("format_names", puid)} == set()


@pytest.mark.parametrize(
    ("reason", "data", "told"),
    [
        ("text-missing", {"missing": 3, "words": 40, "percent": 7.5}, "Missing: 3 of 40 words (7.5 %)."),
        ("too-large", {"bytes": 5_000_000, "limit": 1000}, "It has 5.0 MB; the limit is 1.0 kB."),
        ("image-differs", {"what": "colour profile"}, "What differs: the colour profile."),
        ("content-refused", {"why": "nested"}, "Cause: it is nested too deeply."),
        ("held", {"findings": ["hidden-text", "tracked-changes"]}, "Found: hidden text, tracked changes."),
        ("manual", {"why": "Ours", "steps": ["Look.", "Decide."]}, "Ours Look. Decide."),
        ("damaged", {"member": "x"}, ""),
        ("password", {}, ""),
    ],
)
def test_what_is_known_of_a_document_is_told_in_words(reason: str, data: dict[str, object], told: str) -> None:
    assert reason_detail(texts("en"), reason, data) == told
