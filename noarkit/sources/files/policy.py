"""What a file tree is asked to take, and what it says about what it takes.

Notes are warnings on a record that is taken all the same:

W201  the name holds bytes that are no text; the key keeps them, titles show U+FFFD
W202  the name holds signs that XML forbids; titles show their pictures
W203  the name holds signs that do not show or that turn the reading direction
W204  another name in the folder differs from this only by case
W205  another name in the folder differs from this only by how its letters are composed
W206  the path is longer than 255 signs
W207  the file is empty
W208  the file lies on another file system than the root
W209  the time of change is before 1970, at its first second, or in the future
W210  reached through a link
W211  a mail that breaks the rules of its form; what could be read was
W212  a mail too large to be taken apart; it is taken whole
W213  the register knows the file under another writing of its name
W214  a register that could not be read; the files beside it are taken without it
W215  the register names the file more than once
W217  named as a mail, but not readable as one; it is taken as a plain file
W218  a mail with more parts than are taken apart; it is taken whole
W219  what hangs on a mail without bytes of its own (a message within it, a link to a file) stays within it
W225  locked by a password, or encrypted
W226  damaged: its end is missing, or its container cannot be read
W230  a video whose codec no depot accepts, or tells of none
W227  the test file of virus scanners
W216  the file lies in folders below its case file, which become part of its title instead of folders of their own
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from typing import Literal, get_args, get_type_hints

from noarkit.errors import PlanFault
from noarkit.graph.entity import Note
from noarkit.recipes.recipe_model import EVIDENCE, RegisterRules
from noarkit.recipes.toml_table import ASK
from noarkit.safe.secret_files import SKIPPED_SECRETS as SKIPPED_SECRETS
from noarkit.sources.files.case_names import FORMS, BadForm, read_form
from noarkit.sources.files.dates import DateEvidence
from noarkit.sources.files.register.database_table import full_address

UNDECODABLE = Note("W201")
FORBIDDEN_SIGNS = Note("W202")
INVISIBLE_SIGNS = Note("W203")
CASE_TWIN = Note("W204")
COMPOSITION_TWIN = Note("W205")
LONG_PATH = Note("W206")
EMPTY = Note("W207")
OTHER_FILE_SYSTEM = Note("W208")
ODD_TIME = Note("W209")
THROUGH_LINK = Note("W210")
MAIL_DEFECTS = Note("W211")
MAIL_TOO_LARGE = Note("W212")
REGISTER_OTHER_WRITING = Note("W213")
REGISTER_UNREADABLE = Note("W214")
REGISTER_NAMES_TWICE = Note("W215")
FLATTENED = Note("W216")
LOCKED = Note("W225")
DAMAGED = Note("W226")
CODEC = Note("W230")
VIRUS_TEST = Note("W227")
MAIL_UNREADABLE = Note("W217")
MAIL_TOO_COMPLEX = Note("W218")
MAIL_WITHIN = "W219"

SKIPPED_LINK = "a link"
SKIPPED_LINK_TO_FOLDER = "a link to a folder"
SKIPPED_HIDDEN = "a hidden name"
SKIPPED_SYSTEM = "made by a desktop system"
SKIPPED_FILE_SYSTEM = "on another file system"
SKIPPED_EXCLUDED = "excluded by a pattern"
SKIPPED_NOT_INCLUDED = "in no pattern of what to include"
SKIPPED_REGISTER = "the register itself"
SKIPPED_NO_ROW = "in a case file that the register does not have"
SKIPPED_UNNAMED = "not named by the register"
SKIPPED_NO_MAIL = "a mailbox without mail"

_TEXTS = ("own_domains", "include", "exclude", "case_exceptions", "dates_from", "dates_period", "dates_copied")


_NO_REGISTER = RegisterRules()


@dataclass(frozen=True, slots=True)
class FilePolicy:
    """What a file tree yields. As it stands: one record for every readable file, and nothing else.

    links         `skip`, or `follow` those that lead to a file (never to a folder: it could lead back)
    hidden        names that begin with a dot: `take` or `skip`
    system        Thumbs.db, .DS_Store, desktop.ini and their like: `take` or `skip`
    empty_folders `ignore`, or `record` them as records of kind `folder`
    file_systems  `cross` with a note, or `stay` on the root's own
    look_inside   False: names, sizes and times only; no file is opened, whatever stands below
    settle_s      a file changed so recently is set aside as too new; 0 takes all
    media_types   tell the media type from the first bytes
    puids         tell the PRONOM identifier (needs the extra `noarkit[pronom]`)
    mail          `file`: a mail is a file, with its head in `mail`; `messages`: a mailbox is cut into its mails;
                  `parts`: attachments are contents of their own, too; `letters`: the same for single mails, while a
                  mailbox stays a file
    mail_cases    `folder`: a mail belongs where it lies; `number`: a mailbox is cut into its mails, and each mail
                  outside the case files goes to the one whose number its subject names (see `mail_filing`)
    own_domains   the domains of the owner's addresses: they tell which mails came in and which went out
    mail_limit_bytes  larger mails are not taken apart
    registers     read `metadata.csv`, `.json` and `.xlsx` beside the files
    register_column   the register's column that names the file; found by its name where empty
    lead          the path of a register that leads: its rows are the records
    case_level    the level of folders that are case files; files in folders below them are noted. 0: none is
    case_name     the form of their names, where they bear case numbers: `{year:4}-{number} {title}`
    case_exceptions  names of folders of that level whose number is not taken
    register      a register of cases or documents among the files or in a database (see `RegisterRules`)
    include       patterns of names; files that none of them takes in are left out
    exclude       patterns of names that are left out, whatever is included
    unnamed       what happens to files that a leading register does not name: `skip` or `take`
    dates_from    what may say the date of a file, the best first (see `dates`)
    dates_period  the first and the last day that dates are expected in
    dates_copied  the first and the last day in which files were copied, so that their times say nothing
    """

    links: Literal["skip", "follow"] = "skip"
    hidden: Literal["take", "skip"] = "take"
    system: Literal["take", "skip"] = "take"
    empty_folders: Literal["ignore", "record"] = "ignore"
    file_systems: Literal["cross", "stay"] = "cross"
    look_inside: bool = True
    settle_s: float = 0.0
    media_types: bool = True
    puids: bool = False
    mail: Literal["file", "letters", "messages", "parts"] = "file"
    mail_cases: Literal["folder", "number"] = "folder"
    own_domains: tuple[str, ...] = ()
    mail_limit_bytes: int = 32 * 1024 * 1024
    registers: bool = True
    register_column: str = ""
    lead: str = ""
    unnamed: Literal["skip", "take"] = "skip"
    case_level: int = 0
    case_name: str = ""
    case_exceptions: tuple[str, ...] = ()
    register: RegisterRules = _NO_REGISTER
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    dates_from: tuple[str, ...] = EVIDENCE
    dates_period: tuple[str, ...] = ()
    dates_copied: tuple[str, ...] = ()

    @property
    def dates(self) -> DateEvidence:
        """What says the date of a file."""
        return DateEvidence(self.dates_from, self.dates_period, self.dates_copied)

    @property
    def files_mails(self) -> bool:
        """True if mails go to the cases that their subjects name."""
        return self.mail_cases == "number" and self.mail != "file" and bool(self.case_name) and self.case_level > 0

    @property
    def cuts_mailboxes(self) -> bool:
        """True if each mail of a mailbox is a record."""
        return self.mail in ("messages", "parts") or self.files_mails

    @property
    def reads_documents(self) -> bool:
        """True if documents are asked when they were saved."""
        return self.look_inside and "document" in self.dates_from

    def with_settings(self, settings: Mapping[str, object]) -> FilePolicy:
        """This policy with what a recipe's `[source]` says. Raises `PlanFault` for what is none of it."""
        kinds = get_type_hints(FilePolicy)
        changes = {name: value for name, value in settings.items() if name != "kind"}
        for name, value in changes.items():
            if name not in kinds:
                near = next(iter(get_close_matches(name, kinds, 1)), "")
                raise PlanFault(where="[source]", why="unknown-key", name=name, near=near)
            if name in _TEXTS:
                changes[name] = _texts(name, value)
                continue
            if name == "register" and isinstance(value, Mapping):
                changes[name] = _register(RegisterRules(**value))
                continue
            if name == "case_name" and value and not _is_form(value):
                raise PlanFault(where="[source] case_name", why="no-such-choice", name=", ".join(FORMS[:3]))
            choices = get_args(kinds[name])
            if choices and value not in choices:
                raise PlanFault(where=f"[source] {name}", why="no-such-choice", name=", ".join(choices))
            # a whole number serves as a measure, and true is no number
            expected_types: tuple[type, ...] = (
                (int, float) if kinds[name] is float else (str if choices else kinds[name],)
            )
            if not isinstance(value, expected_types) or (isinstance(value, bool) and bool not in expected_types):
                raise PlanFault(where=f"[source] {name}", why="wrong-kind", name=name)
        return replace(self, **changes)  # type: ignore[arg-type]  # each was judged above

    def settings(self) -> Mapping[str, object]:
        """What differs from the default, for the plan's first page."""
        changes = {
            option.name: getattr(self, option.name)
            for option in fields(self)
            if getattr(self, option.name) != option.default
        }
        return {**changes, "register": asdict(self.register)} if self.register.place else changes


def _register(rules: RegisterRules) -> RegisterRules:
    address = rules.database
    return replace(rules, database=full_address(address)) if address and address != ASK else rules


def _is_form(value: object) -> bool:
    try:
        read_form(str(value))
    except BadForm:
        return False
    return True


def _texts(name: str, value: object) -> tuple[str, ...]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) and item for item in items):
        raise PlanFault(where=f"[source] {name}", why="wrong-kind", name=name)
    return tuple(items)
