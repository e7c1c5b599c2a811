"""Reads the rights of the account of an extract: an archive hides what an account may not see."""

from __future__ import annotations

from dataclasses import dataclass

from noarkit.archive.administration import Administration
from noarkit.archive.optional import answer_or
from noarkit.errors import ArchiveMediaType, ArchiveNotFound, ArchiveRefused, ArchiveStrange, NotAllowed

_READ = "Read"


@dataclass(frozen=True, slots=True)
class AccountRights:
    """The account and its rights; `reads_everything` is None if the archive does not tell."""

    account: str
    groups: tuple[str, ...]
    service_permissions: tuple[str, ...]
    reads_everything: bool | None


def read_account_rights(administration: Administration, account: str = "") -> AccountRights:
    """Reads our account from the archive, and whether one of its groups may read everything."""
    me = answer_or(account, administration.me, own_address=True)
    try:
        service, _ = administration.own_rights()
    except (ArchiveNotFound, ArchiveRefused, ArchiveStrange, NotAllowed):
        service = frozenset()
    try:
        groups = list(administration.access_groups())
    except (ArchiveNotFound, ArchiveRefused, ArchiveStrange, ArchiveMediaType, NotAllowed):
        return AccountRights(me, (), tuple(sorted(service)), None)
    own_groups = [group for group in groups if me in group.claims or account in group.claims]
    reads = any(_READ in group.global_permissions for group in own_groups) if own_groups else None
    return AccountRights(me, tuple(sorted(group.name for group in own_groups)), tuple(sorted(service)), reads)
