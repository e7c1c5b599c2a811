"""What an archivist reads: titles of vouchers, bills, receipts and jobs, and pages with days and labels alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from noarkit.recipes.expressions import content_format
from noarkit.services.port import Item
from noarkit.services.spend.labels import FAMILIES, format_value
from noarkit.services.spend.receipts import receipt_content
from noarkit.services.spend.service import Spend, open_service
from noarkit.services.standins.server import StandinSpec
from tests.services.histories.world import serving
from tests.services.standing import all_of, connected

FREE = ((1_000_000, 60.0),)
FINAL = {"status": "COMPLETED", "exportStatus": "EXPORTED", "settledAt": "2026-05-01T10:00:00.000Z"}
MONEY = {"transactionValue": {"currency": "NOK", "minors": 123450}, "performedAt": "2026-04-30T09:15:00.000Z"}
ENTRY = "00000000-0000-4000-9000-000000000001"
MEMBERS = re.compile(r"\b[a-z]+[A-Z]\w*:|\b(?:companyId|minors|currency|status|code|name|id):")
MILLISECONDS = re.compile(r"\d\dT\d\d|\.\d{3}Z|\b\d{13}\b")
STATES = re.compile(r"\b[A-Z]{4,}_?[A-Z_]*\b")


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Spend, Any]]:  # Any: the data of the stand-in
    """A service whose data a test changes."""
    folder = tmp_path_factory.mktemp("spend")
    with (
        serving("spend", StandinSpec(60, limits=FREE), folder) as (standing, standin),
        connected(open_service, standing, folder) as service,
    ):
        yield service, standin.store


def item(held: tuple[Spend, Any], **members: object) -> Item:
    """The voucher with these members."""
    service, store = held
    store.change(ENTRY, {**FINAL, **MONEY, **members})
    return next(one for one in all_of(service, "entries") if isinstance(one, Item) and one.key.endswith(ENTRY))


CARD = {"family": "CARD_PURCHASE", "supplier": None}


@pytest.mark.parametrize(
    ("members", "title"),
    [
        ({**CARD, "merchant": {"name": "Fjord AS"}}, "Fjord AS 2026-04-30 1234.50 NOK"),
        ({**CARD, "note": "Lunsj med  kunde"}, "Kortkjøp, 4600 Konto 4600, Lunsj med kunde 2026-04-30 1234.50 NOK"),
        ({**CARD, "note": None}, "Kortkjøp, 4600 Konto 4600 2026-04-30 1234.50 NOK"),
        ({**CARD, "note": None, "accountId": None}, "Kortkjøp, 4600 2026-04-30 1234.50 NOK"),
        ({**CARD, "accountId": None, "accountCode": None, "family": "MILEAGE"},
         "Kjøregodtgjørelse 2026-04-30 1234.50 NOK"),
        ({**CARD, "accountId": None, "accountCode": None, "family": "A_NEW_FAMILY"}, "Bilag 2026-04-30 1234.50 NOK"),
        ({"family": "BILL_INVOICE", "merchant": None, "supplier": {"cif": "987654321", "documentNumber": "F12"}},
         "Faktura F12 fra org.nr. 987654321 2026-04-30 1234.50 NOK"),
        ({"family": "CREDIT_NOTE", "merchant": None, "supplier": {"documentNumber": "K7"}},
         "Kreditnota K7 2026-04-30 1234.50 NOK"),
        ({"family": "BILL_INVOICE", "merchant": None, "supplier": None}, "Faktura 2026-04-30 1234.50 NOK"),
    ],
)  # fmt: skip
def test_a_voucher_is_named_by_what_is_known_of_it_and_never_as_unknown(
    held: tuple[Spend, Any], members: dict[str, object], title: str
) -> None:
    account = held[1].registers["accounts"].seeded_record(6)
    plain = {"merchant": None, "note": None, "accountId": account["id"], "accountCode": account["code"]}
    found = item(held, **{**plain, **members})
    assert found.fields["title"] == title
    assert "ukjent" not in str(found.fields).casefold()


def test_a_bill_of_a_vendor_in_the_books_has_its_name_and_organisation_number(held: tuple[Spend, Any]) -> None:
    vendor = held[1].registers["vendors"].seeded_record(3)
    supplier = {"externalSupplierId": vendor["externalId"], "documentNumber": "F12"}
    found = item(held, family="BILL_INVOICE", merchant=None, supplier=supplier)
    sender = f"{vendor['name']} (org.nr. {vendor['registrationNumber']})"
    assert found.fields["title"] == f"Faktura F12 fra {sender} 2026-04-30 1234.50 NOK"
    assert (found.fields["supplier"], found.fields["supplier_number"]) == (
        vendor["name"], vendor["registrationNumber"]
    )  # fmt: skip


def test_no_two_documents_of_a_voucher_have_the_same_title(held: tuple[Spend, Any]) -> None:
    for _ in range(2):
        held[1].add_receipt(ENTRY)
    for family in ("CARD_PURCHASE", "BILL_INVOICE"):
        found = item(held, family=family)
        titles = [paper.title for paper in found.papers.values()] + [one.title for one in found.generated]
        assert len(set(titles)) == len(titles) >= 4


@pytest.mark.parametrize("name", ["entries", "jobs", "registers"])
def test_pages_have_labels_and_days_and_no_member_names(held: tuple[Spend, Any], name: str) -> None:
    item(held, note="Kunde", splitItems=[{"id": ENTRY, "accountCode": "4000", "tags": [], **MONEY}])
    items = [one for one in all_of(held[0], name) if isinstance(one, Item)]
    assert items
    for found in items:
        (page,) = (one.data.decode() for one in found.generated if one.media_type == "text/plain")
        for odd in (MEMBERS, MILLISECONDS, STATES):
            assert [line for line in page.splitlines() if odd.search(line.replace("NOK", ""))] == []


def test_a_job_is_named_by_its_day_and_what_became_of_it(held: tuple[Spend, Any]) -> None:
    jobs = [one for one in all_of(held[0], "jobs") if isinstance(one, Item)]
    assert jobs
    for job in jobs:
        assert re.fullmatch(
            r"Eksport til regnskapet \d{4}-\d\d-\d\d: (fullført|fullført med feil|mislykket)", str(job.fields["title"])
        )


# As they are published.
MEDIA_TYPES = (
    *("application/pdf", "application/postscript", "application/xml", "image/jpeg", "image/png", "image/heic"),
    *("image/heif", "image/gif", "text/xml"),
)
STATES_OF = {
    "entry": ("DRAFT", "PENDING", "COMPLETED", "COMPLETED_EXTERNALLY", "CANCELLED", "REJECTED", "ERROR"),
    "export": ("CREATED", "EXPORTED", "EXPORTING", "NOT_CREATED", "NOT_EXPORTED", "QUEUED"),
    "review": (
        *("NOT_OK", "NOT_REQUIRED", "NOT_SET", "OK", "WAITING_FOR_EXPENSE_OWNER", "WAITING_FOR_REVIEWER"),
        *("WAITING_FOR_COMPANY_REVIEWER", "WAITING_FOR_TEAM_REVIEWER", "WAITING_FOR_TAG_REVIEWER"),
    ),
    "kind of entry": (
        *("ATM", "IN_STORE", "ONLINE", "REIMBURSEMENT_TO_COMPANY", "REIMBURSEMENT_TO_EMPLOYEE", "LOAD", "UNLOAD"),
        *("REIMBURSEMENT_TO_EMPLOYEE_REFUND", "WITHDRAWAL", "FEE", "INTEREST", "STANDIN_INVOICE"),
        *("STANDIN_INVOICE_REFUND", "BILL_INVOICE_PAYMENT_RETURNED", "BILL_INVOICE_PAYMENT_RECEIVED"),
    ),
    "job": ("pending", "in_progress", "failed", "completed", "completed_with_errors"),
    "item of a job": ("pending", "in_progress", "failed", "successful", "abandoned"),
    "vendor": ("DRAFT", "ACTIVE", "ARCHIVED"),
    "tax": ("inclusive", "exclusive", "reverse"),
}
PUBLISHED_FAMILIES = (
    *("BALANCE_AMENDMENT", "BILL_INVOICE", "CARD_PURCHASE", "CASHBACK", "CREDIT_NOTE", "MILEAGE", "OUT_OF_POCKET"),
    *("OVERDRAFT", "PER_DIEM", "REIMBURSEMENT", "WALLET", "BILL_INVOICE_PAYMENT"),
)


@pytest.mark.parametrize("media_type", [*MEDIA_TYPES, "IMAGE/HEIC; q=1"])
def test_every_published_type_of_receipt_has_an_ending_of_its_own(media_type: str) -> None:
    content = receipt_content({"id": "e"}, {"id": "r", "mimeType": media_type, "sizeInBytes": 7})
    ending = content.name.rpartition(".")[2]
    assert ending in ("pdf", "ps", "xml", "jpg", "png", "heic", "heif", "gif")
    assert (content_format(content), content.size_bytes, content.identity) == (ending, 7, "receipt:r")


@pytest.mark.parametrize("kind", STATES_OF)
def test_every_published_state_has_a_word(kind: str) -> None:
    assert [state for state in STATES_OF[kind] if format_value(state) == state] == []


def test_every_published_family_has_a_word() -> None:
    assert set(PUBLISHED_FAMILIES) <= FAMILIES.keys()
