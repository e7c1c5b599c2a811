"""An entry as an item: its title, its receipts, a page that a person reads, and its data. Codes come with their names
as they were when the entry was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from noarkit.services.canonical import canonical, without_secrets
from noarkit.services.paging import Row
from noarkit.services.port import GeneratedDocument, Item, Paper
from noarkit.services.readable import readable_page, shorten
from noarkit.services.spend.labels import FAMILIES, OWN_INVOICE, SPLIT_LABELS, describe, format_code, format_value
from noarkit.services.spend.money import format_amount
from noarkit.services.spend.receipts import DATA, PAGE, EntryReceipts, receipt_content
from noarkit.services.spend.registers import CompanyRegisters

BILLS = frozenset({"BILL_INVOICE", "CREDIT_NOTE"})
# Journeys, meals and reimbursements are personal data; so are guests at a meal.
PERSONAL = frozenset({"MILEAGE", "PER_DIEM", "OUT_OF_POCKET", "REIMBURSEMENT"})
NO_SENDER = "Avsender ikke oppgitt"
_OTHER_FAMILY = "Bilag"
_LONGEST_NOTE = 80


class Vouchers:
    """Builds the items of entries."""

    def __init__(self, registers: CompanyRegisters, company: str) -> None:
        self._registers = registers
        self._company = company

    def item(self, key: str, row: Row, receipts: EntryReceipts) -> Item:
        """Builds the item of an entry that is final."""
        clean = self._resolve_codes(row)
        fields = self._fields(row, clean)
        title = str(fields["title"])
        contents = tuple(receipt_content(row, receipt) for receipt in receipts.rows)
        papers = {
            content.locator: Paper(_paper_title(fields, number), _text(receipt.get("createdAt")))
            for number, (content, receipt) in enumerate(zip(contents, receipts.rows, strict=True), 1)
        }
        page = readable_page(f"bilag {row['id']}", f"Bilag {title}", self._page(row, clean, fields, len(contents)))
        data = GeneratedDocument(
            f"bilag {row['id']}.json", "application/json", canonical(clean), f"Bilag {title}, data", identity=DATA
        )
        return Item(
            "entries",
            key,
            fields,
            parse_moment(row.get("updatedAt")),
            (replace(page, identity=PAGE), data),
            contents,
            "bill" if is_bill(row) else "entry",
            generated_first=receipts.come_late,
            papers=papers,
        )

    def _fields(self, row: Row, clean: Mapping[str, object]) -> dict[str, object]:
        booked_at = str(row.get("bookkeepingDate") or row.get("settledAt") or row.get("performedAt") or "")
        supplier, number = _supplier(row, clean.get("vendor")), _document_number(row)
        organisation = _organisation_number(row, clean.get("vendor"))
        return {
            "period": booked_at[:7],
            "year": booked_at[:4],
            "company_id": self._company,
            "company": self._registers.company_name,
            "family": str(row.get("family")),
            "supplier": supplier or (f"Organisasjonsnummer {organisation}" if organisation else NO_SENDER),
            "merchant": supplier,
            "supplier_number": organisation,
            "amount": format_amount(row.get("transactionValue")),
            "title": _bill_title(row, supplier, organisation) if is_bill(row) else _entry_title(row, clean, supplier),
            "performed": row.get("performedAt"),
            "booked": booked_at or None,
            "created": row.get("createdAt"),
            "employee": clean.get("employeeCode"),
            "personal": bool(str(row.get("family")) in PERSONAL or row.get("attendees")),
            "account": row.get("accountCode"),
            "invoice": {"invoiceNumber": number} if number else {},
            "data": clean,
        }

    def _page(
        self, row: Row, clean: Mapping[str, object], fields: Mapping[str, object], receipts: int
    ) -> dict[str, object]:
        tags = [format_code(tag) for tag in _mappings(clean.get("tags"))]
        attendees = row.get("attendees")
        page = {
            "Leverandør": fields["merchant"],
            "Organisasjonsnummer": fields["supplier_number"],
            "Fakturanummer": _document_number(row),
            "Beløp": fields["amount"],
            "Beløp i regnskapet": row.get("totalBillValue"),
            "Type": family_label(row),
            "Undertype": row.get("subFamily"),
            "Utført": row.get("performedAt"),
            "Oppgjort": row.get("settledAt"),
            "Bokført": row.get("bookkeepingDate"),
            "Opprettet": row.get("createdAt"),
            "Status": row.get("status"),
            "Eksport": row.get("exportStatus"),
            "Kontroll": row.get("reviewStatus"),
            "Konto": format_code(clean.get("account")) or row.get("accountCode"),
            "Mva-kode": format_code(clean.get("taxCode")),
            "Merkelapper": [tag for tag in tags if tag],
            "Ansatt": fields["employee"],
            "Notat": _text(row.get("note")),
            "Selskap": self._registers.company_name,
            "Antall kvitteringer": receipts,
            "Antall deltakere": len(attendees) if isinstance(attendees, list) else None,
            "Deling": [describe(part, SPLIT_LABELS) for part in _mappings(row.get("splitItems"))],
            "Id": str(row["id"]),
        }
        words = ("Notat", "Leverandør", "Id", "Fakturanummer")  # as they were written
        return {label: value if label in words else format_value(value) for label, value in page.items()}

    def _resolve_codes(self, row: Row) -> dict[str, object]:
        """Returns the entry with the codes and names of what it refers to, and without what is not needed."""
        clean = without_secrets(row)
        entry: dict[str, object] = dict(clean) if isinstance(clean, Mapping) else {}
        entry.pop("receiptUrls", None)
        tags = []
        for tag in _mappings(row.get("tags")):
            code = self._registers.code("tags", tag.get("tagId")) or {}
            tags.append({**tag, "code": code.get("code"), "name": code.get("name")})
        entry["tags"] = tags
        entry["account"] = self._registers.code("accounts", row.get("accountId"))
        entry["taxCode"] = self._registers.code("tax-codes", row.get("taxCodeId"))
        entry["employeeCode"] = (self._registers.code("employees", row.get("employeeId")) or {}).get("code")
        vendor = self._registers.vendor(row.get("supplier"))
        if vendor:
            entry["vendor"] = vendor
        return entry


def is_bill(row: Row) -> bool:
    """True for an invoice or credit note of a supplier."""
    return str(row.get("family")) in BILLS


def family_label(row: Row) -> str:
    """Returns what kind of voucher an entry is, in a word for people."""
    family = str(row.get("family"))
    return FAMILIES.get(family) or (OWN_INVOICE if family.endswith("_INVOICE") else _OTHER_FAMILY)


def parse_moment(value: object) -> datetime | None:
    """Parses a timestamp of the service; None for what is none."""
    try:
        return datetime.fromisoformat(str(value).replace("Z", "+00:00")).astimezone(UTC)
    except ValueError:
        return None


def _entry_title(row: Row, clean: Mapping[str, object], supplier: str) -> str:
    """Names an entry by who was paid; where nobody says that, by its kind, account and note."""
    day, amount = str(row.get("performedAt") or "")[:10], format_amount(row.get("transactionValue"))
    name = supplier
    if not name:
        account = format_code(clean.get("account")) or str(row.get("accountCode") or "")
        note = shorten(str(row.get("note") or ""), _LONGEST_NOTE)
        name = ", ".join(part for part in (family_label(row), account, note) if part)
    return " ".join(part for part in (name, day, amount) if part)


def _bill_title(row: Row, supplier: str, organisation: str) -> str:
    """Names a bill by its number and who sent it: `Faktura F12 fra Fjord AS (org.nr. 987654321) 2026-01-05 …`."""
    number = f"org.nr. {organisation}" if organisation else ""
    sender = f"{supplier} ({number})" if supplier and number else supplier or number
    day, amount = str(row.get("performedAt") or "")[:10], format_amount(row.get("transactionValue"))
    parts = (family_label(row), _document_number(row), f"fra {sender}" if sender else "", day, amount)
    return " ".join(part for part in parts if part)


def _paper_title(fields: Mapping[str, object], number: int) -> str:
    """Names a receipt by its entry; each of several has a number, so that no two have the same title."""
    paper = "Original" if fields["family"] in BILLS else "Kvittering"
    join = " fra" if fields["merchant"] and paper == "Kvittering" else ":"
    return f"{paper}{'' if number == 1 else f' {number}'}{join} {fields['title']}"


def _supplier(row: Row, vendor: object) -> str:
    """Returns the name of who was paid: the shop where a card was used, or else the vendor of the entry."""
    names = (row.get("merchant"), vendor, row.get("supplier"), row.get("vendor"))
    return next((name for name in map(_name, names) if name), "")


def _document_number(row: Row) -> str:
    supplier = row.get("supplier")
    return str(supplier.get("documentNumber") or "") if isinstance(supplier, Mapping) else ""


def _organisation_number(row: Row, vendor: object) -> str:
    """Returns the organisation number of who was paid, as the books or the entry have it."""
    supplier = row.get("supplier")
    number = vendor.get("registrationNumber") if isinstance(vendor, Mapping) else None
    return str(number or (supplier.get("cif") if isinstance(supplier, Mapping) else None) or "")


def _name(value: object) -> str:
    return str(value.get("name") or "").strip() if isinstance(value, Mapping) else ""


def _mappings(value: object) -> list[Mapping[str, object]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _text(value: object) -> str | None:
    return str(value) if value else None
