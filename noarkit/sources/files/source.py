"""A file tree, or a single file, as a source of records."""

from __future__ import annotations

import hashlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from noarkit.errors import PlanFault, SourceGone
from noarkit.events import Listener
from noarkit.graph.entity import Content, Note, SetAside, Skipped
from noarkit.recipes.proposal import describe_kinds, observe
from noarkit.recipes.recipe_model import RegisterRules
from noarkit.recipes.toml_table import ASK
from noarkit.records import ContentStream, MailAccount, RegisterAccount, SourceIdentity, SourceItem, SourceRecord
from noarkit.safe import folder_handles
from noarkit.sources.files import folders, policy
from noarkit.sources.files.dates import latest_day
from noarkit.sources.files.default import TOP, default_recipe
from noarkit.sources.files.file_filter import FileFilter, FoundFile
from noarkit.sources.files.inspection import OpenRoot, inspected
from noarkit.sources.files.inspector import Inspector
from noarkit.sources.files.levels import Levels, survey
from noarkit.sources.files.mail_filing import MailFiling
from noarkit.sources.files.names import key_of, readable, text_of
from noarkit.sources.files.owners import owner_of
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.records import RecordMaker
from noarkit.sources.files.register.database_table import full_address
from noarkit.sources.files.register.joining import joined_register
from noarkit.sources.files.register.lookup import FolderRegisters, LeadingRegister, NamedFile, with_register_row
from noarkit.sources.files.register.recipe_text import UNKNOWN_TABLE
from noarkit.sources.files.streams import open_content
from noarkit.sources.files.walk import EmptyFolder, Walk, WalkItem
from noarkit.sources.item_stream import sample_records, system_name, with_progress

_LONGEST_SYSTEM = 200
_AS_IT_STANDS = FilePolicy()


class FileSummary(NamedTuple):
    """What a look from outside tells of a file."""

    kind: str
    size_bytes: int
    modified_ns: int
    format: str
    notes: tuple[Note, ...]


class FileTree:
    """The files below `root`, or the one file `root`. `clock` gives seconds since 1970."""

    def __init__(
        self, root: Path, file_policy: FilePolicy = _AS_IT_STANDS, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._where = root.absolute()
        self._policy = file_policy
        self._clock = clock
        self._only = None if self._where.is_dir() or not os.path.lexists(self._where) else os.fsencode(self._where.name)
        self._root = self._where if self._only is None else self._where.parent
        self._account: RegisterAccount | None = None
        self._mail_account: MailAccount | None = None

    @property
    def identity(self) -> SourceIdentity:
        """Kind `files`, the place, and what the policy changes."""
        return SourceIdentity("files", key_of(os.fsencode(self._where)), self._policy.settings())

    def fitted(self, settings: Mapping[str, object]) -> FileTree:
        """The same files on the terms of a recipe's `[source]`. Raises `PlanFault` for what is none."""
        return FileTree(self._where, self._policy.with_settings(settings), clock=self._clock)

    def with_register(self, where: str) -> FileTree:
        """The same files with a register in a database, at an address with or without a table; `"ask"` where somebody
        is to say it later. It is recognised when a recipe is proposed. Raises `UsageFault`, `SecretOnTheLine`."""
        rules = RegisterRules(database=where if where == ASK else full_address(where))
        return FileTree(self._where, replace(self._policy, register=rules), clock=self._clock)

    def with_patterns(self, include: tuple[str, ...], exclude: tuple[str, ...]) -> FileTree:
        """The same files but those that these patterns leave out too."""
        policy = replace(
            self._policy, include=include or self._policy.include, exclude=(*self._policy.exclude, *exclude)
        )
        return FileTree(self._where, policy, clock=self._clock)

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """Every file once, in the order of the walk (or of a leading register), in constant memory.

        Raises `SourceGone` where the root is not there, or is no longer there at the end; `ItemMalformed` or
        `ItemVanished` for a leading register that cannot be read.
        """
        return with_progress(self._records(), emit)

    def summaries(self, emit: Listener) -> Iterator[FileSummary | SetAside | Skipped] | None:
        """The same items seen from outside, several times faster; None if the policy looks inside."""
        return None if self._policy.look_inside or self._policy.lead else self._summaries(emit)

    def open(self, content: Content) -> AbstractContextManager[ContentStream]:
        """Opens a content by its locator. Raises `ItemVanished`, `ItemUnreadable`, `ItemNotAFile`, `ItemChanged`."""
        follow = self._policy.links == "follow"
        return open_content(self._root, content, follow=follow, mail_limit_bytes=self._policy.mail_limit_bytes)

    @property
    def has_register(self) -> bool:
        """True where a recipe names a register."""
        return bool(self._policy.register.file)

    def register_account(self) -> RegisterAccount | None:
        """What the records that were read last had to do with the register; None where there is none."""
        return self._account

    def mail_account(self) -> MailAccount | None:
        """How the mails among the records that were read last were filed; None where they stay where they lie."""
        return self._mail_account

    def survey_register(self, emit: Listener) -> RegisterAccount | None:
        """How a register would be joined with what is there, without a look into any file."""
        outside = FileTree(self._where, replace(self._policy, look_inside=False), clock=self._clock)
        if self._policy.register.place:
            deque(outside.records(emit), maxlen=0)
        return outside.register_account()

    def digest(self, emit: Listener) -> str:
        """A checksum of the names, sizes and times of all files, whatever of them a recipe takes."""
        whole = FileTree(self._where, clock=self._clock)
        root, digest = folders.open_root(self._root), hashlib.sha256()
        try:
            for item in with_progress(whole._walk(root, self._clock()), emit):
                if isinstance(item, FoundFile):
                    status = item.status
                    key = item.folder.key + key_of(item.name)
                    digest.update(f"{key}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
        finally:
            folder_handles.close(root)
        return digest.hexdigest()

    def default_recipe(self) -> str:
        """One record with one document and one version per file; folders down to the case files become Mappe.

        The source's name in the archive is its kind and path, so that equal paths within two trees are not taken for
        the same record.
        """
        return self._recipe("en")

    def proposal(self, emit: Listener, *, lang: str = "en") -> str:
        """The default recipe, with what the first records hold, ten thousands of them, as its comments."""
        bare = FileTree(self._where, replace(self._policy, register=RegisterRules()), clock=self._clock)
        return f"{describe_kinds(observe(sample_records(bare.records(emit))), lang)}\n{self._recipe(lang, asks=True)}"

    def _recipe(self, lang: str, *, asks: bool = False) -> str:
        levels = self._levels_with_register()
        owner = owner_of(levels.letters, levels.mailboxes)
        letters = self._policy.mail == "file"
        return default_recipe(
            "files", self._system(), self._root_name(), levels, owner, letters=letters, lang=lang, asks=asks
        )

    def _levels_with_register(self) -> Levels:
        database = self._policy.register.database
        if database == ASK:
            return replace(self._levels(), register=UNKNOWN_TABLE)
        levels = self._levels(database)
        if database and levels.register is None:
            raise PlanFault(where=database, why="no-register-there", name=database)
        return levels

    def _levels(self, database: str = "") -> Levels:
        if self._only is None:
            return survey(self._root, database)
        is_mailbox = self._policy.mail != "file"
        return replace(
            TOP, mails=int(is_mailbox), mailboxes=(self._root / os.fsdecode(self._only),) if is_mailbox else ()
        )

    def _records(self) -> Iterator[SourceItem]:
        now = self._clock()
        latest, evidence = latest_day(now), self._policy.dates
        for item in self._joined_records(now):
            yield evidence.dated(item, latest) if isinstance(item, SourceRecord) else item

    def _joined_records(self, now: float) -> Iterator[SourceItem]:
        """The records, each with its row of the register that lies among them."""
        if not self._policy.register.place:
            yield from self._filed_records(now)
            return
        if not self._policy.register.column:
            recognised = FileTree(self._where, self._recognised_policy(), clock=self._clock)
            yield from recognised._joined_records(now)
            self._account, self._mail_account = recognised.register_account(), recognised.mail_account()
            return
        root = folders.open_root(self._root)
        try:
            register = joined_register(root, self._policy, self._root_name())
        finally:
            folder_handles.close(root)
        with closing(register):
            yield from register.items(self._filed_records(now))
            self._account = register.account()

    def _recognised_policy(self) -> FilePolicy:
        """The policy with what the table of a database holds, as nobody said which of its columns means what."""
        asked = self._policy.register
        levels = self._levels(asked.database)
        if levels.register is None:
            raise PlanFault(where="[register]", why="no-register-there", name=asked.database)
        rules = levels.register.rules
        columns = {**rules.columns, **asked.columns}
        rules = replace(rules, columns=columns, no_folder=asked.no_folder, no_row=asked.no_row)
        case_name = self._policy.case_name or (levels.fit.form.text if levels.fit and rules.of_cases else "")
        return replace(self._policy, register=rules, case_name=case_name)

    def _filed_records(self, now: float) -> Iterator[SourceItem]:
        """The records, each mail in the folder of the case that its subject names."""
        if not self._policy.files_mails:
            yield from self._undated_records(now)
            return
        with closing(MailFiling(self._root, self._policy)) as mail_filing:
            yield from mail_filing.items(self._undated_records(now))
            self._mail_account = mail_filing.account()

    def _undated_records(self, now: float) -> Iterator[SourceItem]:
        root = folders.open_root(self._root)
        with ExitStack() as stack:
            stack.callback(folder_handles.close, root)
            maker = RecordMaker(self._root_name(), now=now, file_policy=self._policy)
            if not self._policy.look_inside:
                make_record = maker.file
                for item in self._walk(root, now):
                    yield make_record(item) if isinstance(item, FoundFile) else _plain_record(item, maker)
                return
            inspector = stack.enter_context(Inspector(maker, self._policy))
            if self._policy.lead:
                yield from self._register_records(root, now, inspector, maker)
            else:
                yield from self._walk_records(root, now, inspector)

    def _walk_records(self, root: int, now: float, inspector: Inspector) -> Iterator[SourceItem]:
        use_registers = self._policy.registers
        with FolderRegisters(root, self._policy.register_column) as registers:
            for item, record in inspected(self._walk(root, now), inspector, OpenRoot(self._root, root)):
                if use_registers and isinstance(item, FoundFile) and isinstance(record, SourceRecord):
                    yield registers.enrich(record, item)
                else:
                    yield record

    def _register_records(
        self, root: int, now: float, inspector: Inspector, maker: RecordMaker
    ) -> Iterator[SourceItem]:
        file_filter = FileFilter(self._policy, now=now)
        with LeadingRegister(root, self._policy.lead, self._policy.register_column, file_filter) as lead:
            for row in lead.files():
                if isinstance(row, NamedFile):
                    yield from (with_register_row(record, row.row, row.key) for record in inspector.items(row.file))
                else:
                    yield row
            for item in self._walk(root, now):
                if isinstance(item, FoundFile):
                    yield from self._unnamed_records(item, lead, inspector)
                elif isinstance(item, EmptyFolder) or not lead.has_file(item.record_key):
                    yield _plain_record(item, maker)

    def _unnamed_records(self, item: FoundFile, lead: LeadingRegister, inspector: Inspector) -> Iterator[SourceItem]:
        key = item.folder.key + key_of(item.name)
        if key == lead.key:
            yield Skipped(key, policy.SKIPPED_REGISTER)
        elif lead.has_file(key):
            return
        elif self._policy.unnamed == "skip":
            yield Skipped(key, policy.SKIPPED_UNNAMED)
        else:
            yield from inspector.items(item)

    def _summaries(self, emit: Listener) -> Iterator[FileSummary | SetAside | Skipped]:
        now = self._clock()
        root = folders.open_root(self._root)
        try:
            maker = RecordMaker(self._root_name(), now=now, file_policy=self._policy)
            for item in with_progress(self._walk(root, now), emit):
                if isinstance(item, FoundFile):
                    status = item.status
                    yield FileSummary("file", status.st_size, status.st_mtime_ns, *maker.summarize(item))
                elif isinstance(item, EmptyFolder):
                    yield FileSummary("folder", 0, item.status.st_mtime_ns, "", maker.folder(item).notes)
                else:
                    yield item
        finally:
            folder_handles.close(root)

    def _walk(self, root: int, now: float) -> Iterator[WalkItem]:
        identity = folder_handles.status_of(root)

        def check_root() -> None:
            try:
                root_status = self._root.stat()
                if self._only is not None:
                    folder_handles.status_in(self._only, root)
            except OSError as error:
                raise SourceGone(where=self.identity.where, why="vanished while it was read") from error
            if not os.path.samestat(root_status, identity):
                raise SourceGone(where=self.identity.where, why="replaced while it was read")

        return Walk(root, self._policy, now=now, check_root=check_root, only=self._only).items()

    def _system(self) -> str:
        return system_name("files", self.identity.where)

    def _root_name(self) -> str:
        return readable(text_of(os.fsencode(self._root.resolve().name))) or "/"


def _plain_record(item: WalkItem, maker: RecordMaker) -> SourceItem:
    if isinstance(item, FoundFile):
        return maker.file(item)
    return maker.folder(item) if isinstance(item, EmptyFolder) else item
