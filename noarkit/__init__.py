"""noarkit moves records in bulk into a Noark 5 archive and out again, and proves that nothing was lost.

    import noarkit

    planned = noarkit.plan("/srv/case-files", "runs/case-files")
    result = noarkit.ingest("runs/case-files", archive="embedded:rehearsal")
    proof = noarkit.verify("runs/case-files", depth="bytes")

A run is a folder: `plan` makes and freezes it, `ingest` loads it (the same call again goes on where the last stopped),
`verify` proves it from outside. The functions print nothing and never exit; they raise faults of `noarkit.errors`, and
tell `noarkit.events` to whoever listens.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from noarkit.archive_client import Archive
    from noarkit.config import Config
    from noarkit.deliveries import ExtractOptions, compare, convert, extract
    from noarkit.engine.assembly import IngestResult
    from noarkit.errors import NoarkitError
    from noarkit.events import Event, Listener
    from noarkit.extract.convert import ConvertResult
    from noarkit.extract.run import ExtractResult
    from noarkit.graph.entity import Content, SetAside, Skipped
    from noarkit.ingestion import close, ingest, plan, read_settings, scan, verify
    from noarkit.load.close import CloseResult
    from noarkit.load.coordinator import StopRequest
    from noarkit.load.numbers import Numbers
    from noarkit.load.plan import PlanResult
    from noarkit.load.verification import VerifyResult
    from noarkit.origins import open_source
    from noarkit.settings import Settings
    from noarkit.sources.port import Source
    from noarkit.sources.reader import Reader, Record, from_reader
    from noarkit.sources.recipe import Recipe, read_recipe
    from noarkit.sources.scan import ScanResult
    from noarkit.validate import ValidateResult, validate
    from noarkit.validate.compare import CompareResult

__version__ = "0.1.0"

__all__ = [
    "Archive",
    "CloseResult",
    "CompareResult",
    "Config",
    "Content",
    "ConvertResult",
    "Event",
    "ExtractOptions",
    "ExtractResult",
    "IngestResult",
    "Listener",
    "NoarkitError",
    "Numbers",
    "PlanResult",
    "Reader",
    "Recipe",
    "Record",
    "ScanResult",
    "SetAside",
    "Settings",
    "Skipped",
    "Source",
    "StopRequest",
    "ValidateResult",
    "VerifyResult",
    "__version__",
    "close",
    "compare",
    "convert",
    "extract",
    "from_reader",
    "ingest",
    "open_source",
    "plan",
    "read_recipe",
    "read_settings",
    "scan",
    "validate",
    "verify",
]

# Imported when first asked for, so that `import noarkit` is quick and a command loads only what it needs. Where the
# public name is another than the one in its module, that one stands behind the colon.
_HOMES = {
    "Archive": "noarkit.archive_client",
    "CloseResult": "noarkit.load.close",
    "CompareResult": "noarkit.validate.compare",
    "Config": "noarkit.config",
    "Content": "noarkit.graph.entity",
    "ConvertResult": "noarkit.extract.convert",
    "Event": "noarkit.events",
    "ExtractResult": "noarkit.extract.run",
    "IngestResult": "noarkit.engine.assembly",
    "Listener": "noarkit.events",
    "NoarkitError": "noarkit.errors",
    "Numbers": "noarkit.load.numbers",
    "PlanResult": "noarkit.load.plan",
    "Reader": "noarkit.sources.reader",
    "Recipe": "noarkit.sources.recipe",
    "Record": "noarkit.sources.reader",
    "ValidateResult": "noarkit.validate",
    "ScanResult": "noarkit.sources.scan",
    "SetAside": "noarkit.graph.entity",
    "Settings": "noarkit.settings",
    "Skipped": "noarkit.graph.entity",
    "Source": "noarkit.sources.port",
    "StopRequest": "noarkit.load.coordinator",
    "VerifyResult": "noarkit.load.verification",
    "ExtractOptions": "noarkit.deliveries",
    "close": "noarkit.ingestion",
    "compare": "noarkit.deliveries",
    "convert": "noarkit.deliveries",
    "extract": "noarkit.deliveries",
    "from_reader": "noarkit.sources.reader",
    "ingest": "noarkit.ingestion",
    "open_source": "noarkit.origins",
    "plan": "noarkit.ingestion",
    "read_recipe": "noarkit.sources.recipe",
    "read_settings": "noarkit.ingestion",
    "scan": "noarkit.ingestion",
    "validate": "noarkit.validate",
    "verify": "noarkit.ingestion",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'noarkit' has no attribute {name!r}")
    module, _, attribute = home.partition(":")
    value: object = getattr(importlib.import_module(module), attribute or name)
    globals()[name] = value
    return value


class _Api(ModuleType):
    """This module: a function of the API is not hidden by the package of the same name that does its work."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Api
