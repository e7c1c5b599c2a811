"""Remedies and commands on the pages and in the lists of a run: of this run, with all that it was asked for."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import cache

from noarkit.loading.folder import RunFolder
from noarkit.loading.next_step import NEEDS_PLAN, command_line, with_real_commands
from noarkit.loading.numbers import count_needing_plan
from noarkit.words.texts import explain, texts


def remedies(folder: RunFolder, lang: str) -> Callable[[str, bool], str]:
    """What to do about a fault code of this run, and whether the plan itself left the items out: then another try does
    not help, and a new plan is advised."""

    @cache
    def remedy(code: str, by_plan: bool) -> str:
        text = (explain(code, lang) or ["", "", "", ""])[3]
        forgotten = texts(lang).say("end.forgotten")
        return with_real_commands(text, folder, forgotten=forgotten, only_plan=by_plan or code in NEEDS_PLAN)

    return remedy


def page_words(folder: RunFolder, lang: str) -> dict[str, object]:
    """What a template of a run calls: `remedy_of(code)` and `command(words…)`."""
    remedy = remedies(folder, lang)

    @cache
    def remedy_of(code: str) -> str:
        """The remedy of a code; a new plan, where all items with it were left out by the plan."""
        all_ = count_needing_plan(folder, (code,), code)
        return remedy(code, all_ > 0 and count_needing_plan(folder, (), code) == all_)

    def command(verb: str, *words: str) -> str:
        """A command on this run."""
        return shlex.join(command_line(verb, folder.path, *words, folder=folder))

    return {"remedy_of": remedy_of, "command": command}
