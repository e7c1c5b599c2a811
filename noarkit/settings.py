"""The settings of a caller: config, environment and clock, as every function of the public API takes them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from noarkit.config import Config, Origin, Sources, load
from noarkit.services.registry import is_service

Place = str | Path


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a caller: config, environment and clock."""

    config: Config
    environment: Mapping[str, str]
    now_s: Callable[[], float] = time.time


def read_settings(
    file: Place | None = None, *, profile: str | None = None, environment: Mapping[str, str] | None = None
) -> Settings:
    """The settings of a `noarkit.toml`, as every function takes them; without a `file` those that a command would use.

    Raises `ConfigFault`.
    """
    variables = dict(os.environ if environment is None else environment)
    config_path = Path(file) if file is not None else None
    return Settings(
        load(Sources(environment=variables, file=config_path, profile=profile, is_service=is_service)), variables
    )


def resolve_settings(archive: str | None = None, overrides: Settings | None = None) -> Settings:
    """The settings in force: those given, else `noarkit.toml` and the environment; `archive` goes before both."""
    if overrides is None:
        environment = dict(os.environ)
        flags = {"archive.url": archive} if archive else {}
        return Settings(load(Sources(flags=flags, environment=environment, is_service=is_service)), environment)
    if archive is None:
        return overrides
    origins = {**overrides.config.origins, "archive.url": Origin("flag", "archive")}
    config = replace(
        overrides.config, archive=replace(overrides.config.archive, url=archive), origins=MappingProxyType(origins)
    )
    return replace(overrides, config=config)
