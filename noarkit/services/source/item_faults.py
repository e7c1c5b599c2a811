"""What became of something that a service did not give: gone, not for us to see, or not to be had for another reason.

An answer of 404 or 410 says that it is gone, which no right changes; only 401 and 403 are about rights.
"""

from __future__ import annotations

from noarkit.errors import ItemGone, ItemUnreadable, ItemVanished, NoarkitError, ServiceFault, SourceFault
from noarkit.services.port import FetchFailure

_GONE = (404, 410)
_DENIED = (401, 403)


def content_fault(fault: ServiceFault | ItemVanished, locator: str, service: str) -> SourceFault:
    """Returns the fault of a content that a service did not give."""
    if isinstance(fault, ItemVanished) or fault.data.get("status") in _GONE:
        return ItemGone(key=locator, service=service)
    if fault.data.get("status") in _DENIED:
        return ItemUnreadable(key=locator, why=reason_of(fault))
    return SourceFault(key=locator, why=reason_of(fault))


def failure_code(failure: FetchFailure) -> str:
    """Returns the code of the fault under which an item that could not be fetched is set aside."""
    status = failure.data.get("status")
    if status in _GONE:
        return ItemGone.code
    return ItemUnreadable.code if status in _DENIED else SourceFault.code


def reason_of(fault: NoarkitError) -> str:
    """Returns why a service did not give something, in a word of its own or ours."""
    reason = fault.data.get("why")
    return str(reason) if reason else fault.code
