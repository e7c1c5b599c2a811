"""As whom an extract was made: an archive cannot tell what is not there from what may not be seen."""

from __future__ import annotations

from dataclasses import dataclass

from noarkit.archive.administration import Administration
from noarkit.errors import ArchiveMediaType, ArchiveNotFound, ArchiveRefused, ArchiveStrange, NotAllowed

_READ = "Read"


@dataclass(frozen=True, slots=True)
class Seen:
    """The account and its rights; `reads_everything` is None where the archive does not tell."""

    account: str
    groups: tuple[str, ...]
    service_permissions: tuple[str, ...]
    reads_everything: bool | None


def seen(administration: Administration, account: str = "") -> Seen:
    """Asks the archive who we are, and whether one of our groups reads everything."""
    try:
        me = administration.me()
    except (ArchiveNotFound, ArchiveRefused, ArchiveStrange, NotAllowed):
        me = account
    try:
        service, _ = administration.own_rights()
    except (ArchiveNotFound, ArchiveRefused, ArchiveStrange, NotAllowed):
        service = frozenset()
    try:
        groups = list(administration.access_groups())
    except (ArchiveNotFound, ArchiveRefused, ArchiveStrange, ArchiveMediaType, NotAllowed):
        return Seen(me, (), tuple(sorted(service)), None)
    ours = [group for group in groups if me in group.claims or account in group.claims]
    reads = any(_READ in group.global_permissions for group in ours) if ours else None
    return Seen(me, tuple(sorted(group.name for group in ours)), tuple(sorted(service)), reads)
