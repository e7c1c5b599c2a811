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
    from noarkit.api.approving import approve
    from noarkit.api.archive import Archive
    from noarkit.api.browsing import open_catalogue
    from noarkit.api.bundles import acknowledge, answer_request, check_receipt, pack, receive
    from noarkit.api.closing import close
    from noarkit.api.comparing import compare
    from noarkit.api.converting import convert
    from noarkit.api.deriving import (
        DeriveResult,
        TakeResult,
        accept_copies,
        check_copies,
        derive,
        seal_copies,
        take_copies,
    )
    from noarkit.api.estimating import estimate
    from noarkit.api.extracting import ExtractOptions, FondsResult, extract, extract_each
    from noarkit.api.finding_persons import PersonReport, PersonSearchOptions, find_person
    from noarkit.api.ingesting import ingest
    from noarkit.api.looking import FetchedDocument, ListedItem, ShownItem, get, ls, show
    from noarkit.api.merging import merge_runs
    from noarkit.api.origins import open_source
    from noarkit.api.planning import plan
    from noarkit.api.removing import erase_traces, forget_runs
    from noarkit.api.reporting import report
    from noarkit.api.retracting import retract
    from noarkit.api.retrying import retry
    from noarkit.api.safekeeping import backup, check_archive
    from noarkit.api.scanning import scan
    from noarkit.api.searching import DocumentsRead, FoundItems, read_documents, search
    from noarkit.api.status import StatusResult, status
    from noarkit.api.validating import validate
    from noarkit.api.verifying import verify
    from noarkit.api.writing_back import write_back
    from noarkit.catalogue.catalogue import Catalogue
    from noarkit.catalogue.search import SearchQuery
    from noarkit.config import Config
    from noarkit.copies.checking import CheckCopiesResult
    from noarkit.embedded import ArchiveCheck, BackupResult
    from noarkit.errors import NoarkitError
    from noarkit.events import Event, Listener
    from noarkit.extraction.convert import ConvertResult
    from noarkit.extraction.run import ExtractResult
    from noarkit.forms.comparison import CompareResult
    from noarkit.forms.validation import ValidateResult
    from noarkit.graph.entity import Content, SetAside, Skipped
    from noarkit.loading.approval import Approval
    from noarkit.loading.close import CloseResult
    from noarkit.loading.engines.assembly import IngestResult
    from noarkit.loading.estimation.estimate import EstimateResult
    from noarkit.loading.numbers import Numbers
    from noarkit.loading.options import Cluster
    from noarkit.loading.plan import PackResult, PlanResult
    from noarkit.loading.retraction.run import RetractResult
    from noarkit.loading.stopping import StopRequest
    from noarkit.loading.verification import VerifyResult
    from noarkit.recipes import Recipe, read_recipe
    from noarkit.records import Source
    from noarkit.retention.erasing import Erasure
    from noarkit.retention.forgetting import ForgottenRun
    from noarkit.retention.policy import KeepPolicy
    from noarkit.services.source.writeback import WriteBackResult
    from noarkit.settings import Settings, read_settings
    from noarkit.sources.reader import Reader, Record, from_reader
    from noarkit.sources.scan import ScanResult

__all__ = [
    "Approval",
    "Archive",
    "ArchiveCheck",
    "BackupResult",
    "Catalogue",
    "CheckCopiesResult",
    "CloseResult",
    "Cluster",
    "CompareResult",
    "Config",
    "Content",
    "ConvertResult",
    "DeriveResult",
    "DocumentsRead",
    "Erasure",
    "EstimateResult",
    "Event",
    "ExtractOptions",
    "ExtractResult",
    "FetchedDocument",
    "FondsResult",
    "ForgottenRun",
    "FoundItems",
    "IngestResult",
    "KeepPolicy",
    "ListedItem",
    "Listener",
    "NoarkitError",
    "Numbers",
    "PackResult",
    "PersonReport",
    "PersonSearchOptions",
    "PlanResult",
    "Reader",
    "Recipe",
    "Record",
    "RetractResult",
    "ScanResult",
    "SearchQuery",
    "SetAside",
    "Settings",
    "ShownItem",
    "Skipped",
    "Source",
    "StatusResult",
    "StopRequest",
    "TakeResult",
    "ValidateResult",
    "VerifyResult",
    "WriteBackResult",
    "__version__",
    "accept_copies",
    "acknowledge",
    "answer_request",
    "approve",
    "backup",
    "check_archive",
    "check_copies",
    "check_receipt",
    "close",
    "compare",
    "convert",
    "derive",
    "erase_traces",
    "estimate",
    "extract",
    "extract_each",
    "find_person",
    "forget_runs",
    "from_reader",
    "get",
    "ingest",
    "ls",
    "merge_runs",
    "open_catalogue",
    "open_source",
    "pack",
    "plan",
    "read_documents",
    "read_recipe",
    "read_settings",
    "receive",
    "report",
    "retract",
    "retry",
    "scan",
    "seal_copies",
    "search",
    "show",
    "status",
    "take_copies",
    "validate",
    "verify",
    "write_back",
]

# Imported when first asked for, so that `import noarkit` is quick and a command loads only what it needs.
_HOMES = {
    "KeepPolicy": "noarkit.retention.policy",
    "ForgottenRun": "noarkit.retention.forgetting",
    "Erasure": "noarkit.retention.erasing",
    "forget_runs": "noarkit.api.removing",
    "erase_traces": "noarkit.api.removing",
    "PersonSearchOptions": "noarkit.api.finding_persons",
    "PersonReport": "noarkit.api.finding_persons",
    "find_person": "noarkit.api.finding_persons",
    "Approval": "noarkit.loading.approval",
    "Archive": "noarkit.api.archive",
    "ArchiveCheck": "noarkit.embedded",
    "BackupResult": "noarkit.embedded",
    "Catalogue": "noarkit.catalogue.catalogue",
    "CheckCopiesResult": "noarkit.copies.checking",
    "CloseResult": "noarkit.loading.close",
    "Cluster": "noarkit.api.clustering",
    "CompareResult": "noarkit.forms.comparison",
    "Config": "noarkit.config",
    "Content": "noarkit.graph.entity",
    "ConvertResult": "noarkit.extraction.convert",
    "DeriveResult": "noarkit.api.deriving",
    "DocumentsRead": "noarkit.api.searching",
    "EstimateResult": "noarkit.loading.estimation.estimate",
    "Event": "noarkit.events",
    "ExtractOptions": "noarkit.api.extracting",
    "ExtractResult": "noarkit.extraction.run",
    "FetchedDocument": "noarkit.api.looking",
    "FondsResult": "noarkit.api.extracting",
    "FoundItems": "noarkit.api.searching",
    "IngestResult": "noarkit.loading.engines.assembly",
    "ListedItem": "noarkit.api.looking",
    "Listener": "noarkit.events",
    "NoarkitError": "noarkit.errors",
    "Numbers": "noarkit.loading.numbers",
    "PackResult": "noarkit.loading.plan",
    "PlanResult": "noarkit.loading.plan",
    "Reader": "noarkit.sources.reader",
    "Recipe": "noarkit.recipes",
    "Record": "noarkit.sources.reader",
    "RetractResult": "noarkit.loading.retraction.run",
    "ScanResult": "noarkit.sources.scan",
    "SearchQuery": "noarkit.catalogue.search",
    "SetAside": "noarkit.graph.entity",
    "Settings": "noarkit.settings",
    "ShownItem": "noarkit.api.looking",
    "Skipped": "noarkit.graph.entity",
    "Source": "noarkit.records",
    "StatusResult": "noarkit.api.status",
    "StopRequest": "noarkit.loading.coordinator",
    "ValidateResult": "noarkit.forms.validation",
    "VerifyResult": "noarkit.loading.verification",
    "WriteBackResult": "noarkit.services.source.writeback",
    "accept_copies": "noarkit.api.deriving",
    "TakeResult": "noarkit.api.deriving",
    "take_copies": "noarkit.api.deriving",
    "acknowledge": "noarkit.api.bundles",
    "answer_request": "noarkit.api.bundles",
    "approve": "noarkit.api.approving",
    "backup": "noarkit.api.safekeeping",
    "check_archive": "noarkit.api.safekeeping",
    "check_copies": "noarkit.api.deriving",
    "seal_copies": "noarkit.api.deriving",
    "check_receipt": "noarkit.api.bundles",
    "close": "noarkit.api.closing",
    "compare": "noarkit.api.comparing",
    "convert": "noarkit.api.converting",
    "derive": "noarkit.api.deriving",
    "estimate": "noarkit.api.estimating",
    "extract": "noarkit.api.extracting",
    "extract_each": "noarkit.api.extracting",
    "from_reader": "noarkit.sources.reader",
    "get": "noarkit.api.looking",
    "ingest": "noarkit.api.ingesting",
    "ls": "noarkit.api.looking",
    "open_catalogue": "noarkit.api.browsing",
    "open_source": "noarkit.api.origins",
    "pack": "noarkit.api.bundles",
    "plan": "noarkit.api.planning",
    "read_documents": "noarkit.api.searching",
    "read_recipe": "noarkit.recipes",
    "read_settings": "noarkit.settings",
    "receive": "noarkit.api.bundles",
    "report": "noarkit.api.reporting",
    "merge_runs": "noarkit.api.merging",
    "retract": "noarkit.api.retracting",
    "retry": "noarkit.api.retrying",
    "scan": "noarkit.api.scanning",
    "search": "noarkit.api.searching",
    "show": "noarkit.api.looking",
    "status": "noarkit.api.status",
    "validate": "noarkit.api.validating",
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
    from noarkit.wings import require_wing_of

    require_wing_of(home)
    value: object = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
