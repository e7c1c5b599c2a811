"""Faults of the archive service."""

from __future__ import annotations

from typing import ClassVar

from noarkit.errors.base import NoarkitError


class ArchiveFault(NoarkitError):
    """The archive service could not do what was asked. Data: call, status, description."""

    code = "F300"
    exit_code = 5

    always_unknown: ClassVar[bool] = False

    @property
    def fate_unknown(self) -> bool:
        """True if the request may have taken effect although no good answer came."""
        return self.always_unknown


class ArchiveAway(ArchiveFault):
    """No connection could be made; nothing was sent."""

    code = "F301"
    transient = True


class AnswerLost(ArchiveFault):
    """The request left but no answer came; it may have taken effect, or may still."""

    code = "F302"
    transient = True
    always_unknown = True


class ArchiveBusy(ArchiveFault):
    """429 or 503. Data also: retry_after_s, where the archive named it."""

    code = "F303"
    transient = True

    @property
    def fate_unknown(self) -> bool:
        # a 503 may come from a gateway that gave up waiting for a commit; a 429 is said before any work
        return self.data.get("status") == 503


class ArchiveConflict(ArchiveFault):
    """409: someone else changed it, or two writers met in one case file."""

    code = "F304"
    transient = True


class ArchiveBroken(ArchiveFault):
    """500 and other server faults; the request may have taken effect."""

    code = "F305"
    transient = True
    always_unknown = True


class TransferStalled(ArchiveFault):
    """Bytes stopped moving for longer than allowed."""

    code = "F306"
    transient = True
    always_unknown = True


class ArchiveRefused(ArchiveFault):
    """400: the request is wrong and will stay wrong. Data also: action, field, where the archive named them."""

    code = "F310"
    exit_code = 4


class ArchiveNotFound(ArchiveFault):
    """404: not there, or not for this account to see."""

    code = "F311"
    exit_code = 4


class ArchiveMediaType(ArchiveFault):
    """415."""

    code = "F312"
    exit_code = 1


class ArchiveStrange(ArchiveFault):
    """An answer that is no answer of a Noark 5 archive (a login page, cut JSON, missing members). Data also: why.

    A proxy, a login or a maintenance page stands in between, most often for a while.
    """

    code = "F313"
    transient = True

    @property
    def fate_unknown(self) -> bool:
        return self.data.get("fate") == "unknown"  # cut JSON under a good status may be the answer to a commit


class ChecksumDiffers(ArchiveFault):
    """Bytes changed on the way or in the store. Data: key, ours, theirs."""

    code = "F314"
    exit_code = 7


class ArchiveFull(ArchiveFault):
    """507: the archive has no room; nothing was changed."""

    code = "F315"
    exit_code = 10


class ParentNotLoaded(ArchiveFault):
    """What it hangs under was set aside or refused before, so it was not sent."""

    code = "F332"
    exit_code = 3


class NotLetIn(ArchiveFault):
    """401: token or credentials refused."""

    code = "F320"
    exit_code = 6


class NotAllowed(ArchiveFault):
    """403: the account lacks a right."""

    code = "F321"
    exit_code = 6


class TrustFault(ArchiveFault):
    """TLS: expired, wrong host, unknown signer, client certificate refused. Data: host, why, detail (what to do)."""

    code = "F322"
    exit_code = 6


class ProxyDenied(ArchiveFault):
    """The proxy in between does not let us through. Data: call or where, status, why."""

    code = "F323"
    exit_code = 6
