"""The switches of the embedded archive: where real archives differ, a setting decides. Read from DIR/server.toml."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Settings:
    """Each default is the stance of the wire reference; every member can be set by its name in `server.toml`."""

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
    default_screening: str = ""
    group_claim: str = "groups"
    show_newer: bool = True
