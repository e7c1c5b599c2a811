"""The settings of whoever calls, as every function of the public API takes them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from noarkit.config import Config, Origin, Sources, load

Place = str | Path


@dataclass(frozen=True, slots=True)
class Site:
    """The settings of whoever calls: config and environment, and the clock."""

    config: Config
    environment: Mapping[str, str]
    now_s: Callable[[], float] = time.time


def read_settings(
    file: Place | None = None, *, profile: str | None = None, environment: Mapping[str, str] | None = None
) -> Site:
    """The settings of a `noarkit.toml`, as every function takes them; without a `file` those that a command would use.

    Raises `ConfigFault`.
    """
    variables = dict(os.environ if environment is None else environment)
    named = Path(file) if file is not None else None
    return Site(load(Sources(environment=variables, file=named, profile=profile)), variables)


def site(archive: str | None = None, given: Site | None = None) -> Site:
    """The settings in force: those given, else `noarkit.toml` and the environment; `archive` goes before both."""
    if given is None:
        environment = dict(os.environ)
        flags = {"archive.url": archive} if archive else {}
        return Site(load(Sources(flags=flags, environment=environment)), environment)
    if archive is None:
        return given
    origins = {**given.config.origins, "archive.url": Origin("flag", "archive")}
    config = replace(
        given.config, archive=replace(given.config.archive, url=archive), origins=MappingProxyType(origins)
    )
    return replace(given, config=config)
