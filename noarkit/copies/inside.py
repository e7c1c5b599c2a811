"""Copies that lie in the package that is planned, beside their originals: each is planned as a version, never as a
record of its own."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import PurePosixPath

from noarkit.copies.planning import MapperWithCopies, PlanMapper, PlannedCopy
from noarkit.graph.entity import Content
from noarkit.model.conversions import Conversion
from noarkit.records import CopiesInside
from noarkit.safe.digest import Readable


def with_own_copies(copies: CopiesInside, mapper: PlanMapper) -> PlanMapper:
    """A mapper that plans the copies in a package beside their originals."""
    return MapperWithCopies(mapper, InsideLookup(copies), tells_lacks=False)


class InsideLookup:
    """Finds the copies of a document in the package that holds both. The package itself opens them."""

    def __init__(self, copies: CopiesInside) -> None:
        self._copies = copies

    def copies_of(self, content: Content) -> Iterable[PlannedCopy]:
        """What was made of a document."""
        return [_planned(copy, conversion) for copy, conversion in self._copies.copies_of(content.sha256 or "")]

    def open(self, sha256: str) -> AbstractContextManager[Readable]:
        """Nothing lies here under a checksum alone. Raises `FileNotFoundError`."""
        raise FileNotFoundError(sha256)


def _planned(copy: Content, conversion: Conversion) -> PlannedCopy:
    return PlannedCopy(
        state="made",
        source_sha256=conversion.source_sha256,
        source_puid=conversion.source_format,
        sha256=conversion.result_sha256,
        size_bytes=copy.size_bytes or 0,
        puid=conversion.result_format,
        media_type=copy.media_type or "",
        suffix=PurePosixPath(copy.name).suffix.removeprefix("."),
        made_at=conversion.made_at,
        made_by=conversion.made_by,
        tool=conversion.tool,
        rule=conversion.rule,
        findings=conversion.findings,
        accepted_by=conversion.accepted_by,
        accepted_at=conversion.accepted_at,
        purpose=conversion.purpose,
        locator=copy.locator,
    )
