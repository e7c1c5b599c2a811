"""The settings of a caller: config, environment and clock, as every function of the public API takes them."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from zoneinfo import ZoneInfo

from noarkit.config import Config, Origin, Sources, load
from noarkit.results import JsonObject
from noarkit.safe import owners
from noarkit.safe.clocks import iso_seconds
from noarkit.service_names import is_service

Place = str | Path


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a caller: config, environment and clock."""

    config: Config
    environment: Mapping[str, str]
    now_s: Callable[[], float] = time.time
    explicit: Mapping[str, str] = field(default_factory=dict)
    """What a caller named for one call: `config` (a file), `profile`, `lang`. A run remembers it."""


@dataclass(frozen=True, slots=True)
class Imprint(JsonObject):
    """Who made a report, on which machine and when (ISO 8601, UTC)."""

    at: str
    operator: str
    machine: str
    zone: str = "UTC"

    def of_day(self) -> Imprint:
        """The same with the day alone: what is told of the same things on one day is the same."""
        day = datetime.fromisoformat(self.at).astimezone(ZoneInfo(self.zone)).date()
        return replace(self, at=day.isoformat())


def imprint(settings: Settings) -> Imprint:
    """The imprint of a report that is made now."""
    at = iso_seconds(settings.now_s())
    return Imprint(at, settings.config.operator or account_name(), socket.gethostname(), settings.config.zone)


def account_name() -> str:
    """The name of the account that runs this process; its number where it has no name."""
    return owners.account_name()


def read_settings(
    file: Place | None = None, *, profile: str | None = None, environment: Mapping[str, str] | None = None
) -> Settings:
    """The settings of a `noarkit.toml`, as every function takes them; without a `file` those that a command would use.

    Raises `ConfigFault`.
    """
    variables = dict(os.environ if environment is None else environment)
    config_path = Path(file) if file is not None else None
    config = load(Sources(environment=variables, file=config_path, profile=profile, is_service=is_service))
    return Settings(config, variables, explicit=explicit_settings(config_path, profile))


def explicit_settings(file: Path | None, profile: str | None, lang: str | None = None) -> dict[str, str]:
    """What of config file, profile and language was named; a file with its whole path."""
    path = None if file is None else str(file.absolute())
    return {name: value for name, value in (("config", path), ("profile", profile), ("lang", lang)) if value}


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
