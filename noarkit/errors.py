"""Every fault noarkit can raise, drawn before it is coded.

NoarkitError                        F900  exit 1   unforeseen
├── UsageFault                      F101  exit 2   wrong option, argument or combination
│   └── SecretOnTheLine             F102  exit 2   a secret was given where others can read it
├── ConfigFault                     F110  exit 2   a config file or environment variable that cannot be used
│   └── SecretFault                 F111  exit 2   a secret that cannot be read, or that others may read
├── SourceFault                     F200  exit 3   one item of the source is set aside; the run goes on
│   ├── ItemUnreadable              F201           no right to read it
│   ├── ItemVanished                F202           gone since the plan
│   ├── ItemChanged                 F203           other size, time or content than planned
│   ├── ItemNotAFile                F204           device, FIFO, socket
│   ├── ItemTooNew                  F205           changed just now, may still be written to
│   ├── ItemMalformed               F206           a file, row or message that cannot be read as what it is
│   ├── ItemRefused                 F207           the site's own check refused it
│   ├── RecipeFault                 F220           the recipe does not fit this record
│   ├── IdentityNumberFound         F221           a national identity number, and the recipe sets such records aside
│   ├── KeyTwice                    F222           its key, or that of something it makes, is taken
│   ├── ParentMissing               F223           what it shall hang under is not in the plan
│   ├── FieldWrong                  F224           a field or type the model does not allow so
│   ├── CodeUnknown                 F225           a code that is not in the archive's list
│   ├── StructureWrong              F226           things that may not stand together, or lack a part they must have
│   ├── ClassWrong                  F227           no class, or a class that is no leaf
│   ├── LinkDangling                F228           a link to something that is not in the plan
│   └── SourceGone                  F290  exit 8   the root of the source is gone, or too much of it changed
├── ArchiveFault                    F300  exit 5   the archive service; the run pauses
│   ├── (transient: may be tried again)
│   │   ├── ArchiveAway             F301           no connection; nothing was sent
│   │   ├── AnswerLost              F302           sent, but no answer: its fate is unknown
│   │   ├── ArchiveBusy             F303           429 or 503
│   │   ├── ArchiveConflict         F304           409: someone else changed it
│   │   ├── ArchiveBroken           F305           500 and other server faults: its fate is unknown
│   │   └── TransferStalled         F306           bytes stopped moving
│   └── (terminal: the same again cannot help)
│       ├── ArchiveRefused          F310           400: the request is wrong
│       ├── ArchiveNotFound         F311           404: not there, or not for us to see
│       ├── ArchiveMediaType        F312           415
│       ├── ArchiveStrange          F313           an answer that is no Noark 5 answer
│       ├── ChecksumDiffers         F314           bytes changed on the way or in the store
│       ├── ArchiveFull             F315  exit 10  507: the archive has no room
│       ├── ParentNotLoaded         F332           what it hangs under was left out, so it was not sent
│       ├── NotLetIn                F320  exit 6   401: token or credentials refused
│       ├── NotAllowed              F321  exit 6   403: a right is missing
│       └── TrustFault              F322  exit 6   TLS: expired, wrong host, unknown signer
├── RunFault                        F400  exit 1   the run folder and its journal
│   ├── JournalFault                F401  exit 1   the journal cannot be written or read
│   ├── PlanChanged                 F402  exit 2   graph.db is not what was frozen
│   ├── RunLocked                   F403  exit 9   another process holds it
│   ├── OtherArchive                F404  exit 2   the run belongs to another archive
│   ├── DiskFull                    F405  exit 10  no room
│   ├── LimitReached                F406  exit 11  --until, --max-errors
│   ├── WorkerLost                  F431  exit 5   a process of ours died in the middle of its work
│   ├── Paused                      F407  exit 130 a signal asked for it (143 for SIGTERM)
│   └── PlanFault                   F410  exit 4   a plan or recipe that cannot work
├── HostileInput                    F600  exit 4   input that tries what it must not; refused
│   ├── UnsafePath                  F601           leads out of its folder, or is no plain name
│   ├── UnsafeMember                F602           link, device, duplicate or twin in an archive file
│   ├── TooLarge                    F603           over a limit: bytes, ratio, members, nesting
│   ├── UnsafeXml                   F604           entities, DTD, depth, size
│   └── UnsafeUrl                   F605           host or scheme that is not allowed
├── PackageFault                    F500  exit 4   a package that cannot be read or written
│   └── NotDepositable              F501  exit 4   open units, missing schemas: a package cannot be made as asked
└── VerifyMismatch                  F700  exit 7   the archive and the source do not agree

A fault carries data, never prose: its sentences stand in `words/`, by code, in each language.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

# Gravest first; the gravest of several wins (DESIGN of the command line).
GRAVITY = (7, 1, 10, 6, 9, 2, 8, 4, 5, 11, 130, 143, 3, 0)


def gravest(*exit_codes: int) -> int:
    """The exit code that wins where several apply; an unknown code counts as unforeseen."""
    return min((code if code in GRAVITY else 1 for code in exit_codes), key=GRAVITY.index, default=0)


class NoarkitError(Exception):
    """The root. `data` fills the sentences of `words/`; nothing in it may be a secret."""

    code: ClassVar[str] = "F900"
    exit_code: int = 1
    transient: ClassVar[bool] = False

    def __init__(self, **data: object) -> None:
        super().__init__(self.code, data)
        self.data: Mapping[str, object] = data

    def __str__(self) -> str:
        return " ".join([self.code, type(self).__name__, *(f"{name}={value}" for name, value in self.data.items())])

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), **self.data), ()


class UsageFault(NoarkitError):
    """Wrong option, argument or combination. Data: what."""

    code = "F101"
    exit_code = 2


class SecretOnTheLine(UsageFault):
    """A secret stands where others can read it (an argument, a URL). Data: where."""

    code = "F102"


class ConfigFault(NoarkitError):
    """A config file or environment variable that cannot be used. Data: where, why."""

    code = "F110"
    exit_code = 2


class SecretFault(ConfigFault):
    """A secret that cannot be read, or that others may read. Data: where, why."""

    code = "F111"


class SourceFault(NoarkitError):
    """One item of the source cannot be taken; it is set aside and the run goes on. Data: key, why."""

    code = "F200"
    exit_code = 3


class ItemUnreadable(SourceFault):
    """No right to read the item."""

    code = "F201"


class ItemVanished(SourceFault):
    """The item is gone since it was planned."""

    code = "F202"


class ItemChanged(SourceFault):
    """Other size, time or content than planned, or changed while it was read."""

    code = "F203"


class ItemNotAFile(SourceFault):
    """A device, FIFO or socket."""

    code = "F204"


class ItemTooNew(SourceFault):
    """Changed so recently that it may still be written to."""

    code = "F205"


class ItemMalformed(SourceFault):
    """A file, row or message that cannot be read as what it claims to be."""

    code = "F206"


class ItemRefused(SourceFault):
    """The site's own check (a command) refused the item. Data: key, why, exit."""

    code = "F207"


class RecipeFault(SourceFault):
    """The recipe does not fit this record. Data: key, line, why."""

    code = "F220"


class IdentityNumberFound(SourceFault):
    """A national identity number in a title or open field, where the recipe sets such records aside."""

    code = "F221"


class KeyTwice(SourceFault):
    """The key of the record, or of something it makes, is taken by another. Data: what."""

    code = "F222"


class ParentMissing(SourceFault):
    """What the record shall hang under is not in the plan. Data: what."""

    code = "F223"


class FieldWrong(SourceFault):
    """A type or field that the model does not know, or not so. Data: type, field, why, line."""

    code = "F224"


class CodeUnknown(SourceFault):
    """A code that is not in the code list. Data: type, field, line."""

    code = "F225"


class StructureWrong(SourceFault):
    """Things that may not stand together, or something that lacks a part it must have. Data: type, why, line."""

    code = "F226"


class ClassWrong(SourceFault):
    """No class, or a class that has classes under it. Data: type, why, line."""

    code = "F227"


class LinkDangling(SourceFault):
    """A link to something that is not in the plan. Data: type, why, line."""

    code = "F228"


class SourceGone(SourceFault):
    """The root of the source is gone, or too much of it changed since the plan. Data: where, why."""

    code = "F290"
    exit_code = 8


class ArchiveFault(NoarkitError):
    """The archive service could not do what was asked. Data: call, status, description."""

    code = "F300"
    exit_code = 5

    always_unknown: ClassVar[bool] = False

    @property
    def fate_unknown(self) -> bool:
        """True where the request may have taken effect although no good answer came."""
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
    """An answer that is no answer of a Noark 5 archive (a login page, cut JSON, missing members). Data also: why."""

    code = "F313"
    exit_code = 1

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
    """TLS: expired, wrong host, unknown signer, client certificate refused. Data: host, why."""

    code = "F322"
    exit_code = 6


class RunFault(NoarkitError):
    """The run folder and its journal."""

    code = "F400"


class JournalFault(RunFault):
    """The journal cannot be written or read; the run stops at once."""

    code = "F401"


class PlanChanged(RunFault):
    """graph.db is not what was frozen. Data: where, frozen, found."""

    code = "F402"
    exit_code = 2


class RunLocked(RunFault):
    """Another process holds the run or the archive folder. Data: where, owner."""

    code = "F403"
    exit_code = 9


class OtherArchive(RunFault):
    """The run belongs to another archive. Data: where, expected, found."""

    code = "F404"
    exit_code = 2


class DiskFull(RunFault):
    """No room. Data: where."""

    code = "F405"
    exit_code = 10


class LimitReached(RunFault):
    """A limit of ours stopped the run. Data: limit."""

    code = "F406"
    exit_code = 11


class WorkerLost(RunFault):
    """A process of ours died in the middle of its work; what it was at is settled before it goes on. Data: exit."""

    code = "F431"
    exit_code = 5


class Paused(RunFault):
    """A signal asked for a tidy stop. Data: signal."""

    code = "F407"

    def __init__(self, **data: object) -> None:
        super().__init__(**data)
        self.exit_code = 143 if data.get("signal") == "SIGTERM" else 130


class PlanFault(RunFault):
    """A plan or recipe that cannot work as a whole. Data: where, why."""

    code = "F410"
    exit_code = 4


class PackageFault(NoarkitError):
    """A package that cannot be read or written. Data: where, why."""

    code = "F500"
    exit_code = 4


class NotDepositable(PackageFault):
    """A package that cannot be made as asked: open units, missing schemas. Data: why, count."""

    code = "F501"


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
