"""noarkit moves records in bulk into a Noark 5 archive and out again, and proves that nothing was lost.

    import noarkit

    planned = noarkit.plan("/srv/case-files", "runs/case-files")
    result = noarkit.ingest("runs/case-files", archive="embedded:rehearsal")
    proof = noarkit.verify("runs/case-files", depth="bytes")

A run is a folder: `plan` makes and freezes it, `ingest` loads it (the same call again goes on where the last stopped),
`verify` asks the archive whether all of it arrived. The functions print nothing and never exit; they raise faults of
`noarkit.errors`, and send `noarkit.events` to a listener.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from noarkit.errors.base import NoarkitError as _NoarkitError
from noarkit.version import __version__

if TYPE_CHECKING:
    from noarkit.api.archive import Archive
    from noarkit.api.bundles import acknowledge, check_receipt, pack, receive
    from noarkit.api.closing import close
    from noarkit.api.comparing import compare
    from noarkit.api.converting import convert
    from noarkit.api.deriving import DeriveResult, accept_copies, check_copies, derive
    from noarkit.api.extracting import ExtractOptions, FondsResult, extract, extract_each
    from noarkit.api.ingesting import ingest
    from noarkit.api.origins import open_source
    from noarkit.api.planning import plan
    from noarkit.api.reporting import report
    from noarkit.api.retrying import retry
    from noarkit.api.scanning import scan
    from noarkit.api.status import StatusResult, status
    from noarkit.api.verifying import verify
    from noarkit.api.writing_back import write_back
    from noarkit.config import Config
    from noarkit.copies.checking import CheckCopiesResult
    from noarkit.errors import NoarkitError
    from noarkit.events import Event, Listener
    from noarkit.extraction.convert import ConvertResult
    from noarkit.extraction.run import ExtractResult
    from noarkit.forms.comparison import CompareResult
    from noarkit.forms.validation import ValidateResult, validate
    from noarkit.graph.entity import Content, SetAside, Skipped
    from noarkit.loading.close import CloseResult
    from noarkit.loading.coordinator import StopRequest
    from noarkit.loading.engines.assembly import IngestResult
    from noarkit.loading.numbers import Numbers
    from noarkit.loading.plan import PackResult, PlanResult
    from noarkit.loading.verification import VerifyResult
    from noarkit.recipes import Recipe, read_recipe
    from noarkit.records import Source
    from noarkit.services.source.writeback import WriteBackResult
    from noarkit.settings import Settings, read_settings
    from noarkit.sources.reader import Reader, Record, from_reader
    from noarkit.sources.scan import ScanResult

__all__ = [
    "Archive",
    "CheckCopiesResult",
    "CloseResult",
    "CompareResult",
    "Config",
    "Content",
    "ConvertResult",
    "DeriveResult",
    "Event",
    "ExtractOptions",
    "ExtractResult",
    "FondsResult",
    "IngestResult",
    "Listener",
    "NoarkitError",
    "Numbers",
    "PackResult",
    "PlanResult",
    "Reader",
    "Recipe",
    "Record",
    "ScanResult",
    "SetAside",
    "Settings",
    "Skipped",
    "Source",
    "StatusResult",
    "StopRequest",
    "ValidateResult",
    "VerifyResult",
    "WriteBackResult",
    "__version__",
    "accept_copies",
    "acknowledge",
    "check_copies",
    "check_receipt",
    "close",
    "compare",
    "convert",
    "derive",
    "extract",
    "extract_each",
    "from_reader",
    "ingest",
    "open_source",
    "pack",
    "plan",
    "read_recipe",
    "read_settings",
    "receive",
    "report",
    "retry",
    "scan",
    "status",
    "validate",
    "verify",
    "write_back",
]

# Imported when first asked for, so that `import noarkit` is quick and a command loads only what it needs.
_HOMES = {
    "Archive": "noarkit.api.archive",
    "CheckCopiesResult": "noarkit.copies.checking",
    "CloseResult": "noarkit.loading.close",
    "CompareResult": "noarkit.forms.comparison",
    "Config": "noarkit.config",
    "Content": "noarkit.graph.entity",
    "ConvertResult": "noarkit.extraction.convert",
    "DeriveResult": "noarkit.api.deriving",
    "Event": "noarkit.events",
    "ExtractOptions": "noarkit.api.extracting",
    "ExtractResult": "noarkit.extraction.run",
    "FondsResult": "noarkit.api.extracting",
    "IngestResult": "noarkit.loading.engines.assembly",
    "Listener": "noarkit.events",
    "NoarkitError": "noarkit.errors",
    "Numbers": "noarkit.loading.numbers",
    "PackResult": "noarkit.loading.plan",
    "PlanResult": "noarkit.loading.plan",
    "Reader": "noarkit.sources.reader",
    "Recipe": "noarkit.recipes",
    "Record": "noarkit.sources.reader",
    "ScanResult": "noarkit.sources.scan",
    "SetAside": "noarkit.graph.entity",
    "Settings": "noarkit.settings",
    "Skipped": "noarkit.graph.entity",
    "Source": "noarkit.records",
    "StatusResult": "noarkit.api.status",
    "StopRequest": "noarkit.loading.coordinator",
    "ValidateResult": "noarkit.forms.validation",
    "VerifyResult": "noarkit.loading.verification",
    "WriteBackResult": "noarkit.services.source.writeback",
    "accept_copies": "noarkit.api.deriving",
    "acknowledge": "noarkit.api.bundles",
    "check_copies": "noarkit.api.deriving",
    "check_receipt": "noarkit.api.bundles",
    "close": "noarkit.api.closing",
    "compare": "noarkit.api.comparing",
    "convert": "noarkit.api.converting",
    "derive": "noarkit.api.deriving",
    "extract": "noarkit.api.extracting",
    "extract_each": "noarkit.api.extracting",
    "from_reader": "noarkit.sources.reader",
    "ingest": "noarkit.api.ingesting",
    "open_source": "noarkit.api.origins",
    "pack": "noarkit.api.bundles",
    "plan": "noarkit.api.planning",
    "read_recipe": "noarkit.recipes",
    "read_settings": "noarkit.settings",
    "receive": "noarkit.api.bundles",
    "report": "noarkit.api.reporting",
    "retry": "noarkit.api.retrying",
    "scan": "noarkit.api.scanning",
    "status": "noarkit.api.status",
    "validate": "noarkit.forms.validation",
    "verify": "noarkit.api.verifying",
    "write_back": "noarkit.api.writing_back",
}


def _sentence(fault: NoarkitError) -> str:
    """The sentence of a fault, in English; the words are read when it is first asked for."""
    from noarkit.words.texts import sentence

    return sentence(fault)


_NoarkitError.use_sentences(_sentence)


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'noarkit' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
