"""What a form of package is to the rest of the house: one value with all that is asked of it.

A form that the registry knows is recognised, read as a source, validated and made, and no other code names it. The
values of our own forms lie in their rooms (`bagit/form.py`); other packages register theirs, as `noarkit help library`
tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Literal

from noarkit.errors import UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.forms.container.storage import Storage
from noarkit.forms.findings import Opinion, ReadOpinion, ValidateResult
from noarkit.forms.form_markers import FormEvidence
from noarkit.records import Source, SourceIdentity
from noarkit.safe.remote_jobs import JobWorkers
from noarkit.safe.unpack import LIMITS, UnpackLimits

FormName = str
"""The name of a form that the registry knows, or `plain`."""
PLAIN: FormName = "plain"
"""What has no form: files as they lie."""
LAST_RANK = 100

ProductKind = Literal["package", "extract", "database"]
"""What a product is made of: the files of anything, the Noark 5 extract in a package, or a database."""

Layout = Literal["folder", "representations", "extract", "file"]
"""How a package holds its content: in a folder, in representations, as an extract by itself, or as one file."""


@dataclass(frozen=True, slots=True)
class DetectedForm:
    """A form, the kind of archive file it is packed in (None for a folder or a plain file), and its root: the folder
    that bears the marks, or the archive file.

    `lacks` names what is missing or damaged of something that can only be `meant` as a form; `form` is `plain` then,
    unless its rules can judge what is left."""

    form: FormName
    packed: str | None
    root: Path
    meant: FormName = ""
    lacks: str = ""


@dataclass(frozen=True, slots=True)
class ValidateOptions:
    """How a package is validated. `schemas` is a folder with the official schemas; dates after `today` are findings.
    `job_workers` are those of a cluster, which only some forms can use."""

    schemas: Path | None = None
    today: date | None = None
    limits: UnpackLimits = LIMITS
    listener: Listener = ignore_event
    job_workers: JobWorkers | None = None

    def refuse_job_workers(self, path: Path) -> None:
        """Raises `UsageFault` where a cluster is to validate a package that it cannot."""
        if self.job_workers is not None:
            raise UsageFault(what="engine-form", where=str(path))


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A path to be read as a source. `detected` is what was found there, None if somebody says which form it is;
    `depth` is the number of packages around it."""

    where: str
    detected: DetectedForm | None = None
    limits: UnpackLimits = LIMITS
    listener: Listener = ignore_event
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """What `--as NAME` makes. `maker` is the function that makes it, or its place as `module:function`: it is given a
    `Delivery` and the name, and returns the package that was made; the maker of a database is given the source.

    `content` is the folder where content lies in the package, which ends with a slash; `{part}` in it is the folder of
    a part. `whole` is True if another package goes in as it stands, so that nothing of it is lost.
    """

    name: str
    maker: str | Callable[..., object]
    kind: ProductKind = "package"
    content: str = ""
    whole: bool = False


def is_never(*_: object) -> bool:
    """Says no, whatever is asked."""
    return False


def lacks_nothing(*_: object) -> str:
    """Names nothing, whatever is asked."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageForm:
    """A form of package.

    To know it by: `marker_files` are paths from its root, `parts` patterns of what may stand beside them, and
    `looks_like` judges what was seen of both. Forms are asked by `rank`, lowest first: one that may hold others goes
    before them. `sure` is True if the first sight of the marks in an archive file is enough, `in_folder` where they
    make a folder a package, `beside_others` where that folder may lie beside other things, and `holds_twins` where
    two names may stand in an archive file that only some systems can tell apart. `stands_at` knows a place without
    marks. `lacks` knows by what was seen, and `lacks_at` by its path, a place that can only be meant as one, and names
    what is missing or damaged of it; `judges_remnants` is True if its rules can tell what else is wrong there.

    As a source: `source_kind` is the kind of source that `find_source` finds and `reopen` opens again for a plan.

    To be checked: `validate`, and `second_opinion`, which answers None to leave it to the command of the user.
    `rule_ids` finds the ids of rules in what other tools print; `false_alarms` are those that they find broken where
    they are kept. `loss_rules` are the codes whose breach means that bytes were lost or changed, or that nobody can
    say which there should be. `uses_job_workers` is True if a cluster can share the work. `own_files` are files, from
    its root, that another package replaces by what it says of itself.

    To be carried over into another package: `layout` is how it holds its content and `content` the folder where that
    lies, with a slash at its end; `original_names` tells stored paths with the keys of their original ones.
    `open_package` opens one that lies in no folder or archive file of its own, `description_of` finds a document that
    lies beside it. `documents` are patterns of what describes it, with the kind of each, and `statement_reader`, which
    may be a place as `module:function`, reads what these say.

    To be made: `products`. `words` are tables of texts by language, as in noarkit/words: `[say]`, with what the form
    is called as `"form.NAME"` and `"validation.form-NAME"`, and `"summary.ENTRY"` for what its reports sum up; and
    `[rules]`, with the `title = …` and the `told = …` of every code.
    """

    name: FormName
    source_kind: str
    looks_like: Callable[[FormEvidence], bool]
    find_source: Callable[[SourcePlace], Source | None]
    reopen: Callable[[SourceIdentity], Source]
    validate: Callable[[Path, DetectedForm, ValidateOptions], ValidateResult]
    second_opinion: Callable[[ValidateResult, str, ReadOpinion], Opinion | None] | None = None
    marker_files: frozenset[str] = frozenset()
    parts: tuple[re.Pattern[str], ...] = ()
    rank: int = LAST_RANK
    sure: bool = False
    in_folder: bool = True
    beside_others: bool = False
    holds_twins: bool = False
    stands_at: Callable[[Path], bool] = is_never
    lacks: Callable[[FormEvidence], str] = lacks_nothing
    lacks_at: Callable[[Path], str] = lacks_nothing
    judges_remnants: bool = False
    own_files: re.Pattern[str] | None = None
    rule_ids: re.Pattern[str] | None = None
    false_alarms: frozenset[str] = frozenset()
    loss_rules: frozenset[str] = frozenset()
    uses_job_workers: bool = False
    layout: Layout = "folder"
    content: str = ""
    original_names: Callable[[Storage], Iterator[tuple[str, str]]] | None = None
    open_package: Callable[[DetectedForm, Path, UnpackLimits], Storage] | None = None
    description_of: Callable[[Path], Path | None] | None = None
    documents: tuple[tuple[re.Pattern[str], str], ...] = ()
    statement_reader: str | Callable[..., object] | None = None
    products: tuple[Product, ...] = ()
    words: Mapping[str, Mapping[str, Mapping[str, object]]] = field(default_factory=dict)

    @property
    def takes_whole(self) -> bool:
        """True if it takes another package as it stands, and is unwrapped where it goes into one of its own."""
        return any(product.whole for product in self.products)
