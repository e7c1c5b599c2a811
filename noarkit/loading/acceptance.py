"""Which archive a run belongs to: the first that answered, refused nothing and was taken, known by its identity.

An archive that was asked and said no, or was never there, leaves no trace in the run. One that was taken and then took
nothing of the run gives way to another; any other is refused.
"""

from __future__ import annotations

from contextlib import closing

from noarkit.errors import OtherArchive
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import Journal
from noarkit.loading.lease import RunFacts

_TAKEN = (
    "SELECT EXISTS (SELECT 1 FROM chunk WHERE state != 'planned' OR sent_at IS NOT NULL)"
    " OR EXISTS (SELECT 1 FROM entity) OR EXISTS (SELECT 1 FROM left_out)"
)


def has_taken(journal: Journal) -> bool:
    """True if the archive of a run has, or may have, anything of it."""
    return bool(journal.rows(_TAKEN, ())[0][0])


def is_bound(folder: RunFolder) -> bool:
    """True if a run can go on in no archive but its own."""
    if not folder.journal.exists():
        return False
    with closing(folder.open_journal()) as journal:
        return has_taken(journal)


def is_other_archive(folder: RunFolder, journal: Journal, identity: str) -> bool:
    """True where the run was begun with another archive than this, which took nothing. Raises `OtherArchive`."""
    # Invariant 11, checked by identity and not by URL: a test archive restored under the same name is another archive.
    remembered = journal.meta("archive")
    if remembered in (None, identity):
        return False
    if has_taken(journal):
        raise OtherArchive(where=str(folder.path), expected=remembered, found=identity)
    return True


def accept_archive(journal: Journal, facts: RunFacts, *, identity: str, name: str, now_s: float, plan: str) -> None:
    """Makes this archive the one of the run. It is called last, after all that may refuse."""
    remembered = journal.meta("archive")
    if remembered not in (None, identity):  # it took nothing, so that the run begins here
        for shard, _ in journal.guards():
            journal.forget_guard(shard)
    if remembered not in (None, identity) or journal.meta("started") is None:
        journal.remember(started=str(now_s), plan=plan)
    journal.remember(
        archive=identity,
        where=name,
        honours_versions=str(facts.honours_versions),
        sets_system_fields=str(facts.sets_system_fields),
    )
