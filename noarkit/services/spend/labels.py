"""What a record of the service says, in words for people: a label for each member, dates as days, amounts with their
currency, codes with their names. What has no label is left out; the data beside the page has it.

The words are those of the archive, Norwegian, as the titles that recipes make.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from noarkit.services.readable import format_time
from noarkit.services.spend.money import format_amount

FAMILIES = {
    "BALANCE_AMENDMENT": "Saldojustering",
    "BILL_INVOICE": "Faktura",
    "BILL_INVOICE_PAYMENT": "Betaling av faktura",
    "CARD_PURCHASE": "Kortkjøp",
    "CASHBACK": "Bonus",
    "CREDIT_NOTE": "Kreditnota",
    "MILEAGE": "Kjøregodtgjørelse",
    "OUT_OF_POCKET": "Utlegg",
    "OVERDRAFT": "Overtrekk",
    "PER_DIEM": "Diett",
    "REIMBURSEMENT": "Refusjon",
    "WALLET": "Overføring",
}
OWN_INVOICE = "Faktura fra tjenesten"
STATES = {
    "ABANDONED": "oppgitt",
    "CANCELLED": "avbrutt",
    "COMPLETED": "fullført",
    "COMPLETED_EXTERNALLY": "fullført utenfor tjenesten",
    "COMPLETED_WITH_ERRORS": "fullført med feil",
    "CREATED": "opprettet",
    "DRAFT": "utkast",
    "ERROR": "feil",
    "EXPORTED": "eksportert",
    "EXPORTING": "eksporteres",
    "FAILED": "mislykket",
    "IN_PROGRESS": "pågår",
    "NOT_CREATED": "ikke opprettet",
    "NOT_EXPORTED": "ikke eksportert",
    "NOT_OK": "ikke i orden",
    "NOT_REQUIRED": "ikke nødvendig",
    "NOT_SET": "ikke angitt",
    "OK": "i orden",
    "PENDING": "venter",
    "QUEUED": "i kø",
    "REJECTED": "avvist",
    "SUCCESSFUL": "eksportert",
    "WAITING_FOR_COMPANY_REVIEWER": "venter på kontrollør",
    "WAITING_FOR_EXPENSE_OWNER": "venter på den utgiften gjelder",
    "WAITING_FOR_REVIEWER": "venter på kontrollør",
    "WAITING_FOR_TAG_REVIEWER": "venter på kontrollør",
    "WAITING_FOR_TEAM_REVIEWER": "venter på kontrollør",
}
_VALUES = {
    **STATES,
    **FAMILIES,
    "ACTIVE": "aktiv",
    "ARCHIVED": "arkivert",
    "ATM": "minibank",
    "EXCLUSIVE": "kommer i tillegg",
    "BILL_INVOICE_PAYMENT_RECEIVED": "betaling mottatt",
    "BILL_INVOICE_PAYMENT_RETURNED": "betaling returnert",
    "FEE": "gebyr",
    "INCLUSIVE": "er medregnet",
    "INTEREST": "renter",
    "IN_STORE": "i butikk",
    "LOAD": "innskudd",
    "ONLINE": "på nett",
    "REIMBURSEMENT_TO_COMPANY": "tilbakebetalt til virksomheten",
    "REIMBURSEMENT_TO_EMPLOYEE": "tilbakebetalt til den ansatte",
    "REIMBURSEMENT_TO_EMPLOYEE_REFUND": "tilbakebetaling til den ansatte, reversert",
    "REVERSE": "omvendt avgiftsplikt",
    "UNLOAD": "uttak",
    "WITHDRAWAL": "uttak",
}
_RECORD = {"code": "Kode", "name": "Navn", "id": "Id", "archived": "Arkivert"}
_CODE_MEMBERS = frozenset({"code", "name", "rate", "type"})
SPLIT_LABELS = {"accountCode": "Konto", "transactionValue": "Beløp", "totalBillValue": "Beløp i regnskapet"}
JOB_LABELS = {
    "status": "Status",
    "createdAt": "Opprettet",
    "startedAt": "Startet",
    "completedAt": "Ferdig",
    "expiredAt": "Utløpt",
    "numberOfItems": "Antall bilag",
    "failureReason": "Årsak til feil",
    "id": "Id",
}
JOB_ITEM_LABELS = {
    "accountingEntryId": "Bilag",
    "status": "Status",
    "exportedAt": "Eksportert",
    "externalId": "Id i regnskapet",
    "failureReason": "Årsak til feil",
}
REGISTER_LABELS: Mapping[str, Mapping[str, str]] = {
    "companies": {"name": "Navn", "registrationNumber": "Organisasjonsnummer", "address": "Adresse", "id": "Id"},
    "employees": {"code": "Kode", "id": "Id"},
    "vendors": {
        "code": "Kode",
        "name": "Navn",
        "registrationNumber": "Organisasjonsnummer",
        "taxRegistrationNumber": "Avgiftsnummer",
        "externalId": "Nummer i regnskapet",
        "country": "Land",
        "defaultCurrency": "Valuta",
        "state": "Status",
        "id": "Id",
    },
    "accounts": {**_RECORD, "externalId": "Nummer i regnskapet", "taxCodeExternalId": "Mva-kode i regnskapet"},
    "tax-codes": {**_RECORD, "rate": "Sats", "type": "Merverdiavgiften"},
    "tag-groups": {**_RECORD, "totalTagsCount": "Antall merkelapper"},
    "tags": {**_RECORD, "groupId": "Merkelappgruppe"},
}


def describe(record: Mapping[str, object], labels: Mapping[str, str]) -> dict[str, object]:
    """Describes the members of a record that have a label, in the order of the labels.

    >>> describe({"status": "completed", "createdAt": "2026-01-05T10:00:00.000Z", "x": 1}, JOB_LABELS)
    {'Status': 'fullført', 'Opprettet': '2026-01-05 kl. 10.00 UTC'}
    """
    return {label: format_value(record[name]) for name, label in labels.items() if record.get(name) is not None}


def format_value(value: object) -> object:
    """Formats a value for people: an amount, a code with its name, a time, a word for a state; any other as it is."""
    if isinstance(value, Mapping):
        if "minors" in value:
            return format_amount(value)
        return format_code(value) if value.keys() <= _CODE_MEMBERS else format_address(value)
    if isinstance(value, str):
        return _VALUES.get(value.upper()) or _own_invoice(value) or format_time(value)
    if isinstance(value, Sequence):
        return [format_value(part) for part in value]
    return value


def _own_invoice(text: str) -> str:
    """Words for what the service itself is paid for, whatever it calls itself; empty for anything else."""
    if text.endswith("_INVOICE_REFUND"):
        return "faktura fra tjenesten, reversert"
    return OWN_INVOICE if text.endswith("_INVOICE") else ""


def format_code(value: object) -> str:
    """Formats a code with its name: `4000 Konto 4000`."""
    parts = (value.get("code"), value.get("name")) if isinstance(value, Mapping) else ()
    return " ".join(str(part) for part in parts if part)


def format_address(value: Mapping[str, object]) -> str:
    """Formats the parts of an address on one line."""
    names = ("addressLine1", "addressLine2", "postalCode", "locality", "region", "country")
    return ", ".join(str(value[name]) for name in names if value.get(name))
