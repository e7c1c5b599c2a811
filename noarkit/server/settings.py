"""The switches of the embedded archive: where real archives differ, a setting decides. Read from DIR/server.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal, get_args, get_type_hints

from noarkit.errors import ConfigFault

SETTINGS_FILE = "server.toml"


@dataclass(frozen=True, slots=True)
class Settings:
    """Each default is the stance of the wire reference; every member can be set by its name in `server.toml`.

    access_log: "single" notes a read where a query's whole answer is one object, "all" notes every object of every
    answer, "off" notes none.
    """

    query_limit: int = 500
    query_depth: int = 12
    journal_posts_in_case_files_only: bool = True
    meetings_need_participants: bool = True
    identity_numbers: Literal["accept", "warn", "refuse"] = "accept"
    honours_versions: bool = True
    concurrent_records_conflict: bool = False
    upload_ttl_s: int = 3600
    token_ttl_s: int = 3600
    max_json_bytes: int = 64 * 1024 * 1024
    max_json_depth: int = 64
    max_upload_bytes: int = 0
    body_idle_timeout_s: float = 30.0
    connection_idle_timeout_s: float = 75.0
    shutdown_timeout_s: int = 30
    access_log: Literal["off", "single", "all"] = "single"
    default_screening: str = ""
    group_claim: str = "groups"
    show_newer: bool = True


def read_settings(data_dir: Path) -> Settings:
    """The settings of an archive folder; a folder without `server.toml` has the defaults. Raises ConfigFault."""
    path = data_dir / SETTINGS_FILE
    if not path.exists():
        return Settings()
    try:
        given = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        raise ConfigFault(where=str(path), why=str(fault)) from fault
    kinds = get_type_hints(Settings)
    known = {field.name for field in fields(Settings)}
    for name, value in given.items():
        if name not in known:
            raise ConfigFault(where=str(path), why=f"there is no setting {name}")
        _check(path, name, kinds[name], value)
    return Settings(**given)


def _check(path: Path, name: str, kind: object, value: object) -> None:
    allowed = get_args(kind)
    if allowed:
        fits = value in allowed
        expected = " or ".join(map(str, allowed))
    elif kind is bool or kind is str:
        fits = type(value) is kind
        expected = "true or false" if kind is bool else "a text"
    else:
        fits = (
            type(value) in ((int,) if kind is int else (int, float)) and isinstance(value, (int, float)) and value >= 0
        )
        expected = "a number from 0"
    if not fits:
        raise ConfigFault(where=str(path), why=f"{name} must be {expected}")
