"""The settings of a run: flag > environment > profile > file > default, and each value knows where it came from.

`load` reads `noarkit.toml` (the folder's own, then the user's) into one frozen `Config`. A key nobody knows is a fault
with its line, and with the name that was probably meant.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from noarkit.errors import ConfigFault
from noarkit.safe.toml import MAX_BYTES, Document, read_toml
from noarkit.secrets import SecretSource, secret_source
from noarkit.setting_values import (
    read_address,
    read_commands,
    read_exit_codes,
    read_isolation,
    read_language,
    read_log_targets,
    read_names,
    read_path,
    read_paths,
    read_price,
    read_seconds,
    read_text,
    read_whole_number,
    read_yes_or_no,
    read_zone,
)

FILE_NAME = "noarkit.toml"
_LANGUAGE_LINE = re.compile(rb"""^\s*lang\s*=\s*["']([a-z]+)["']""", re.MULTILINE)
PREFIX = "NOARKIT_"
LOOPBACK = ("localhost", "127.0.0.0/8", "::1")  # what a proxy is never asked for, where nobody says otherwise

OriginKind = Literal["flag", "environment", "profile", "file", "default"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value came from: its kind, and the option, variable or `file:line`."""

    kind: OriginKind
    where: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.where}".rstrip()


@dataclass(frozen=True, slots=True)
class TlsConfig:
    """Whom to trust, and how to show who we are."""

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None


@dataclass(frozen=True, slots=True)
class ArchiveConfig:
    """The archive service: where it is, who we are there, and how long we wait."""

    url: str | None = None
    token_url: str | None = None
    client_id: str | None = None
    client_secret: SecretSource | None = None
    tls: TlsConfig = field(default_factory=TlsConfig)
    plain_http: bool = False
    proxy: str | None = None
    proxy_user: str | None = None
    proxy_secret: SecretSource | None = None
    no_proxy: tuple[str, ...] = LOOPBACK
    error_header: str | None = None
    connect_timeout_s: float = 15.0
    stall_timeout_s: float = 60.0
    answer_timeout_s: float = 180.0
    transaction_deadline_s: float = 60.0
    price_per_thousand_calls: float = 0.0
    price_per_gb: float = 0.0


@dataclass(frozen=True, slots=True)
class SealConfig:
    """The private key that seals what we send across an air gap, and the public keys of those whose seal we trust."""

    key: Path | None = None
    trusted: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class CopiesConfig:
    """How archival copies are made: programs by name, workers, isolation of the tools, and the maker's name."""

    soffice: Path | None = None
    ghostscript: Path | None = None
    ffmpeg: Path | None = None
    ffprobe: Path | None = None
    tesseract: Path | None = None
    bwrap: Path | None = None
    verapdf: Path | None = None
    workers: int | None = None
    isolation: str = "auto"
    agent: str | None = None

    @property
    def programs(self) -> Mapping[str, Path]:
        """The paths that were named."""
        names = ("soffice", "ghostscript", "ffmpeg", "ffprobe", "tesseract", "bwrap", "verapdf")
        return {name: path for name in names if (path := getattr(self, name)) is not None}


@dataclass(frozen=True, slots=True)
class OperationsConfig:
    """Who hears how a command goes: metrics, hooks, system logs, a health check; and what counts as success."""

    metrics: Path | None = None
    hook_start: tuple[str, ...] = ()
    hook_success: tuple[str, ...] = ()
    hook_failure: tuple[str, ...] = ()
    hook_each: tuple[str, ...] = ()
    hook_timeout_s: float = 60.0
    log_to: tuple[str, ...] = ()
    log_ca: Path | None = None
    ping: SecretSource | None = None
    ping_ca: Path | None = None
    ping_timeout_s: float = 10.0
    success_exits: tuple[int, ...] = (0, 3)
    silence_s: float = 1800.0


@dataclass(frozen=True, slots=True)
class Config:
    """All settings of a run, and where each came from (`origins`, by dotted key)."""

    archive: ArchiveConfig
    profile: str | None
    zone: str
    lang: str
    connections: Mapping[str, Mapping[str, object]]
    origins: Mapping[str, Origin]
    files: tuple[Path, ...]
    seal: SealConfig = field(default_factory=SealConfig)
    copies: CopiesConfig = field(default_factory=CopiesConfig)
    operations: OperationsConfig = field(default_factory=OperationsConfig)
    operator: str | None = None
    """Who runs noarkit, as reports name them; without it the name of the account."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Everything a config is made of, handed in at the edge."""

    flags: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path = Path()
    file: Path | None = None
    profile: str | None = None
    is_service: Callable[[str], bool] | None = None
    """Says which names under `[connections]` are services; any other is a database. Where nobody says so, a table of
    tables is a service."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of the config: how its value is read, what it is where nobody says, and its environment variable."""

    key: str
    read: Callable[[object, str], object]
    default: object
    variable: str


def user_folder(environment: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Where the user's own config lies on this system."""
    if platform == "win32":
        return Path(environment.get("APPDATA") or Path.home()) / "noarkit"
    base = environment.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path(environment.get("HOME") or Path.home()) / ".config") / "noarkit"


def load(sources: Sources) -> Config:
    """Reads and checks every file and variable; `ConfigFault` names the first thing that cannot be used."""
    documents = list(_documents(sources))
    profile = sources.profile or _named_profile(documents)
    for document in documents:
        _refuse_unknown(document)
    if profile is not None and not any(profile in _profiles(document) for document in documents):
        profile_names = sorted({name for document in documents for name in _profiles(document)})
        raise ConfigFault(where=profile, why="no-such-profile", proposal=_nearest_key(profile, profile_names))
    layers = list(_layers(sources, documents, profile))
    values: dict[str, object] = {}
    origins: dict[str, Origin] = {}
    for setting in SETTINGS:
        values[setting.key], origins[setting.key] = _choose(setting, layers)
    return _assemble(values, origins, _merge_connections(documents, sources.is_service), documents, profile)


def configured_language(sources: Sources) -> str:
    """The language that is asked for, even where nothing else in a file can be used: so that its faults are told in it.
    English where nobody asks for one."""
    setting = next(setting for setting in SETTINGS if setting.key == "lang")
    documents = list(map(_document_or_language, _paths(sources)))
    profile = sources.profile or next((str(it.data["profile"]) for it in documents if "profile" in it.data), None)
    for layer in _layers(sources, documents, profile):
        choice = layer(setting)
        if choice is not None:
            with suppress(ConfigFault):
                return str(setting.read(choice[0], choice[1].where))
    return str(setting.default)


def flatten(config: Config) -> Iterator[tuple[str, str, Origin]]:
    """Every key with its value as a person may see it, and its origin. A secret shows only where it lies."""
    for setting in SETTINGS:
        value: object = config
        for part in setting.key.split("."):
            value = getattr(value, part)
        yield setting.key, _display_value(value), config.origins[setting.key]


def _display_value(value: object) -> str:
    if isinstance(value, tuple):
        return (os.pathsep if any(isinstance(item, Path) for item in value) else ", ").join(str(item) for item in value)
    return f"*** ({value.description})" if isinstance(value, SecretSource) else "" if value is None else str(value)


def _documents(sources: Sources) -> Iterator[Document]:
    return map(read_toml, _paths(sources))


def _paths(sources: Sources) -> list[Path]:
    if sources.file is not None:
        return [sources.file]
    usual = (sources.folder / FILE_NAME, user_folder(sources.environment) / FILE_NAME)
    return [path for path in usual if path.exists()]


def _document_or_language(path: Path) -> Document:
    """A file; where it is no TOML, nothing of it but the line that names its language."""
    try:
        return read_toml(path)
    except ConfigFault:
        try:
            with path.open("rb") as file:
                match = _LANGUAGE_LINE.search(file.read(MAX_BYTES))
        except OSError:
            match = None
        return Document(path, {"lang": match[1].decode()} if match else {}, {})


def _named_profile(documents: list[Document]) -> str | None:
    for document in documents:
        name = document.data.get("profile")
        if name is not None:
            return read_text(name, document.where("profile"))
    return None


def _profiles(document: Document) -> Mapping[str, object]:
    profiles = document.data.get("profiles", {})
    return profiles if isinstance(profiles, Mapping) else {}


_Layer = Callable[[Setting], tuple[object, Origin] | None]


def _layers(sources: Sources, documents: list[Document], profile: str | None) -> Iterator[_Layer]:
    yield partial(_from_mapping, sources.flags, "flag")
    yield partial(_from_mapping, sources.environment, "environment")
    if profile is not None:
        for document in documents:
            yield partial(_from_document, document, f"profiles.{profile}.")
    for document in documents:
        yield partial(_from_document, document, "")
    yield partial(_from_locale, sources.environment)


def _from_locale(environment: Mapping[str, str], setting: Setting) -> tuple[object, Origin] | None:
    """The language of a Norwegian locale, where nobody chose one."""
    if setting.key != "lang":
        return None
    name = next((name for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), "")
    match = re.match(r"(nb|nn|no)(?:_|\.|$)", environment.get(name, ""))
    return (match[1].replace("no", "nb"), Origin("environment", name)) if match else None


def _from_mapping(
    overrides: Mapping[str, str], kind: Literal["flag", "environment"], setting: Setting
) -> tuple[object, Origin] | None:
    name = setting.key if kind == "flag" else setting.variable
    if name not in overrides or (kind == "environment" and not overrides[name]):
        return None
    if setting.read is secret_source:
        return {"env": name}, Origin(kind, name)
    return overrides[name], Origin(kind, name)


def _from_document(document: Document, prefix: str, setting: Setting) -> tuple[object, Origin] | None:
    value: object = document.data
    for part in _parts(prefix + setting.key):
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    return value, Origin("profile" if prefix else "file", document.where(prefix + setting.key))


def _parts(key: str) -> list[str]:
    return key.split(".")


def _choose(setting: Setting, layers: list[_Layer]) -> tuple[object, Origin]:
    for layer in layers:
        choice = layer(setting)
        if choice is not None:
            value, origin = choice
            return setting.read(value, origin.where), origin
    return setting.default, Origin("default")


def _assemble(
    values: Mapping[str, object],
    origins: Mapping[str, Origin],
    connections: Mapping[str, Mapping[str, object]],
    documents: list[Document],
    profile: str | None,
) -> Config:
    under = {key.removeprefix("archive."): value for key, value in values.items() if key.startswith("archive.")}
    tls = {key.removeprefix("tls."): under.pop(key) for key in list(under) if key.startswith("tls.")}
    return Config(
        archive=ArchiveConfig(tls=TlsConfig(**tls), **under),  # type: ignore[arg-type]  # each was read by its setting
        profile=profile,
        zone=str(values["zone"]),
        lang=str(values["lang"]),
        operator=None if values["operator"] is None else str(values["operator"]),
        connections=MappingProxyType(connections),
        origins=MappingProxyType(dict(origins)),
        files=tuple(document.path for document in documents),
        copies=CopiesConfig(**_below(values, "copies.")),  # type: ignore[arg-type]  # each was read by its setting
        operations=OperationsConfig(**_below(values, "operations.")),  # type: ignore[arg-type]  # each was read by its setting
        seal=SealConfig(values["seal.key"], values["seal.trusted"]),  # type: ignore[arg-type]  # each was read by its setting
    )


def _below(values: Mapping[str, object], prefix: str) -> dict[str, object]:
    return {key.removeprefix(prefix): value for key, value in values.items() if key.startswith(prefix)}


def _merge_connections(
    documents: list[Document], is_service: Callable[[str], bool] | None
) -> Mapping[str, Mapping[str, object]]:
    connections: dict[str, Mapping[str, object]] = {}
    for document in reversed(documents):
        for name, entry, of_service in _connections(document, is_service):
            # a service's connections stand one by one: the folder's file names some, the user's file others
            above = connections.get(name, {}) if of_service else {}
            connections[name] = MappingProxyType({**above, **entry})
    return connections


def _connections(
    document: Document, is_service: Callable[[str], bool] | None
) -> Iterator[tuple[str, Mapping[str, object], bool]]:
    connections = document.data.get("connections", {})
    if not isinstance(connections, Mapping):
        raise ConfigFault(where=document.where("connections"), why="not-a-table")
    for name, entry in connections.items():
        if not isinstance(entry, Mapping):
            raise ConfigFault(where=document.where(f"connections.{name}"), why="not-a-table")
        of_service = _holds_tables(entry) if is_service is None else is_service(name)
        if of_service:
            for connection_name, table in entry.items():
                if not isinstance(table, Mapping):
                    location = document.where(f"connections.{name}.{connection_name}")
                    raise ConfigFault(where=location, why="connection-without-name")
        elif not isinstance(entry.get("url"), str):
            inside = ".".join(("connections", name, *list(entry)[:1]))
            raise ConfigFault(where=document.where(inside), why="connection-to-nothing")
        yield name, entry, of_service


def _holds_tables(entry: Mapping[str, object]) -> bool:
    return all(isinstance(value, Mapping) for value in entry.values())


def _refuse_unknown(document: Document) -> None:
    own_tables = {
        name: value for name, value in document.data.items() if name not in ("profile", "profiles", "connections")
    }
    _check_keys(document, own_tables, "", "")
    profiles = document.data.get("profiles", {})
    if not isinstance(profiles, Mapping):
        raise ConfigFault(where=document.where("profiles"), why="not-a-table")
    for name, table in profiles.items():
        if not isinstance(table, Mapping):
            raise ConfigFault(where=document.where(f"profiles.{name}"), why="not-a-table")
        _check_keys(document, table, f"profiles.{name}.", "")


def _check_keys(document: Document, table: Mapping[str, object], prefix: str, above: str) -> None:
    """Holds the keys of one table to those there are; what lies below a setting is judged when it is read."""
    known_keys = [setting.key for setting in SETTINGS]
    for name, value in table.items():
        key = above + name
        location = document.where(prefix + key)
        if key in known_keys:
            continue
        if not any(other_key.startswith(key + ".") for other_key in known_keys):
            raise ConfigFault(
                where=location, why="unknown-key", key=prefix + key, proposal=_nearest_key(key, sorted(known_keys))
            )
        if not isinstance(value, Mapping):
            raise ConfigFault(where=location, why="not-a-table")
        _check_keys(document, value, prefix, key + ".")


def _nearest_key(name: str, known_keys: list[str]) -> str | None:
    return next(iter(difflib.get_close_matches(name, known_keys, 1)), None)


SETTINGS: tuple[Setting, ...] = (
    Setting("archive.url", read_address, None, "NOARKIT_ARCHIVE"),
    Setting("archive.token_url", read_address, None, "NOARKIT_TOKEN_URL"),
    Setting("archive.client_id", read_text, None, "NOARKIT_CLIENT_ID"),
    Setting("archive.client_secret", secret_source, None, "NOARKIT_CLIENT_SECRET"),
    Setting("archive.tls.ca", read_path, None, "NOARKIT_ARCHIVE_CA"),
    Setting("archive.tls.cert", read_path, None, "NOARKIT_ARCHIVE_CERT"),
    Setting("archive.tls.key", read_path, None, "NOARKIT_ARCHIVE_KEY"),
    Setting("archive.plain_http", read_yes_or_no, False, "NOARKIT_PLAIN_HTTP"),
    Setting("archive.proxy", read_address, None, "NOARKIT_PROXY"),
    Setting("archive.proxy_user", read_text, None, "NOARKIT_PROXY_USER"),
    Setting("archive.proxy_secret", secret_source, None, "NOARKIT_PROXY_SECRET"),
    Setting("archive.no_proxy", read_names, LOOPBACK, "NOARKIT_NO_PROXY"),
    Setting("archive.error_header", read_text, None, "NOARKIT_ERROR_HEADER"),
    Setting("archive.connect_timeout_s", read_seconds, 15.0, "NOARKIT_CONNECT_TIMEOUT_S"),
    Setting("archive.stall_timeout_s", read_seconds, 60.0, "NOARKIT_STALL_TIMEOUT_S"),
    Setting("archive.answer_timeout_s", read_seconds, 180.0, "NOARKIT_ANSWER_TIMEOUT_S"),
    Setting("archive.transaction_deadline_s", read_seconds, 60.0, "NOARKIT_TRANSACTION_DEADLINE_S"),
    Setting("archive.price_per_thousand_calls", read_price, 0.0, "NOARKIT_PRICE_PER_THOUSAND_CALLS"),
    Setting("archive.price_per_gb", read_price, 0.0, "NOARKIT_PRICE_PER_GB"),
    Setting("seal.key", read_path, None, "NOARKIT_SEAL_KEY"),
    Setting("seal.trusted", read_paths, (), "NOARKIT_TRUST_KEY"),
    Setting("copies.soffice", read_path, None, "NOARKIT_SOFFICE"),
    Setting("copies.ghostscript", read_path, None, "NOARKIT_GHOSTSCRIPT"),
    Setting("copies.ffmpeg", read_path, None, "NOARKIT_FFMPEG"),
    Setting("copies.ffprobe", read_path, None, "NOARKIT_FFPROBE"),
    Setting("copies.tesseract", read_path, None, "NOARKIT_TESSERACT"),
    Setting("copies.bwrap", read_path, None, "NOARKIT_BWRAP"),
    Setting("copies.verapdf", read_path, None, "NOARKIT_VERAPDF"),
    Setting("copies.workers", read_whole_number, None, "NOARKIT_COPY_WORKERS"),
    Setting("copies.isolation", read_isolation, "auto", "NOARKIT_COPY_ISOLATION"),
    Setting("copies.agent", read_text, None, "NOARKIT_COPY_AGENT"),
    Setting("operations.metrics", read_path, None, "NOARKIT_METRICS"),
    Setting("operations.hook_start", read_commands, (), "NOARKIT_HOOK_START"),
    Setting("operations.hook_success", read_commands, (), "NOARKIT_HOOK_SUCCESS"),
    Setting("operations.hook_failure", read_commands, (), "NOARKIT_HOOK_FAILURE"),
    Setting("operations.hook_each", read_commands, (), "NOARKIT_HOOK_EACH"),
    Setting("operations.hook_timeout_s", read_seconds, 60.0, "NOARKIT_HOOK_TIMEOUT_S"),
    Setting("operations.log_to", read_log_targets, (), "NOARKIT_LOG_TO"),
    Setting("operations.log_ca", read_path, None, "NOARKIT_LOG_CA"),
    Setting("operations.ping", secret_source, None, "NOARKIT_PING"),
    Setting("operations.ping_ca", read_path, None, "NOARKIT_PING_CA"),
    Setting("operations.ping_timeout_s", read_seconds, 10.0, "NOARKIT_PING_TIMEOUT_S"),
    Setting("operations.success_exits", read_exit_codes, (0, 3), "NOARKIT_SUCCESS_EXITS"),
    Setting("operations.silence_s", read_seconds, 1800.0, "NOARKIT_SILENCE_S"),
    Setting("zone", read_zone, "Europe/Oslo", "NOARKIT_ZONE"),
    Setting("lang", read_language, "en", "NOARKIT_LANG"),
    Setting("operator", read_text, None, "NOARKIT_OPERATOR"),
)
