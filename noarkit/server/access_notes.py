"""Which reads the access log tells of: the setting `access_log` decides, queries note them."""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.server.read_log import Access
from noarkit.server.service import Service
from noarkit.server.wire import Caller

ACCESS_LOG_TYPES = (
    "Saksmappe",
    "Mappe",
    "Moetemappe",
    "Journalpost",
    "Basisregistrering",
    "Moeteregistrering",
    "Arkivnotat",
    "Dokument",
    "Dokumentversjon",
)


def note_reads(service: Service, caller: Caller, page: Mapping[str, object]) -> None:
    """Notes what a page of a query showed, as far as the setting `access_log` asks for it."""
    results, wanted = page["results"], service.settings.access_log
    if wanted == "off" or not isinstance(results, list):
        return
    if wanted == "single" and (len(results) != 1 or page["hasMore"]):
        return
    now_ms = service.now_ms()
    service.read_log.accessed(
        [
            Access(now_ms, caller.name, caller.account, told["type"], told["fields"]["uuid"], int(told["version"]))
            for told in results
            if told["type"] in ACCESS_LOG_TYPES
        ]
    )
