"""Registers and subscriptions that are changed on request: made, changed, taken away. Never top-ups, payouts or
payments, and never export jobs: those belong to the bookkeeping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from noarkit.connectors.spend.calls import Calls, part
from noarkit.errors import UsageFault

PLACES = {
    "tag-groups": "/v0/tag-groups",
    "tags": "/v0/tags",
    "tax-codes": "/v0/tax-codes",
    "vendors": "/v1/vendors",
    "companies": "/v1/companies",
    "employees": "/v2/employees",
    "subscriptions": "/v1/subscriptions",
    "marketplace-integrations": "/v1/marketplace-integrations",
    "accounts": "/v1/chart-of-accounts",
}
CREATED_JOB = "v1.export-job.created"


def create(calls: Calls, register: str, told: Mapping[str, object]) -> Mapping[str, object]:
    """Makes one thing of a register."""
    return calls.write("POST", _place(register), told)


def retrieve(calls: Calls, register: str, one: str) -> Mapping[str, object]:
    """One thing of a register."""
    return calls.read(f"{_place(register)}/{part(one)}")


def update(calls: Calls, register: str, one: str, told: Mapping[str, object]) -> Mapping[str, object]:
    """Changes one thing of a register."""
    return calls.write("PUT", f"{_place(register)}/{part(one)}", told)


def archive(calls: Calls, register: str, one: str) -> Mapping[str, object]:
    """Takes one thing of a register out of use; what was booked on it stays readable."""
    return calls.write("PUT", f"{_place(register)}/{part(one)}", {"archived": True})


def delete(calls: Calls, register: str, one: str) -> None:
    """Takes one thing of a register away."""
    calls.write("DELETE", f"{_place(register)}/{part(one)}")


def create_tag_group(calls: Calls, name: str, code: str, *, archived: bool = False) -> Mapping[str, object]:
    """Makes a group of tags."""
    return create(calls, "tag-groups", {"archived": archived, "code": code, "name": name})


def subscribe(calls: Calls, url: str, events: Sequence[str] = (CREATED_JOB,)) -> tuple[str, str]:
    """Asks for webhooks; the id of the subscription and the secret that its messages are signed with."""
    told = {"endpointUrl": url, "eventTypes": list(events), "status": "ACTIVE", "endpointAuth": {"type": "NONE"}}
    one = str(create(calls, "subscriptions", told)["id"])
    return one, str(calls.read(f"{PLACES['subscriptions']}/{part(one)}/secret")["secretKey"])


def _place(register: str) -> str:
    if register not in PLACES:
        raise UsageFault(what="bad-value", where=register)
    return PLACES[register]
