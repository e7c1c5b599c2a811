"""Whether a delivery is ready: which facts keep it back, what a person can accept, and that nobody else decides."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace

import pytest

from noarkit.forms.findings import rules_of
from noarkit.verdict import PERIOD_DERIVED, REASONS, Acceptance, Breach, Facts, Load, decide, names_nobody
from noarkit.words.texts import LANGUAGES, texts
from tests.package_code import MODULES, PACKAGE, text_of

PROVED = Load("run", "0a1b", "Fellesområdet", "bytes", read=5, archived=3, left_out=2, objects=9)
GOOD = {
    "creators": ("Fjellvik kommune",),
    "systems": ("Sakssystemet",),
    "units": 3,
    "documents": 4,
    "loads": (PROVED,),
}


def facts(*breaches: Breach, **more: object) -> Facts:
    """A delivery in which nothing is wrong but this."""
    return Facts(breaches, **{**GOOD, **more})  # type: ignore[arg-type]  # as the test says


def codes(given: Facts) -> list[tuple[str, str]]:
    return [(reason.code, reason.grade) for reason in decide(given).reasons]


def test_nothing_wrong_is_ready() -> None:
    verdict = decide(facts())
    assert (verdict.state, verdict.is_ready, verdict.reasons) == ("ready", True, ())


def test_a_rule_that_stops_keeps_it_back_and_a_remark_does_not() -> None:
    assert decide(facts(Breach("N410", 2, "stops", "formats"))).state == "not-ready"
    remarks = decide(facts(Breach("N350", 1, "remark"), Breach("N901", 7, "silent")))
    assert (remarks.state, remarks.is_ready) == ("ready-with-remarks", True)
    assert [(reason.code, reason.count, reason.rules) for reason in remarks.reasons] == [("warnings", 1, ("N350",))]


def test_rules_of_one_kind_are_one_reason_with_all_their_places() -> None:
    (reason,) = decide(facts(Breach("N410", 2, "stops", "formats"), Breach("N409", 5, "stops", "formats"))).reasons
    assert (reason.count, reason.rules) == (7, ("N409", "N410"))


def test_what_the_making_and_a_rule_both_tell_is_counted_once() -> None:
    (reason,) = decide(facts(Breach("N102", 3, "stops", "schemas"), flaws=frozenset({"own-schemas"}))).reasons
    assert (reason.code, reason.count) == ("schemas", 3)


@pytest.mark.parametrize(("more", "code"), [({"units": 0}, "empty"), ({"documents": 0}, "empty")])
def test_an_empty_delivery_is_not_ready_and_nobody_can_accept_that(more: dict[str, int], code: str) -> None:
    accepted = Acceptance(code, 99, "Kari", "2026-11-28")
    assert decide(facts(**more), [accepted]).state == "not-ready"


@pytest.mark.parametrize("name", ["", "Ukjent", " ukjent ", "UNKNOWN", "-", "test"])
def test_a_creator_or_system_that_names_nobody_keeps_it_back(name: str) -> None:
    assert names_nobody(name)
    assert codes(facts(creators=(name,))) == [("creator", "stops")]
    assert codes(facts(systems=(name,))) == [("system", "stops")]
    assert codes(facts(creators=(name, "Fjellvik kommune"))) == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"proof": "none"}, ("load", "stops")),
        ({"proof": "part"}, ("load-in-part", "remark")),
        ({"left_out": 1}, ("source", "stops")),
        ({"lost": 2}, ("source", "stops")),
        ({"redated": 4}, ("load-dates", "stops")),
        ({"source": "fjellvik KOMMUNE"}, ("creator", "stops")),
    ],
)
def test_a_load_that_is_not_proved_whole_is_told(change: dict[str, object], reason: tuple[str, str]) -> None:
    load = replace(PROVED, **change)  # type: ignore[arg-type]  # as the test says
    assert codes(facts(loads=(PROVED, load) if reason[0] != "creator" else (load,))) == [reason]


def test_a_delivery_of_which_no_load_is_known_is_told_so() -> None:
    assert codes(facts(loads=())) == [("load-unknown", "remark")]


def test_an_agreement_is_a_remark_but_no_depot_receives_a_dias_package_without() -> None:
    assert codes(facts(flaws=frozenset({"agreement-unnamed"}))) == [("agreement", "remark")]
    assert codes(facts(form="dias")) == [("agreement", "stops")]
    assert codes(facts(form="dias", agreement="2026/1042")) == []


def test_a_period_that_nobody_stated_keeps_nothing_back() -> None:
    outside = Breach("N340", 3, "stops", "period")
    assert codes(facts(outside)) == [("period", "stops")]
    assert codes(facts(outside, flaws=frozenset({PERIOD_DERIVED}))) == [("period", "remark")]


def test_records_without_a_text_on_where_they_come_from_are_told() -> None:
    assert codes(facts(flaws=frozenset({"origin-unstated"}))) == [("origin", "remark")]


def test_what_a_person_accepted_is_a_remark_until_it_grows() -> None:
    accepted = [Acceptance("formats", 2, "Kari", "2026-11-28", "agreed with the depot, 2026/1042")]
    two, three = (facts(Breach("N410", count, "stops", "formats")) for count in (2, 3))
    assert decide(two, accepted).state == "ready-with-remarks"
    assert decide(two, accepted).reasons[0].accepted == accepted[0]
    assert decide(three, accepted).state == "not-ready"


@pytest.mark.parametrize("code", ["schemas", "checksums", "counts", "ids", "empty", "leak"])
def test_some_reasons_cannot_be_accepted(code: str) -> None:
    accepted = [Acceptance(code, 9, "Kari", "2026-11-28")]
    assert decide(facts(Breach("N000", 1, "stops", code)), accepted).state == "not-ready"


def test_facts_that_were_kept_are_judged_as_before() -> None:
    given = facts(Breach("N410", 2, "stops", "formats"), Breach("N350", 1, "remark"), flaws=frozenset({"open-units"}))
    kept = json.loads(json.dumps(given.to_dict()))
    assert Facts.of_dict(kept) == given
    assert decide(Facts.of_dict(kept)) == decide(given)


@pytest.mark.parametrize("change", [{"read": "5"}, {"proof": None}, {"other": 1}])
def test_a_load_that_somebody_else_wrote_is_none(change: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        Load.of_dict({**asdict(PROVED), **change})


def test_every_rule_of_the_form_says_what_it_means_for_a_delivery() -> None:
    rules = rules_of("noarkit.forms.noark5.rules").values()
    assert {rule.code for rule in rules if rule.level == "error" and rule.deposit != "stops"} == set()
    assert {rule.reason for rule in rules if rule.deposit == "stops"} <= REASONS.keys()
    assert {rule.code for rule in rules if rule.reason and rule.deposit != "stops"} == set()
    stopping = {rule.code for rule in rules if rule.level == "warning" and rule.deposit == "stops"}
    wanted = {"N011", "N102", "N340", "N406", "N408", "N409", "N410", "N423", "N424"}
    assert wanted <= stopping


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_reason_has_its_sentence_remedy_and_owner(lang: str) -> None:
    words = texts(lang)
    for kind in REASONS.values():
        assert words.has("verdict_reasons", kind.code), kind.code
        assert words.has("verdict_remedies", kind.code), kind.code
        assert words.has("verdict_owners", kind.owner), kind.code


def test_nobody_else_decides() -> None:
    """`depositable` is said by the verdict: whoever writes that word elsewhere hands on what it says."""
    said = re.compile(r"depositable|names_nobody|\"not-ready\"|NO_FLAWS")
    allowed = {
        "verdict": {"names_nobody", '"not-ready"'},
        "extraction/run.py": {"depositable"},
        "extraction/assemble.py": {"names_nobody"},
        "extraction/creators.py": {"names_nobody"},
        "reports/plan_page.py": {"names_nobody"},
        "extraction/not_in_form.py": {"depositable"},
        "api/extracting.py": {"depositable"},
        "reports/deliveries.py": {"depositable"},
        "cli/extract.py": {"depositable"},
    }
    for path in MODULES:
        name = path.relative_to(PACKAGE).as_posix()
        words = set(said.findall(text_of(path)))
        known = next(
            (words for place, words in allowed.items() if name == place or name.startswith(f"{place}/")), set()
        )
        assert words <= known, name


def test_facts_of_a_delivery_are_judged_in_two_places() -> None:
    """When it is validated, and whenever somebody asks for what lies beside it: runs, certificate and reading room."""
    asking = re.compile(r"(?<![\w.])decide\(facts")
    judges = {path.relative_to(PACKAGE).as_posix() for path in MODULES if asking.search(text_of(path))}
    assert judges == {"verdict/__init__.py", "verdict/decide.py", "api/validating.py", "reports/deliveries.py"}
    for name in ("reports/certificate.py", "cli/runs.py", "reading_room/facts.py"):
        assert "from noarkit.reports.deliveries import" in (PACKAGE / name).read_text("utf-8"), name


def test_the_usual_unit_is_told_where_nobody_named_one() -> None:
    verdict = decide(Facts(**{**GOOD, "flaws": frozenset({"unit-unnamed"})}))  # type: ignore[arg-type]  # as given
    assert ("unit", "remark") in [(reason.code, reason.grade) for reason in verdict.reasons]
