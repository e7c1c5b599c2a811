"""What the parts of copying are to one another: the values they exchange, and the Protocols of converters and gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from noarkit.copies.reasons import Reason
from noarkit.documents.damage import Damage
from noarkit.model.conversions import Purpose
from noarkit.safe.sandbox import Limits

Action = Literal["derive", "keep", "manual", "leave"]
Response = Literal["note", "hold", "refuse"]
State = Literal["planned", "working", "made", "kept", "held", "failed", "left"]
VIEWS = ("jpeg", "pdf", "mp3", "mp4", "siard")
"""Targets that hold less than what they are made of, and are never archival copies."""
Basis = Literal["signature", "container", "text", "name", "none"]
"""What an identity rests on, best first."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a document is: its PRONOM identifier by its bytes, and what its name says."""

    puid: str | None
    media_type: str | None
    suffix: str
    """The ending of its name, in small letters and without the dot."""
    basis: Basis
    mismatch: bool = False
    """True where the name says something else than the bytes."""
    damage: Damage = ""
    damaged_at: int | None = None
    """From which byte on, where that is known."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a document or its copy that a person should know: a code with its data.

    Of documents: `"tracked-changes"`, `"comments"`, `"hidden-text"`, `"hidden-sheets"`, `"hidden-slides"`,
    `"print-area"`, `"fields"`, `"macros"`, `"external-content"`, `"private-characters"`, `"embedded-objects"`. Of
    copies: `"fonts"`, `"extra-words"`, `"links-dropped"`, `"claimed-only"`, `"remote-refused"`, `"decoded-as"`.
    """

    code: str
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    """What a policy does with documents of some formats."""

    name: str
    match: tuple[str, ...]
    """PRONOM identifiers, media types, endings: the first kind that matches decides."""
    action: Action
    converters: tuple[str, ...] = ()
    """Names of converters; the first that can do it is used, the next only where that one refuses by itself."""
    target: str = ""
    """What is made: `"pdfa-2b"`, `"ods"`, `"odt"`, `"png"`, `"tiff"`, `"flac"`, `"utf-8"` …"""
    also: str = ""
    """What is made in addition, where the policy wants two."""
    options: Mapping[str, object] = field(default_factory=dict)
    responses: Mapping[str, Response] = field(default_factory=dict)
    """What is done about each finding, by its code; where the rule says nothing, `answers` knows."""
    why: str = ""
    steps: tuple[str, ...] = ()
    """What a person does, where the action is `manual`."""
    purpose: Purpose = "archive"


@dataclass(frozen=True, slots=True)
class Task:
    """One document to be made a copy of. `source` is ours to read, never to change; `folder` is empty and ours."""

    source: Path
    name: str
    """The document's own name, which some tools print."""
    identity: Identity
    rule: Rule
    target: str
    folder: Path
    limits: Limits
    findings: tuple[Finding, ...] = ()
    version: str = ""
    """The version of its converter, where somebody has asked for it already: a program must be started to tell it."""
    offered: OfferedFile | None = None
    """The file that a person made of it; None where a converter makes one."""


@dataclass(frozen=True, slots=True)
class Product:
    """A file that a converter made; no copy yet."""

    path: Path
    tool: str
    version: str
    findings: tuple[Finding, ...] = ()
    cpu_s: float = 0.0
    wall_s: float = 0.0
    peak_bytes: int = 0


@dataclass(frozen=True, slots=True)
class OfferedFile:
    """A file that a person made of a document. `check` is what the policy asks of a document in its format."""

    product: Product
    check: str
    puid: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no file, or why the file is no copy."""

    reason: Reason
    data: Mapping[str, object] = field(default_factory=dict)


Outcome = Product | Failure
TRIED_ALONE = "alone"
"""Said in the data of a failure by a converter that has given the document a turn of its own with more time already."""


class Converter(Protocol):
    """Something that makes files of documents. It is given what the inspection let pass."""

    @property
    def name(self) -> str: ...

    def version(self) -> str | None:
        """Its version (and that of the program behind it), part of what a copy is kept under; None where missing."""
        ...

    def options_digest(self, rule: Rule, target: str) -> str:
        """A digest of everything else that changes what it makes: options, fonts, revision of its own preparation."""
        ...

    def batch_size(self, task: Task) -> int:
        """How many such tasks it takes at once; 1 where it gains nothing."""
        ...

    def convert(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Outcome]]:
        """Each task once, in any order. Never raises for what a document does to it, and leaves nothing running."""
        ...


class Gate(Protocol):
    """Something a product must pass. It is given the document, the product, and what was found before."""

    @property
    def name(self) -> str: ...

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """What a person should know, or why this is no copy. Raises nothing for what the product holds."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a document."""

    state: State
    reason: Reason | None = None
    data: Mapping[str, object] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
