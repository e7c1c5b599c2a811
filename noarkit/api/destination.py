"""The destination of a run: the address of an archive, or `embedded:DIR`, and how to open it.

An option or the environment says it first, then the run itself, which remembers its archive (the one it was begun with,
before that the one it was planned for), then the profile and the file; where nobody says anything it is
`embedded:noarkit-archive`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from noarkit.archive.settings import ArchiveSettings, settings_of
from noarkit.archive.token import Credentials
from noarkit.config import ArchiveConfig, Config
from noarkit.errors import ArchiveFault, ConfigFault
from noarkit.events import Listener
from noarkit.loading import preflight
from noarkit.loading.engines.assembly import ArchiveTarget, check_reachable
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.safe.paths import require_existing

EMBEDDED = "embedded:"
DEFAULT = "embedded:noarkit-archive"
_EXPLICIT_ORIGINS = ("flag", "environment")


@dataclass(frozen=True, slots=True)
class Destination:
    """An archive to load into. `name` is for people: the address, or `embedded:` with the whole path."""

    name: str
    config: ArchiveConfig
    environment: Mapping[str, str]
    is_named: bool = False
    """True where an option or the environment names it for this one command."""

    @property
    def embedded(self) -> Path | None:
        """The folder of an embedded archive; None for one behind an address."""
        return Path(self.name.removeprefix(EMBEDDED)) if self.name.startswith(EMBEDDED) else None


def destination(config: Config, environment: Mapping[str, str], remembered: str | None = None) -> Destination:
    """The archive that these settings mean, for a run that may remember one."""
    origin = config.origins.get("archive.url")
    said_now = origin is not None and origin.kind in _EXPLICIT_ORIGINS
    url = config.archive.url if said_now else remembered or config.archive.url
    name = url or DEFAULT
    if name.startswith(EMBEDDED):
        name = EMBEDDED + str(Path(name.removeprefix(EMBEDDED)).expanduser().absolute())
    return Destination(name, config.archive, environment, is_named=said_now)


def embedded_identity(destination_: Destination, emit: Listener) -> str | None:
    """Which archive stands in the folder of an embedded one: empty if none does yet, None for one elsewhere, which
    says so when it is loaded into."""
    folder = destination_.embedded
    if folder is None:
        return None
    if not folder.is_dir() or not any(folder.iterdir()):
        return ""
    with open_target(destination_) as target, closing(connect_archive(target.settings, emit=emit)) as connection:
        return preflight.find_identity(connection) or target.name


def archive_identity(destination_: Destination, emit: Listener) -> str | None:
    """Which archive stands there: empty for the folder of an embedded one that is not yet, None where it cannot be
    asked."""
    if destination_.embedded is not None:
        return embedded_identity(destination_, emit)
    try:
        with open_target(destination_) as target, closing(connect_archive(target.settings, emit=emit)) as connection:
            check_reachable(target, emit)
            return preflight.find_identity(connection) or target.name
    except (ArchiveFault, ConfigFault):
        return None


@contextmanager
def open_target(
    destination_: Destination, *, rehearse: bool = False, reads: bool = False, client_id: str = ""
) -> Iterator[ArchiveTarget]:
    """The archive, running for as long as the block lasts. Raises `ConfigFault`, `SecretFault`, `RunLocked`.

    `client_id` is a client of an embedded archive other than the usual one. With `rehearse` an embedded archive that is
    not there yet is only made for a moment, elsewhere; for one who only `reads` it is not made at all: `SourceGone`.
    """
    folder = destination_.embedded
    if folder is None:
        config = replace(destination_.config, url=destination_.name)
        yield ArchiveTarget(
            destination_.name, settings_of(config, destination_.environment), config.transaction_deadline_s
        )
        return
    if reads:
        require_existing(str(folder))
    from noarkit.embedded import CLIENT_ID, open_embedded

    with ExitStack() as stack:
        is_rehearsal = rehearse and not folder.exists()
        if is_rehearsal:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="noarkit-rehearsal-")))
        archive = stack.enter_context(open_embedded(folder, client_id or CLIENT_ID, may_be_kept=not is_rehearsal))
        settings = ArchiveSettings(
            archive.url, Credentials(archive.client_id, archive.client_secret), token_url=archive.token_url
        )
        yield ArchiveTarget(
            destination_.name, settings, 0.0 if archive.was_started else destination_.config.transaction_deadline_s
        )
