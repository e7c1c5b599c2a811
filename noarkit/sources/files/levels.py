"""Finds the level of folders at which case files lie, from the folders alone: how many, how deep, how they are named.

    survey(Path("/srv/saker"))     Levels(case_level=2, folders=130, named=128, deeper=40)

Level 1 are the folders directly below the root. A level holds case files where most of its folders are named like
cases (a year, a date, a case number, a leading number); where names tell nothing, the level at which the same file
names return in folder after folder; of a few folders, where all are named so and no file lies above them; else level 1.
Memory grows with the number of levels, never with that of folders.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from noarkit.sources.files.case_names import Fit, Folder, best_fit, is_like_case
from noarkit.sources.files.mail_filing import ENDINGS, MailEvidence, mail_evidence
from noarkit.sources.files.names import is_system_name, normalize_name
from noarkit.sources.files.register.finder import (
    EXTENSIONS,
    MOST_CANDIDATES,
    FoundRegister,
    Places,
    find_register,
    find_table,
    is_candidate,
)
from noarkit.sources.files.tree_times import TreeTimes

_DEEPEST = 12
_MOST_LETTERS = 200
_LETTERS = (".eml", ".msg")
_MOST_NAMES = 5_000
_MOST_FILE_NAMES = 50_000
_LEAST_FOLDERS = 3
_LEAST_MAILS = 3
_LEAST_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class Levels:
    """The level of the case files; how many folders lie there, how many of them are named like cases, and how many
    folders with files lie deeper, which are no folders of their own in the archive; how many single mails lie anywhere,
    and where the first of them are; the first and the last of the days in which files were `copied`; the form of
    the names, where they bear case numbers; a register that lies above the case files; how many files a desktop system
    left behind; how many names of cases tell a property; what the mailboxes say of the cases of their
    mails; and where those are of which each mail is a record."""

    case_level: int = 1
    folders: int = 0
    case_like: int = 0
    deeper: int = 0
    mails: int = 0
    letters: tuple[Path, ...] = ()
    root_is_case: bool = False
    copied: tuple[str, ...] = ()
    fit: Fit | None = None
    register: FoundRegister | None = None
    left_behind: int = 0
    with_property: int = 0
    mail_cases: MailEvidence | None = None
    mailboxes: tuple[Path, ...] = ()

    @property
    def are_cases(self) -> bool:
        """True if the folders of the level are named like cases, not only chosen as the likeliest.

        Of a few folders all must be, and of a root without folders its own name tells; there must be mails then.
        """
        if self.folders >= _LEAST_FOLDERS:
            return self.case_like >= _LEAST_SHARE * self.folders
        are_all = self.case_like == self.folders if self.folders else self.root_is_case
        return are_all and self.mails >= _LEAST_MAILS


@dataclass(slots=True)
class _Level:
    folders: int = 0
    case_like: int = 0
    with_files: int = 0
    names: Counter[str] = field(default_factory=Counter)


def survey(root: Path, database: str = "") -> Levels:
    """What the folders below `root` say, and the table of a database that is a register of them. A folder that cannot
    be read counts, and nothing below it does."""
    levels: dict[int, _Level] = {}
    mails, letters, times = 0, list[Path](), TreeTimes(datetime.now(UTC).year)
    tables, file_names, mailboxes = list[tuple[int, Path]](), set[str](), list[Path]()
    left_behind = 0
    for depth, place, names in _folders(root, times):
        left_behind += sum(map(is_system_name, names))
        files = [name for name in names if not name.startswith(".")]
        for file in files:
            if file.lower().endswith(EXTENSIONS) and len(tables) < MOST_CANDIDATES:
                tables.append((depth, Path(place, file)))
            if file.lower().endswith(ENDINGS) and len(mailboxes) < _MOST_LETTERS:
                mailboxes.append(Path(place, file))
            if len(file_names) < _MOST_FILE_NAMES:
                file_names.add(normalize_name(file))
            if file.lower().endswith(_LETTERS):
                mails += 1
                if len(letters) < _MOST_LETTERS:
                    letters.append(Path(place, file))
        if not depth:
            continue
        name = os.path.basename(place)  # noqa: PTH119  # a path of the system's own, millions of times
        level = levels.setdefault(depth, _Level())
        level.folders += 1
        level.case_like += is_like_case(name)
        level.with_files += bool(files)
        for file in files:
            if file in level.names or len(level.names) < _MOST_NAMES:
                level.names[file] += 1
    case_level = _case_level(levels)
    here = levels.get(case_level, _Level())
    deeper = sum(level.with_files for depth, level in levels.items() if depth > case_level)
    folders = times.folders(case_level)
    fit = best_fit(folders)
    above = [path for depth, path in tables if depth < case_level and is_candidate(path)]
    places = Places(folders, fit.form if fit else None, file_names)
    register = find_table(database, places) if database else find_register(root, above, places) if above else None
    if register and fit and register.rules.joins == "case.number":
        fit = replace(fit, asks=False)  # the register has the same numbers
    evidence = (
        mail_evidence(root, sorted(mailboxes), case_level, fit.form, asks=fit.asks) if fit and mailboxes else None
    )
    mails += evidence.messages if evidence else 0
    return Levels(
        case_level,
        here.folders,
        here.case_like,
        deeper,
        mails,
        tuple(letters),
        root_is_case=is_like_case(root.resolve().name),
        copied=times.wave(),
        fit=fit,
        register=register,
        left_behind=left_behind,
        with_property=_with_property(folders, fit),
        mail_cases=evidence,
        mailboxes=tuple(sorted(mailboxes)) if evidence else (),
    )


def _with_property(folders: Sequence[Folder], fit: Fit | None) -> int:
    """How many case folders name a property, where they have a form."""
    cases = (fit.form.parse(folder.name) for folder in folders) if fit else ()
    return sum(bool(case.properties) for case in cases if case)


def _case_level(levels: dict[int, _Level]) -> int:
    for depth, level in sorted(levels.items()):
        if level.folders >= _LEAST_FOLDERS and level.case_like >= _LEAST_SHARE * level.folders:
            return depth
    for depth, level in sorted(levels.items()):
        most = max(level.names.values(), default=0)  # "Vedtak.pdf" in folder after folder
        if level.with_files >= _LEAST_FOLDERS and most >= max(_LEAST_FOLDERS, _LEAST_SHARE * level.with_files):
            return depth
    above = 0
    for depth, level in sorted(levels.items()):  # of a few folders all must be named so, and no file lie above them
        if level.case_like == level.folders and not above:
            return depth
        above += level.with_files
    return 1


def _folders(root: Path, times: TreeTimes) -> Iterator[tuple[int, str, list[str]]]:
    """The root and every folder below it: its level, its path, the names of the files in it. Links are not followed.
    What the names and times of all say is added to `times`."""
    waiting: list[tuple[tuple[str, ...], str]] = [((), os.fspath(root))]
    while waiting:
        steps, place = waiting.pop()
        files: list[str] = []
        times.enter(steps)
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if len(steps) < _DEEPEST:
                            waiting.append(((*steps, entry.name), entry.path))
                        continue
                    files.append(entry.name)
                    if not entry.name.startswith("."):
                        times.add_file(entry.name, entry.stat(follow_symlinks=False).st_mtime_ns)
        except OSError:
            files = []  # whoever reads it says that it cannot be read
        yield len(steps), place, files
