"""Writes reads to the access log, as far as the setting `access_log` asks for it."""

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
    """Notes the objects of a query's answer in the access log: none, a single one, or all, by the setting."""
    results, mode = page["results"], service.settings.access_log
    if mode == "off" or not isinstance(results, list):
        return
    if mode == "single" and (len(results) != 1 or page["hasMore"]):
        return
    now_ms = service.now_ms()
    service.read_log.note_reads(
        [
            Access(
                now_ms, caller.name, caller.account, result["type"], result["fields"]["uuid"], int(result["version"])
            )
            for result in results
            if result["type"] in ACCESS_LOG_TYPES
        ]
    )
