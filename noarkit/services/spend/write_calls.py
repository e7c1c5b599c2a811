"""Changes registers and subscriptions on request, as far as the service allows for each. Never top-ups, payouts or
payments, and never export jobs: those belong to the bookkeeping.

The service replaces an object whole. A change therefore reads it first, and sends the unchanged members along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from noarkit.errors import UsageFault
from noarkit.services.spend.calls import PLACES, Calls, path_part

CREATED_JOB = "v1.export-job.created"
# The writable members of each register; a register that is missing here is read only.
_WRITABLE = {
    "tag-groups": ("archived", "code", "metadata", "name"),
    "tags": ("archived", "code", "name"),
    "tax-codes": (
        *("archived", "companyId", "name", "rate", "type", "code"),
        *("ingoingTaxAccount", "outgoingTaxAccount"),
    ),
    "vendors": (
        *("companyId", "defaultCurrency", "externalId", "name", "state", "code", "country"),
        *("registrationNumber", "taxRegistrationNumber"),
    ),
    "accounts": ("archived", "name", "code", "metadata", "taxCodeExternalId"),
    "subscriptions": ("endpointUrl", "eventTypes", "customHeaders", "endpointAuth", "status"),
}
_OF_A_COMPANY = frozenset({"tax-codes", "vendors", "accounts"})
_NEVER_ARCHIVED = frozenset({"subscriptions"})
_NEVER_DELETED = frozenset({"vendors"})


def create(calls: Calls, register: str, values: Mapping[str, object]) -> Mapping[str, object]:
    """Creates an object of a register; a tag is created under the group that `groupId` names."""
    _check(register)
    body = dict(values)
    place = _place(register)
    if register == "tags":
        group = str(body.pop("groupId", ""))
        place = f"{PLACES['tag-groups']}/{path_part(group)}/tags"
    if "archived" in _WRITABLE[register]:
        body.setdefault("archived", False)
    if register in _OF_A_COMPANY and calls.company:
        body.setdefault("companyId", calls.company)
    if register == "accounts" and "code" in body:
        body.setdefault("externalId", body["code"])
    return calls.write("POST", place, body)


def retrieve(calls: Calls, register: str, record_id: str) -> Mapping[str, object]:
    """Reads one object of a register."""
    return calls.read(f"{_place(register)}/{path_part(record_id)}")


def update(calls: Calls, register: str, record_id: str, values: Mapping[str, object]) -> Mapping[str, object]:
    """Changes one object of a register."""
    _check(register)
    current = retrieve(calls, register, record_id)
    unchanged = {name: current[name] for name in _WRITABLE[register] if current.get(name) is not None}
    return calls.write("PUT", f"{_place(register)}/{path_part(record_id)}", {**unchanged, **values})


def archive(calls: Calls, register: str, record_id: str) -> Mapping[str, object]:
    """Archives one object of a register: out of use, but bookings on it stay readable."""
    _check(register, but_not=_NEVER_ARCHIVED)
    if register != "vendors":
        return update(calls, register, record_id, {"archived": True})
    calls.write("POST", f"{_place(register)}/{path_part(record_id)}:archive")
    return retrieve(calls, register, record_id)


def delete(calls: Calls, register: str, record_id: str) -> None:
    """Deletes one object of a register. Raises `UsageFault` for vendors, which are archived instead."""
    _check(register, but_not=_NEVER_DELETED)
    calls.write("DELETE", f"{_place(register)}/{path_part(record_id)}")


def create_tag_group(calls: Calls, name: str, code: str, *, is_archived: bool = False) -> Mapping[str, object]:
    """Creates a group of tags."""
    return create(calls, "tag-groups", {"archived": is_archived, "code": code, "name": name})


def subscribe(calls: Calls, url: str, events: Sequence[str] = (CREATED_JOB,)) -> tuple[str, str]:
    """Subscribes to webhooks; returns the id of the subscription and the signing secret of its messages."""
    subscription = {
        "endpointUrl": url,
        "eventTypes": list(events),
        "status": "ACTIVE",
        "endpointAuth": {"type": "NONE"},
    }
    subscription_id = str(create(calls, "subscriptions", subscription)["id"])
    return subscription_id, str(
        calls.read(f"{PLACES['subscriptions']}/{path_part(subscription_id)}/secret")["secretKey"]
    )


def _check(register: str, but_not: frozenset[str] = frozenset()) -> None:
    """Raises `UsageFault` for an operation that the service does not allow on a register."""
    _place(register)
    if register not in _WRITABLE or register in but_not:
        raise UsageFault(what="bad-value", where=register)


def _place(register: str) -> str:
    if register not in PLACES:
        raise UsageFault(what="bad-value", where=register)
    return PLACES[register]
