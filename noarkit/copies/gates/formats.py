"""Is a product the format that was to be made, by its bytes?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from noarkit.copies.identity import Identifier
from noarkit.copies.port import Failure, Finding, Product, Task
from noarkit.copies.reasons import Reason

TARGET_PUIDS: Mapping[str, frozenset[str]] = {
    "pdfa-1b": frozenset({"fmt/354"}),
    "pdfa-2b": frozenset({"fmt/477"}),
    "pdfa-3b": frozenset({"fmt/480"}),
    "odt": frozenset({"fmt/136", "fmt/290", "fmt/291", "fmt/1756"}),
    "ods": frozenset({"fmt/137", "fmt/294", "fmt/295", "fmt/1755"}),
    "odp": frozenset({"fmt/138", "fmt/292", "fmt/293", "fmt/1754"}),
    "png": frozenset({"fmt/11", "fmt/12", "fmt/13"}),
    "tiff": frozenset({"fmt/353"}),
    "flac": frozenset({"fmt/279"}),
    "mkv": frozenset({"fmt/569"}),
    "jpeg": frozenset({"fmt/41", "fmt/42", "fmt/43", "fmt/44", "x-fmt/390", "x-fmt/391", "x-fmt/398", "fmt/645"}),
    "pdf": frozenset({"fmt/16", "fmt/17", "fmt/18", "fmt/19", "fmt/20", "fmt/276", "fmt/1129"}),
    "mp3": frozenset({"fmt/134"}),
    "mp4": frozenset({"fmt/199"}),
    "siard": frozenset({"fmt/161", "fmt/995", "fmt/1196", "fmt/1777"}),
}
"""What each target is by its PRONOM identifier. Text in UTF-8 may be any kind of text."""
SUFFIXES: Mapping[str, str] = {
    "pdfa-1b": "pdf",
    "pdfa-2b": "pdf",
    "pdfa-3b": "pdf",
    "tiff": "tif",
    "utf-8": "",
    "jpeg": "jpg",
}
"""The ending of a target's name, where it is not the target's own."""


@dataclass(frozen=True, slots=True)
class FormatGate:
    """The product is what the rule wants, by its bytes."""

    identifier: Identifier
    name: str = "format"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """Fails where the product is empty, or something else than the target."""
        if not product.path.stat().st_size:
            return Failure(Reason.NO_RESULT, {"tool": product.tool})
        suffix = SUFFIXES.get(task.target, task.target) or task.identity.suffix
        identity = self.identifier.identify(product.path, f"copy.{suffix}")
        wanted = TARGET_PUIDS.get(task.target)
        fits = identity.basis == "text" if wanted is None else identity.puid in wanted
        if not fits:
            return Failure(Reason.WRONG_FORMAT, {"wanted": task.target, "is": identity.puid or "unknown"})
        return ()
