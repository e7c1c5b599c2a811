"""The settings of the embedded archive, read from DIR/server.toml: where real archives differ, a setting decides.

`profile` sets several at once; other settings in the file override it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal, get_args, get_type_hints

from noarkit.errors import ConfigFault
from noarkit.safe.toml import read_toml

SETTINGS_FILE = "server.toml"


@dataclass(frozen=True, slots=True)
class Settings:
    """Each default is the stance of the wire reference; every member can be set by its name in `server.toml`.

    access_log: "single" notes a read where a query's whole answer is one object, "all" notes every object of every
    answer, "off" notes none.
    """

    profile: Literal["strict", "lenient"] = "strict"
    query_limit: int = 500
    query_depth: int = 12
    journal_posts_in_case_files_only: bool = True
    meetings_need_participants: bool = True
    meeting_records_in_folders_only: bool = False
    file_names_settable: bool = False
    trim_file_names: bool = True
    identity_numbers: Literal["accept", "warn", "refuse"] = "accept"
    honours_versions: bool = True
    concurrent_records_conflict: bool = False
    upload_ttl_s: int = 3600
    token_ttl_s: int = 3600
    max_json_bytes: int = 16 * 1024 * 1024
    max_json_values: int = 500_000
    max_actions: int = 20_000
    max_json_depth: int = 64
    max_upload_bytes: int = 0
    body_idle_timeout_s: float = 30.0
    connection_idle_timeout_s: float = 75.0
    call_limit_s: float = 30.0
    shutdown_timeout_s: int = 3
    access_log: Literal["off", "single", "all"] = "single"
    default_screening: str = ""
    group_claim: str = "https://documaster.com/idp/groups"
    group_claim_also: str = ""
    refresh_tokens: bool = False
    index_documents: bool = True
    show_newer: bool = True

    def group_claims(self) -> tuple[str, ...]:
        """The names under which the token service tells the groups of an account."""
        return tuple(filter(None, (self.group_claim, self.group_claim_also)))


# What a profile sets; `strict` is the stance of the wire reference throughout.
PROFILES: Mapping[str, Mapping[str, object]] = {
    "strict": {},
    "lenient": {
        "query_limit": 1_000,
        "journal_posts_in_case_files_only": False,
        "meetings_need_participants": False,
        "file_names_settable": True,
        "trim_file_names": False,
        "refresh_tokens": True,
    },
}


def read_settings(data_dir: Path) -> Settings:
    """The settings of an archive folder; a folder without `server.toml` has the defaults. Raises ConfigFault."""
    path = data_dir / SETTINGS_FILE
    if not path.exists():
        return Settings()
    values = dict(read_toml(path).data)
    kinds = get_type_hints(Settings)
    setting_names = {field.name for field in fields(Settings)}
    for name, value in values.items():
        if name not in setting_names:
            raise ConfigFault(where=str(path), why=f"there is no setting {name}")
        _check(path, name, kinds[name], value)
    combined = {**PROFILES[str(values.get("profile", "strict"))], **values}
    return Settings(**combined)  # type: ignore[arg-type]  # each was checked above


def _check(path: Path, name: str, kind: object, value: object) -> None:
    choices = get_args(kind)
    if choices:
        fits = value in choices
        expected = " or ".join(map(str, choices))
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
