"""The receipts of an entry: which are listed, which the archive has and the service no longer lists, and which are gone
although the entry, or the list, still names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from noarkit.errors import ItemVanished, ServiceDenied, ServiceRefused
from noarkit.graph.entity import Content
from noarkit.services.known_keys import KnownKeys, document_key
from noarkit.services.paging import Row
from noarkit.services.port import DELETION_KEY_END, Deletion, Omission
from noarkit.services.spend.calls import ORIGINAL, Calls, path_part

PAGE, DATA = "page", "data"
"""The identities of the documents that are made of an entry."""
RECEIPT_GONE = "receipt-gone"
_GONE = (404, 410)
_NOT_LET_IN = 401
# every type that is published; what is none of them is told by its bytes alone
_ENDINGS = {
    "application/pdf": "pdf",
    "application/postscript": "ps",
    "application/xml": "xml",
    "image/gif": "gif",
    "image/heic": "heic",
    "image/heif": "heif",
    "image/jpeg": "jpg",
    "image/png": "png",
    "text/xml": "xml",
}


@dataclass(slots=True)
class EntryReceipts:
    """The receipts that are archived with an entry, oldest first, and what is told of the others. `come_late` says that
    the archive has the entry, and had none of its receipts."""

    rows: list[Row]
    remarks: list[Deletion | Omission] = field(default_factory=list)
    come_late: bool = False


def read_receipts(
    calls: Calls, key: str, entry: Row, listed_receipts: Iterable[Row], known_keys: KnownKeys, *, was_left_out: bool
) -> EntryReceipts:
    """Decides on the receipts of the entry with this key.

    One that the archive does not have although it has the entry, or that an earlier run may have stumbled over, is
    opened first: where it is gone, its entry is archived without it.
    """
    entry_id = str(entry["id"])
    listed_rows = {str(row["id"]): row for row in listed_receipts}
    is_known = known_keys.has(document_key(key, PAGE))
    archived_ids = set(_archived_receipts(known_keys, key))
    remarks: list[Deletion | Omission] = []
    for receipt_id in sorted(archived_ids - listed_rows.keys()):
        if not known_keys.is_gone(receipt_key(key, receipt_id)):
            remarks.append(Deletion("entries", f"{receipt_key(key, receipt_id)}{DELETION_KEY_END}", None))
    for receipt_id in _unlisted(entry, listed_rows, archived_ids):
        row = calls.find_receipt(path_part(entry_id), path_part(receipt_id))
        if row is None:
            remarks.append(_omission(key, receipt_id))
        elif str(row.get("fileType") or ORIGINAL) == ORIGINAL:
            listed_rows[receipt_id] = row
    if is_known or was_left_out:
        for receipt_id in sorted(listed_rows.keys() - archived_ids):
            if is_gone(calls, entry_id, receipt_id):
                del listed_rows[receipt_id]
                remarks.append(_omission(key, receipt_id))
    # a late one comes last, so that the others keep their places and titles
    rows = sorted(listed_rows.values(), key=lambda row: (str(row.get("createdAt")), str(row["id"])))
    return EntryReceipts(rows, remarks, come_late=is_known and not archived_ids)


def is_gone(calls: Calls, entry_id: str, receipt_id: str) -> bool:
    """True if a receipt, or its file, is not there. Its bytes are not read."""
    try:
        with calls.receipt(path_part(entry_id), path_part(receipt_id)):
            return False
    except ItemVanished:
        return True
    except (ServiceRefused, ServiceDenied) as fault:
        if fault.data.get("status") == _NOT_LET_IN:
            raise  # not this receipt alone
        return fault.data.get("status") in _GONE  # what else may be wrong is for the load to say


def receipt_key(key: str, receipt_id: str) -> str:
    """Builds the key of a receipt of the entry with this key."""
    return f"{key}:receipt:{quote(receipt_id, safe='')}"


def receipt_content(entry: Row, receipt: Row) -> Content:
    """Builds the content of a receipt. It is named by its id, and has the ending of its published type."""
    media_type = str(receipt.get("mimeType") or "").partition(";")[0].strip().lower()
    size = receipt.get("sizeInBytes")
    entry_part, receipt_part = (quote(str(row["id"]), safe="") for row in (entry, receipt))
    return Content(
        f"receipt:{entry_part}/{receipt_part}",
        f"kvittering {receipt['id']}.{_ENDINGS.get(media_type, 'bin')}",
        size if isinstance(size, int) else None,
        media_type=media_type or None,
        identity=f"receipt:{receipt['id']}",
    )


def _omission(key: str, receipt_id: str) -> Omission:
    return Omission("entries", receipt_key(key, receipt_id), RECEIPT_GONE)


def _unlisted(entry: Row, listed_ids: Iterable[str], archived_ids: set[str]) -> Sequence[str]:
    """The receipts that an entry names, and neither the list nor the archive has."""
    named_ids = entry.get("receiptIds")
    other_ids = {*listed_ids, *archived_ids}
    return (
        [str(receipt_id) for receipt_id in named_ids if str(receipt_id) not in other_ids]
        if isinstance(named_ids, list)
        else []
    )


def _archived_receipts(known_keys: KnownKeys, key: str) -> Iterator[str]:
    prefix = document_key(key, "receipt:")
    return (unquote(name.removeprefix(prefix)) for name in known_keys.under(prefix))
