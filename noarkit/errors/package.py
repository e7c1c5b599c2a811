"""Faults of packages, of hostile input, and of what does not agree."""

from __future__ import annotations

from noarkit.errors.base import NoarkitError


class PackageFault(NoarkitError):
    """A package that cannot be read or written. Data: where, why."""

    code = "F500"
    exit_code = 4


class NotDepositable(PackageFault):
    """A package that cannot be made as asked: open units, missing schemas. Data: why, count."""

    code = "F501"


class SealBroken(PackageFault):
    """A sealed bundle or receipt that is not as it was sealed, or not sealed by one we trust. Data: where, why, name,
    fingerprint."""

    code = "F502"


class HostileInput(NoarkitError):
    """Input that tries what it must not. Data: where, why."""

    code = "F600"
    exit_code = 4


class UnsafePath(HostileInput):
    """A path that leads out of its folder, or is no plain name."""

    code = "F601"


class UnsafeMember(HostileInput):
    """A link, device, duplicate or twin inside an archive file."""

    code = "F602"


class TooLarge(HostileInput):
    """Over a limit: bytes, ratio, members, nesting. Data also: limit."""

    code = "F603"


class UnsafeXml(HostileInput):
    """Entities, DTD, depth or size that an honest document has no need of."""

    code = "F604"


class UnsafeUrl(HostileInput):
    """A host or scheme that is not allowed."""

    code = "F605"


class VerifyMismatch(NoarkitError):
    """The archive and the source do not agree. Data: where, count."""

    code = "F700"
    exit_code = 7


class StoreDamaged(VerifyMismatch):
    """Rows or files of an embedded archive, or of a backup, are not what they must be. Data: where, why, count."""

    code = "F701"
