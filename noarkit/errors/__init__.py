"""Every fault noarkit can raise, drawn before it is coded.

    base     the root, and which exit code wins      usage    what a person asked for or set up
    source   the source and its items                archive  the archive service
    run      the run folder, journal, limits         service  services that connectors speak to
    package  packages and hostile input              operations  who is told how a command goes

NoarkitError                        F900  exit 1   unforeseen
├── UsageFault                      F101  exit 2   wrong option, argument or combination
│   ├── SecretOnTheLine             F102  exit 2   a secret was given where others can read it
│   └── AccessDenied                F103  exit 2   a file or folder that the account may not read or write
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
│   ├── ItemGone                    F208           a service says that it no longer has it
│   ├── RecipeFault                 F220           the recipe does not fit this record
│   ├── IdentityNumberFound         F221           a national identity number, and the recipe sets such records aside
│   ├── KeyTwice                    F222           its key, or that of something it makes, is taken
│   ├── ParentMissing               F223           what it shall hang under is not in the plan
│   ├── FieldWrong                  F224           a field or type the model does not allow so
│   ├── CodeUnknown                 F225           a code that is not in the archive's list
│   ├── StructureWrong              F226           things that may not stand together, or lack a part they must have
│   ├── ClassWrong                  F227           no class, or a class that is no leaf
│   ├── LinkDangling                F228           a link to something that is not in the plan
│   ├── SourceGone                  F290  exit 8   the root of the source is gone, or too much of it changed
│   ├── SourceAway                  F291  exit 5   the source does not answer now: a server that is down
│   └── SourceDenied                F292  exit 6   the source does not let us in, or not so far
├── ArchiveFault                    F300  exit 5   the archive service; the run pauses
│   ├── (transient: may be tried again)
│   │   ├── ArchiveAway             F301           no connection; nothing was sent
│   │   ├── AnswerLost              F302           sent, but no answer: its fate is unknown
│   │   ├── ArchiveBusy             F303           429 or 503
│   │   ├── ArchiveConflict         F304           409: someone else changed it
│   │   ├── ArchiveBroken           F305           500 and other server faults: its fate is unknown
│   │   ├── TransferStalled         F306           bytes stopped moving
│   │   └── ArchiveStrange          F313           an answer that is no Noark 5 answer: a login or maintenance page
│   └── (terminal: the same again cannot help)
│       ├── ArchiveRefused          F310           400: the request is wrong
│       ├── ArchiveNotFound         F311           404: not there, or not for us to see
│       ├── ArchiveMediaType        F312           415
│       ├── ChecksumDiffers         F314           bytes changed on the way or in the store
│       ├── ArchiveFull             F315  exit 10  507: the archive has no room
│       ├── ParentNotLoaded         F332           what it hangs under was left out, so it was not sent
│       ├── NotLetIn                F320  exit 6   401: token or credentials refused
│       ├── NotAllowed              F321  exit 6   403: a right is missing
│       ├── TrustFault              F322  exit 6   TLS: expired, wrong host, unknown signer
│       └── ProxyDenied             F323  exit 6   407: the proxy in between does not let us through
├── ServiceFault                    F350  exit 5   a service that a connector speaks to
│   ├── ServiceAway                 F351           no connection, a time-out, a broken answer
│   ├── ServiceBusy                 F352           it asks us to come later
│   ├── ServiceBroken               F353           a fault of its own
│   ├── AllowanceSpent              F354  exit 11  credits, or our limit on them, are used up
│   ├── ServiceRefused              F360  exit 4   it will not do what was asked
│   ├── ServiceStrange              F361  exit 1   an answer that is none
│   ├── ServiceDenied               F362  exit 6   token, key or right refused
│   ├── ConsentNeeded               F363  exit 6   nobody has let us in yet
│   └── OtherTenant                 F364  exit 2   the connection leads to another organisation now
├── RunFault                        F400  exit 1   the run folder and its journal
│   ├── JournalFault                F401  exit 1   the journal cannot be written or read
│   ├── PlanChanged                 F402  exit 2   graph.db is not what was frozen
│   ├── RunLocked                   F403  exit 9   another process holds it
│   ├── OtherArchive                F404  exit 2   the run belongs to another archive
│   ├── DiskFull                    F405  exit 10  no room
│   ├── LimitReached                F406  exit 11  --until, --max-errors
│   ├── RunRetracted                F408  exit 2   the run was taken back out of the archive
│   ├── LoadedBefore                F330  exit 2   the archive holds the same records, under another root
│   ├── WorkerLost                  F431  exit 5   a process of ours died in the middle of its work
│   ├── ShardSetAside               F432  exit 3   a part of a run that two workers died of is set aside
│   ├── ShardNotLoaded              F433  exit 5   such a part that cannot be set aside: others need it
│   ├── LeaseEnded                  F441  exit 5   a worker was not renewed in time, and sends nothing more
│   ├── EngineAway                  F442  exit 5   the scheduler of a cluster cannot be reached, or was lost
│   ├── NoWorkers                   F443  exit 5   no worker of the cluster can take a part of the run
│   ├── OtherVersion                F444  exit 2   two machines of a cluster run different versions
│   ├── EngineTrust                 F445  exit 6   machines of a cluster do not trust each other
│   ├── OtherPlace                  F446  exit 2   a worker is set up for another account or archive
│   ├── JobLost                     F447  exit 5   every worker that was given a part of some work was lost
│   ├── OtherSource                 F448  exit 2   a worker does not read what this machine reads
│   ├── PartNotReady            F451  exit 5   a part of a run that another part must be loaded before
│   ├── JournalsClash           F452  exit 4   journals of parts that cannot be those of one run
│   ├── RunNotProven            F461  exit 2   a run whose local data is its only proof: it is not removed
│   ├── Paused                      F407  exit 130 a signal asked for it (143 for SIGTERM)
│   └── PlanFault                   F410  exit 4   a plan or recipe that cannot work
│       ├── LossNotAccepted         F411  exit 4   a grade or a proof of disposal would be lost
│       ├── NotApproved             F412  exit 4   nobody has approved the plan as it is
│       └── SourceValuesLost        F413  exit 4   the archive would replace dates and numbers by its own
├── OperationsFault                 F470  exit 2   who is told how a command goes
│   ├── HookRefused                 F471  exit 2   a hook at the start failed; nothing was done
│   ├── HookPostponed               F472  exit 5   a hook at the start asked for a later time; nothing was done
│   └── NotTold                     F473  exit 0   a hook, health check, metrics file or log; the work goes on
├── HostileInput                    F600  exit 4   input that tries what it must not; refused
│   ├── UnsafePath                  F601           leads out of its folder, or is no plain name
│   ├── UnsafeMember                F602           link, device, duplicate or twin in an archive file
│   ├── TooLarge                    F603           over a limit: bytes, ratio, members, nesting
│   ├── UnsafeXml                   F604           entities, DTD, depth, size
│   └── UnsafeUrl                   F605           host or scheme that is not allowed
├── PackageFault                    F500  exit 4   a package that cannot be read or written
│   ├── NotDepositable              F501  exit 4   open units, missing schemas: a package cannot be made as asked
│   └── SealBroken                  F502  exit 4   a bundle or receipt not as it was sealed, or not by one we trust
└── VerifyMismatch                  F700  exit 7   the archive and the source do not agree
    └── StoreDamaged                F701  exit 7   a row or a file of an embedded archive is damaged or missing

A fault carries data, never prose: its sentences stand in `words/`, by code, in each language.
"""

from __future__ import annotations

from noarkit.errors.archive import (
    AnswerLost,
    ArchiveAway,
    ArchiveBroken,
    ArchiveBusy,
    ArchiveConflict,
    ArchiveFault,
    ArchiveFull,
    ArchiveMediaType,
    ArchiveNotFound,
    ArchiveRefused,
    ArchiveStrange,
    ChecksumDiffers,
    NotAllowed,
    NotLetIn,
    ParentNotLoaded,
    ProxyDenied,
    TransferStalled,
    TrustFault,
)
from noarkit.errors.base import GRAVITY, NoarkitError, causes, fault_from_code, gravest
from noarkit.errors.operations import HookPostponed, HookRefused, NotTold, OperationsFault
from noarkit.errors.package import (
    HostileInput,
    NotDepositable,
    PackageFault,
    SealBroken,
    StoreDamaged,
    TooLarge,
    UnsafeMember,
    UnsafePath,
    UnsafeUrl,
    UnsafeXml,
    VerifyMismatch,
)
from noarkit.errors.run import (
    DiskFull,
    EngineAway,
    EngineTrust,
    JobLost,
    JournalFault,
    JournalsClash,
    LeaseEnded,
    LimitReached,
    LoadedBefore,
    LossNotAccepted,
    NotApproved,
    NoWorkers,
    OtherArchive,
    OtherPlace,
    OtherSource,
    OtherVersion,
    PartNotReady,
    Paused,
    PlanChanged,
    PlanFault,
    RunFault,
    RunLocked,
    RunNotProven,
    RunRetracted,
    ShardNotLoaded,
    ShardSetAside,
    SourceValuesLost,
    WorkerLost,
)
from noarkit.errors.service import (
    AllowanceSpent,
    ConsentNeeded,
    OtherTenant,
    ServiceAway,
    ServiceBroken,
    ServiceBusy,
    ServiceDenied,
    ServiceFault,
    ServiceRefused,
    ServiceStrange,
)
from noarkit.errors.source import (
    ClassWrong,
    CodeUnknown,
    FieldWrong,
    IdentityNumberFound,
    ItemChanged,
    ItemGone,
    ItemMalformed,
    ItemNotAFile,
    ItemRefused,
    ItemTooNew,
    ItemUnreadable,
    ItemVanished,
    KeyTwice,
    LinkDangling,
    ParentMissing,
    RecipeFault,
    SourceAway,
    SourceDenied,
    SourceFault,
    SourceGone,
    StructureWrong,
)
from noarkit.errors.usage import AccessDenied, ConfigFault, SecretFault, SecretOnTheLine, UsageFault

__all__ = [
    "GRAVITY",
    "AccessDenied",
    "AllowanceSpent",
    "AnswerLost",
    "ArchiveAway",
    "ArchiveBroken",
    "ArchiveBusy",
    "ArchiveConflict",
    "ArchiveFault",
    "ArchiveFull",
    "ArchiveMediaType",
    "ArchiveNotFound",
    "ArchiveRefused",
    "ArchiveStrange",
    "ChecksumDiffers",
    "ClassWrong",
    "CodeUnknown",
    "ConfigFault",
    "ConsentNeeded",
    "DiskFull",
    "EngineAway",
    "EngineTrust",
    "FieldWrong",
    "HookPostponed",
    "HookRefused",
    "HostileInput",
    "IdentityNumberFound",
    "ItemChanged",
    "ItemGone",
    "ItemMalformed",
    "ItemNotAFile",
    "ItemRefused",
    "ItemTooNew",
    "ItemUnreadable",
    "ItemVanished",
    "JobLost",
    "JournalFault",
    "JournalsClash",
    "KeyTwice",
    "LeaseEnded",
    "LimitReached",
    "LinkDangling",
    "LoadedBefore",
    "LossNotAccepted",
    "NoWorkers",
    "NoarkitError",
    "NotAllowed",
    "NotApproved",
    "NotDepositable",
    "NotLetIn",
    "NotTold",
    "OperationsFault",
    "OtherArchive",
    "OtherPlace",
    "OtherSource",
    "OtherTenant",
    "OtherVersion",
    "PackageFault",
    "ParentMissing",
    "ParentNotLoaded",
    "PartNotReady",
    "Paused",
    "PlanChanged",
    "PlanFault",
    "ProxyDenied",
    "RecipeFault",
    "RunFault",
    "RunLocked",
    "RunNotProven",
    "RunRetracted",
    "SealBroken",
    "SecretFault",
    "SecretOnTheLine",
    "ServiceAway",
    "ServiceBroken",
    "ServiceBusy",
    "ServiceDenied",
    "ServiceFault",
    "ServiceRefused",
    "ServiceStrange",
    "ShardNotLoaded",
    "ShardSetAside",
    "SourceAway",
    "SourceDenied",
    "SourceFault",
    "SourceGone",
    "SourceValuesLost",
    "StoreDamaged",
    "StructureWrong",
    "TooLarge",
    "TransferStalled",
    "TrustFault",
    "UnsafeMember",
    "UnsafePath",
    "UnsafeUrl",
    "UnsafeXml",
    "UsageFault",
    "VerifyMismatch",
    "WorkerLost",
    "causes",
    "fault_from_code",
    "gravest",
]
