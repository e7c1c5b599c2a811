"""What an archivist reads of a security service: titles with outcome and day, and pages with labels and days alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from noarkit.services.appsec.histories import Subject
from noarkit.services.appsec.labels import OUTCOMES, decision_title, format_outcome
from noarkit.services.appsec.service import AppSec
from noarkit.services.port import Item
from noarkit.services.standins.server import StandinSpec
from tests.services.appsec.there import all_of, connected
from tests.services.standing import standing

MEMBERS = re.compile(r"\b[a-z]+[A-Z]\w*:|\b(?:status|state|severity|comment|name|id|ID):")
MACHINE_TIMES = re.compile(r"\d\dT\d\d|\.\d{3,}Z|\b\d{13}\b")
CODES = re.compile("|".join((*("NOT_EXPLOITABLE", "CONFIRMED", "URGENT", "HIGH", "MEDIUM", "LOW"), "Completed")))
PUBLISHED_STATES = ("TO_VERIFY", "NOT_EXPLOITABLE", "PROPOSED_NOT_EXPLOITABLE", "CONFIRMED", "URGENT")
SUBJECT = Subject("p", "sca", "CVE-2024-1", "Npm-lodash-4.17.20")
NAME = "Vurdering av sikkerhetsfunn sca CVE-2024-1 Npm-lodash-4.17.20"


@pytest.fixture(scope="module")
def appsec(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppSec]:
    """A service in which every other finding was decided about."""
    folder = tmp_path_factory.mktemp("titles")
    with (
        standing("appsec", folder, StandinSpec(60, options={"decided": "50"})) as held,
        connected(held, folder) as service,
    ):
        yield service


def items(appsec: AppSec, stream: str) -> list[Item]:
    found = [one for one in all_of(appsec, stream, until=datetime.now(UTC)) if isinstance(one, Item)]
    assert len(found) > 1
    return found


@pytest.mark.parametrize(
    ("row", "title"),
    [
        ({"state": "NOT_EXPLOITABLE", "createdAt": "2026-01-05T10:00:00Z"}, f"{NAME} 2026-01-05: kan ikke utnyttes"),
        ({"state": "NotExploitable", "createdAt": "2026-01-05T23:30:00-01:00"},
         f"{NAME} 2026-01-06: kan ikke utnyttes"),
        ({"state": "AKSEPTERT_RISIKO", "createdAt": None}, f"{NAME}: AKSEPTERT_RISIKO"),
        ({"createdAt": "2026-01-05T10:00:00Z"}, f"{NAME} 2026-01-05"),
        ({"state": "TAKEN\u202e\x07 BACK", "createdAt": "soon"}, f"{NAME}: TAKEN\ufffe\ufffe BACK"),
    ],
)  # fmt: skip
def test_a_decision_is_named_by_its_finding_day_and_outcome(row: dict[str, object], title: str) -> None:
    assert decision_title(SUBJECT, row) == title


def test_every_published_state_has_a_word() -> None:
    assert [state for state in PUBLISHED_STATES if format_outcome(state) not in OUTCOMES.values()] == []


def test_each_decision_has_its_title_on_the_record_and_its_documents(appsec: AppSec) -> None:
    for found in items(appsec, "decisions"):
        title = str(found.fields["heading"])
        assert re.fullmatch(r"Vurdering av sikkerhetsfunn .+ \d{4}-\d\d-\d\d: .+", title)
        assert [made.title for made in found.generated] == [title, f"{title}, data"]


@pytest.mark.parametrize("stream", ["decisions", "scans", "audit"])
def test_pages_have_labels_and_days_and_no_member_names(appsec: AppSec, stream: str) -> None:
    for found in items(appsec, stream):
        for made in found.generated:
            if made.media_type == "text/plain":
                lines = made.data.decode().splitlines()
                assert len(lines) > 4
                for odd in (MEMBERS, MACHINE_TIMES, CODES):
                    assert [line for line in lines if odd.search(line)] == []


def test_a_page_says_why_who_and_when(appsec: AppSec) -> None:
    pages = [found.generated[0].data.decode() for found in items(appsec, "decisions")]
    for label in ("Utfall", "Alvorlighet", "Begrunnelse", "Vurdert av", "Tidspunkt", "Skanner", "Funn", "Pakke"):
        assert any(f"\n{label}: " in page for page in pages), label
