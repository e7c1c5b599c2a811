"""A policy says what is done with documents of each format; what it cannot mean is refused with its line."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import get_args

import pytest

from noarkit.copies.policy import SHIPPED, Policy, read_policy
from noarkit.copies.port import Action, Identity
from noarkit.errors import ConfigFault
from noarkit.model.formats import classify_format
from noarkit.words.texts import texts

SAMPLES = Path(__file__).resolve().parents[3] / "samples" / "copies"
# Office formats are taken, and a PDF/A is to go with them; PDF/A-3 is taken on application; the rest is taken as it is.
DERIVED_THOUGH_TAKEN = {"PDF/A-3", "Office Open XML", "OpenDocument", "PDF"}


def _identity(puid: str | None, *, media_type: str | None = None, suffix: str = "", mismatch: bool = False) -> Identity:
    return Identity(puid, media_type, suffix, "signature", mismatch)


def _policy(tmp_path: Path, text: str) -> Policy:
    path = tmp_path / "policy.toml"
    path.write_text(text, "utf-8")
    return read_policy(path)


def test_every_format_that_the_regulation_takes_has_a_rule() -> None:
    """The list of formats is another file, made from the regulation by itself."""
    policy = read_policy()
    formats = tomllib.loads(files("noarkit.model").joinpath("archive-formats.toml").read_text("utf-8"))["format"]
    listed = [(entry["name"], puid) for entry in formats for puid in entry.get("puids", ())]
    assert len(listed) >= 100
    for name, puid in listed:
        rule = policy.rule_for(_identity(puid))
        assert rule is not None, (name, puid)
        assert rule.action in ("keep", "derive"), (name, puid)
        assert (rule.action == "derive") <= (name in DERIVED_THOUGH_TAKEN), (name, puid)


def test_what_is_kept_is_taken_by_the_regulation() -> None:
    for rule in read_policy().rules.values():
        for mark in rule.match:
            if rule.action == "keep":
                media_type = "text/plain" if rule.name == "text" else None  # plain text of any kind
                assert classify_format(mark, "", media_type).status in ("approved", "conditions"), (rule.name, mark)


@pytest.mark.parametrize(
    ("puid", "action", "target"),
    [
        ("fmt/40", "derive", "pdfa-2b"),
        ("fmt/50", "derive", "pdfa-2b"),
        ("fmt/61", "derive", "ods"),
        ("fmt/126", "derive", "pdfa-2b"),
        ("x-fmt/430", "derive", "pdfa-2b"),
        ("fmt/4", "derive", "png"),
        ("fmt/568", "derive", "png"),
        ("fmt/18", "derive", "pdfa-2b"),
        ("fmt/143", "derive", "flac"),
        ("fmt/5", "manual", ""),
        ("fmt/494", "manual", ""),
        ("fmt/214", "keep", ""),
    ],
)
def test_formats_that_are_not_taken_have_a_way(puid: str, action: str, target: str) -> None:
    rule = read_policy().rule_for(_identity(puid))
    assert rule is not None
    assert (rule.action, rule.target) == (action, target)


def test_tracked_changes_and_hidden_text_wait_for_a_person() -> None:
    policy = read_policy()
    for puid in ("fmt/412", "fmt/291", "fmt/40", "fmt/50"):
        rule = policy.rule_for(_identity(puid))
        assert rule is not None
        assert (rule.responses["tracked-changes"], rule.responses["hidden-text"]) == ("hold", "hold")


def test_a_rule_is_found_by_bytes_then_type_then_name(tmp_path: Path) -> None:
    policy = _policy(
        tmp_path,
        """
        [rules.by-name]
        match = ["log"]
        action = "leave"
        [rules.by-type]
        match = ["text/x-log"]
        action = "keep"
        [rules.by-bytes]
        match = ["x-fmt/62"]
        action = "manual"
        """,
    )

    def found(identity: Identity) -> str | None:
        rule = policy.rule_for(identity)
        return rule.name if rule else None

    assert found(_identity("x-fmt/62", media_type="text/x-log", suffix="log")) == "by-bytes"
    assert found(_identity("fmt/1", media_type="text/x-log", suffix="log")) == "by-type"
    assert found(_identity("fmt/1", media_type="text/plain", suffix="log")) == "by-name"
    assert found(_identity("fmt/1", suffix="log", mismatch=True)) is None
    assert found(_identity(None, suffix="log")) is None
    assert found(_identity("fmt/1")) is None


def test_a_site_changes_single_rules_and_its_own_come_first(tmp_path: Path) -> None:
    policy = _policy(
        tmp_path,
        """
        [policy]
        name = "kommunen"
        base = "no-raf-2022"
        agent = "Arkivet i Eksempel kommune"
        on-mismatch = "note"
        [rules.docx]
        findings = { comments = "refuse", tracked-changes = "note" }
        [rules.our-mail]
        match = ["x-fmt/430"]
        action = "leave"
        """,
    )
    assert (policy.name, policy.agent, policy.refuses_mismatch) == ("kommunen", "Arkivet i Eksempel kommune", False)
    docx, shipped = policy.rules["docx"], read_policy().rules["docx"]
    assert (docx.match, docx.converters, docx.target, docx.options) == (
        *(shipped.match, shipped.converters, shipped.target, shipped.options),
    )
    assert docx.responses == {**shipped.responses, "comments": "refuse", "tracked-changes": "note"}
    mail = policy.rule_for(_identity("x-fmt/430"))
    assert mail is not None
    assert mail.name == "our-mail"
    assert policy.rules["mail"] == read_policy().rules["mail"]


def test_what_is_made_is_told_from_what_is_said_about_findings(tmp_path: Path) -> None:
    shipped = read_policy()
    told = _policy(tmp_path, '[policy]\nbase = "no-raf-2022"\n[rules.docx]\nfindings = { comments = "hold" }\n')
    other = _policy(tmp_path, '[policy]\nbase = "no-raf-2022"\n[rules.docx]\nfreeze-fields = false\n')
    assert told.rule_digest(told.rules["docx"]) == shipped.rule_digest(shipped.rules["docx"])
    assert other.rule_digest(other.rules["docx"]) != shipped.rule_digest(shipped.rules["docx"])


FAULTS = [
    ("[policy]\nnmae = 'x'\n", 2, "unknown-key"),
    ("[policy]\nbase = 'no-raf-2099'\n", 2, "not-one-of"),
    ("[policy]\nkeep-original = 'yes'\n", 2, "not-a-bool"),
    ("[policy]\non-mismatch = 'x'\n", 2, "not-one-of"),
    ("[rules.a]\nmatch = ['fmt/1']\n", 1, "not-one-of"),
    ("[rules.a]\nmatch = ['fmt/1']\naction = 'keeep'\n", 3, "not-one-of"),
    ("[rules.a]\nmatch = 'fmt/1'\naction = 'keep'\n", 2, "not-a-list"),
    ("[rules.a]\nmatch = ['fmt/1']\naction = 'derive'\ntarget = 'png'\n", 1, "missing"),
    ("[rules.a]\nmatch = ['fmt/1']\naction = 'derive'\nconverters = ['image']\n", 1, "missing"),
    ("[rules.a]\nmatch = []\naction = 'derive'\nconverters = ['ofice']\ntarget = 'png'\n", 4, "not-one-of"),
    ("[rules.a]\nmatch = []\naction = 'derive'\nconverters = ['office']\ntarget = 'pdf-a'\n", 5, "not-one-of"),
    ("[rules.a]\nmatch = []\naction = 'keep'\nvalidate = 'pdf'\n", 4, "not-one-of"),
    ("[rules.a]\nmatch = []\naction = 'keep'\notherwise = 'b'\n", 4, "not-one-of"),
    ("[rules.a]\nmatch = []\naction = 'keep'\nfindings = { comments = 'maybe' }\n", 4, "not-one-of"),
    (
        "[rules.a]\nmatch = ['fmt/1']\naction = 'keep'\n[rules.b]\nmatch = ['fmt/1']\naction = 'leave'\n",
        5,
        "match-twice",
    ),
    ("[rule]\nmatch = []\n", 1, "unknown-key"),
    ("rules = 3\n", 1, "not-a-table"),
]


@pytest.mark.parametrize(("text", "line", "why"), FAULTS)
def test_what_cannot_be_meant_is_refused_with_its_line(tmp_path: Path, text: str, line: int, why: str) -> None:
    with pytest.raises(ConfigFault) as caught:
        _policy(tmp_path, text)
    assert caught.value.data["why"] == why
    assert str(caught.value.data["where"]).endswith(f"policy.toml:{line}")
    assert why in texts("en").tables["reasons"]


def test_a_person_is_told_what_to_do_in_both_languages() -> None:
    manual = [rule.name for rule in read_policy().rules.values() if rule.action == "manual"]
    assert len(manual) >= 8
    for lang in ("en", "nb"):
        for name in manual:
            assert texts(lang).forms("copies_manual", name, "why")
            assert texts(lang).forms("copies_manual", name, "steps")


def test_samples_are_policies() -> None:
    paths = sorted(SAMPLES.glob("*.toml"))
    assert len(paths) >= 2
    for path in paths:
        policy = read_policy(path)
        assert {rule.action for rule in policy.rules.values()} <= set(get_args(Action))
    assert read_policy(Path(SHIPPED[0])).name == SHIPPED[0]
