"""The jobs that workers of a cluster carry out besides loading: which functions there are, and on what site."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from noarkit.archive.port import Archive
from noarkit.archive.settings import ArchiveSettings
from noarkit.errors import OtherArchive, OtherPlace
from noarkit.extraction.remote import KINDS as EXTRACTION_KINDS
from noarkit.extraction.remote import ArchiveMark, ArchiveReader
from noarkit.forms.noark5.rules.remote import KINDS as VALIDATION_KINDS
from noarkit.forms.noark5.rules.remote import PackageReader
from noarkit.loading import preflight
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.loading.remote_hashing import KINDS as HASHING_KINDS
from noarkit.loading.remote_hashing import ContentHasher
from noarkit.records import Source, SourceIdentity
from noarkit.safe.remote_jobs import JobTable

KINDS: tuple[type, ...] = (*VALIDATION_KINDS, *EXTRACTION_KINDS, *HASHING_KINDS)


@dataclass(frozen=True, slots=True)
class ArchiveConnector:
    """Opens archives with this machine's own settings of them."""

    settings_of: Callable[[str], ArchiveSettings]

    def __call__(self, mark: ArchiveMark) -> Archive:
        """The archive of an address. Raises `OtherPlace` for another account, `OtherArchive` for another archive."""
        settings = self.settings_of(mark.address)
        account = settings.credentials.client_id
        if account != mark.account:
            raise OtherPlace(where="archive.client_id", why="other-account", expected=mark.account, found=account)
        archive = connect_archive(settings)
        try:
            identity = archive_identity(archive, mark.address)
            if identity != mark.identity:
                raise OtherArchive(where=settings.base_url, expected=mark.identity, found=identity)
        except BaseException:
            archive.close()
            raise
        return archive


def archive_identity(archive: Archive, address: str) -> str:
    """What an archive is known by: the marker of the first load into it, else its address."""
    return preflight.find_identity(archive) or address


@dataclass(frozen=True, slots=True)
class JobSite:
    """How things of the coordinator are found on this machine: paths, archives by their address, and sources."""

    relocate: Callable[[str], str]
    settings_of: Callable[[str], ArchiveSettings]
    reopen: Callable[[SourceIdentity], Source]


def job_table(site: JobSite) -> JobTable:
    """All functions of a worker."""
    packages = PackageReader(site.relocate)
    archives = ArchiveReader(ArchiveConnector(site.settings_of), site.relocate)
    sources = ContentHasher(site.reopen)

    def close() -> None:
        for helper in (packages, archives, sources):
            helper.close()

    return JobTable({**packages.functions, **archives.functions, **sources.functions}, KINDS, close)
