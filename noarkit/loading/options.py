"""The options of the journeys that read a source or load a run, each declared once.

Whoever adds one adds a field, its keyword, and its help in `words/`: the commands that take the class have it, and what
a run remembers and later commands repeat follows from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from noarkit.errors import UsageFault
from noarkit.forms.registry import known_forms
from noarkit.option_fields import option
from noarkit.recipes import Recipe
from noarkit.settings import Place

LOAD_ONLY = ("as_new", "dry_run", "shard")
"""The options of a load that a retry has not."""
_RECIPE = {"kind": "file", "metavar": "FILE"}
_SOURCE_KIND = {"choices": lambda: known_forms().source_kinds}
_FLAG = {"kind": "flag"}
_GLOBS = {"metavar": "GLOB", "is_multiple": True}
_ENCODING = {"metavar": "NAME"}
_FOLDER = {"kind": "folder", "metavar": "DIR"}
_RUN = {"kind": "folder", "metavar": "RUN"}
_ARCHIVE = {"metavar": "URL", "has_variable": False}


@dataclass(frozen=True, slots=True)
class Cluster:
    """Machines that load a run, or share other heavy work: their scheduler (`dask://HOST:PORT`), and the folder with
    the certificates.

    With `ship` the workers that load get the documents from here, and need no access to the source.
    """

    scheduler: str = option(flag="--engine", metavar="dask://HOST:PORT")
    tls: Place = option(**_FOLDER)
    ship: bool = option(False, **_FLAG)


def parse_cluster(engine: str | None, tls: Path | None, ship: bool = False) -> Cluster | None:
    """The cluster that the options of a command name, if any. Raises `UsageFault`."""
    if engine is not None and tls is not None:
        return Cluster(engine, tls, ship)
    if engine is not None:
        raise UsageFault(what="no-cluster-tls", where="--engine", fix="--tls", own="folder")
    if ship or tls is not None:
        where = "--ship" if ship else "--tls"
        raise UsageFault(what="only-with-engine", where=where, fix="--engine", own="scheduler")
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """How a source is read; whatever reads it with the same options reads the same."""

    recipe: Place | Recipe | None = option(**_RECIPE)
    source_kind: str | None = option(**_SOURCE_KIND)
    take_incomplete: bool = option(False, **_FLAG)
    despite_damage: bool = option(False, **_FLAG)
    encoding: str | None = option(**_ENCODING)
    shallow_root: Place | None = option(**_FOLDER)
    include: Sequence[str] = option((), **_GLOBS)
    exclude: Sequence[str] = option((), **_GLOBS)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """How a plan is made: how its source is read, and what the plan is then to be."""

    recipe: Place | Recipe | None = option(**_RECIPE)
    source_kind: str | None = option(**_SOURCE_KIND)
    hash_contents: bool = option(False, flag="--hash", **_FLAG)
    since: Place | None = option(**_RUN)
    other_recipe: bool = option(False, **_FLAG)
    strict: bool = option(False, **_FLAG)
    accept_loss: Sequence[str] = option((), metavar="FIELD", is_multiple=True)
    take_incomplete: bool = option(False, **_FLAG)
    despite_damage: bool = option(False, **_FLAG)
    encoding: str | None = option(**_ENCODING)
    shallow_root: Place | None = option(**_FOLDER)
    include: Sequence[str] = option((), **_GLOBS)
    exclude: Sequence[str] = option((), **_GLOBS)
    carry: bool = option(True, flag="--no-carry", kind="negated")
    carry_dates: bool = option(False, **_FLAG)
    copies: Place | None = option(kind="folder", metavar="COPIES")
    as_new: bool = option(False, **_FLAG)
    same_as: Place | None = option(**_RUN)
    archive: str | None = option(**_ARCHIVE)
    cluster: Cluster | None = option(parts=Cluster, without=("ship",), make=parse_cluster)
    trust_key: Place | Sequence[Place] | None = option(
        kind="file", metavar="FILE", is_multiple=True, has_variable=False, is_remembered=False
    )

    @property
    def reading(self) -> SourceOptions:
        """How the source is read."""
        return SourceOptions(
            recipe=self.recipe,
            source_kind=self.source_kind,
            take_incomplete=self.take_incomplete,
            despite_damage=self.despite_damage,
            encoding=self.encoding,
            shallow_root=self.shallow_root,
            include=self.include,
            exclude=self.exclude,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestOptions:
    """How a run is loaded. A retry takes all but `LOAD_ONLY`."""

    archive: str | None = option(**_ARCHIVE)
    until: str | None = option(metavar="TIME")
    max_rate: str | None = option(metavar="RATE")
    max_errors: str | None = option(metavar="N|P%")
    workers: int | None = option(kind="number", most=256, metavar="N")
    cluster: Cluster | None = option(parts=Cluster, make=parse_cluster)
    check_command: str | None = option(metavar="COMMAND")
    todays_dates: bool = option(False, **_FLAG)
    approved_only: bool = option(False, **_FLAG)
    as_new: bool = option(False, **_FLAG)
    dry_run: bool = option(False, is_remembered=False, **_FLAG)
    shard: str | None = option(metavar="spine|K/N|links", is_remembered=False)


class SourceKeywords(TypedDict, total=False):
    """The keywords of `SourceOptions`."""

    recipe: Place | Recipe | None
    source_kind: str | None
    take_incomplete: bool
    despite_damage: bool
    encoding: str | None
    shallow_root: Place | None
    include: Sequence[str]
    exclude: Sequence[str]


class PlanKeywords(SourceKeywords, total=False):
    """The keywords of `PlanOptions`."""

    hash_contents: bool
    since: Place | None
    other_recipe: bool
    strict: bool
    accept_loss: Sequence[str]
    carry: bool
    carry_dates: bool
    copies: Place | None
    as_new: bool
    same_as: Place | None
    archive: str | None
    cluster: Cluster | None
    trust_key: Place | Sequence[Place] | None


class RetryKeywords(TypedDict, total=False):
    """The keywords of `IngestOptions` that a retry has too."""

    archive: str | None
    until: str | None
    max_rate: str | None
    max_errors: str | None
    workers: int | None
    cluster: Cluster | None
    check_command: str | None
    todays_dates: bool
    approved_only: bool


class IngestKeywords(RetryKeywords, total=False):
    """The keywords of `IngestOptions`."""

    as_new: bool
    dry_run: bool
    shard: str | None
