"""`noarkit help`: commands, the chapters of the manual and every fault code, without a network."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import click

from noarkit import errors
from noarkit.cli.main import COMMANDS, PROGRAM, program
from noarkit.cli.options import GLOBAL_NAMES, Session, command, global_options
from noarkit.config import SETTINGS
from noarkit.errors import GRAVITY, NoarkitError, UsageFault
from noarkit.manual.chapters import CHAPTERS, POINTERS, chapter_title, find_chapter, read_chapter
from noarkit.manual.markdown import Block, Span, Table
from noarkit.manual.terminal import terminal_text
from noarkit.words.texts import Texts, explain


@command("help")
@click.argument("topic", metavar="[TOPIC|COMMAND|F###]", required=False)
def help_command(session: Session, topic: str | None) -> None:
    """Explains a command, a chapter of the manual or a fault code."""
    told = session.texts
    if topic is None:
        text = _command_help(None)
    elif topic in COMMANDS:
        text = _command_help(topic)
    elif topic.upper() in fault_kinds():
        text = _fault_help(fault_kinds()[topic.upper()], told)
    elif topic.upper() in told.tables["codes"]:
        text = f"{topic.upper()}  {told.text('codes', topic.upper())}"
    elif (chapter := find_chapter(topic)) is not None:
        text = chapter_help(chapter, told)
    else:
        known = [*COMMANDS, *CHAPTERS, *POINTERS, *fault_kinds(), *told.tables["codes"]]
        near = difflib.get_close_matches(topic, known, 1)
        where = f"{PROGRAM} help {topic}"
        raise UsageFault(what="no-such-topic", where=where, proposal=f"{PROGRAM} help {near[0]}" if near else None)
    session.face.result("help", text, topic=topic, text=text)


def fault_kinds() -> dict[str, type[NoarkitError]]:
    """Every fault there is, by its code, in order."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, NoarkitError)]
    return {kind.code: kind for kind in sorted(kinds, key=lambda kind: kind.code)}


def chapter_help(chapter: str, told: Texts) -> str:
    """A chapter as plain text, with the lists that are made from the code itself."""
    return terminal_text(read_chapter(chapter, told.lang, code_lists(told)))


def code_lists(told: Texts) -> dict[str, Block]:
    """The lists that chapters show and nobody writes by hand, by their name."""
    faults = [(code, (explain(code, told.lang) or [""])[0]) for code in fault_kinds()]
    return {
        "chapters": _rows((name, chapter_title(name, told.lang)) for name in CHAPTERS),
        "commands": _rows((name, told.text("commands", name, "short")) for name in COMMANDS),
        "exit-codes": _rows((f"{code:>3}", told.text("exits", str(code))) for code in GRAVITY),
        "faults": _rows(faults),
        "global-options": _rows(
            (", ".join(option.opts), told.text("options", "all", name))
            for name, option in zip(GLOBAL_NAMES, global_options(), strict=True)
        ),
        "settings": _rows((setting.key, setting.variable) for setting in SETTINGS),
    }


def _rows(pairs: Iterable[tuple[str, str]]) -> Table:
    return Table((), tuple(((Span("code", name),), (Span("text", text),)) for name, text in pairs))


def _command_help(name: str | None) -> str:
    ctx = click.get_current_context().find_root()
    if name is None:
        return ctx.get_help()
    found = program().get_command(ctx, name)
    assert found is not None  # noqa: S101  # every name of COMMANDS has its module
    return found.get_help(click.Context(found, parent=ctx, info_name=name))


def _fault_help(kind: type[NoarkitError], told: Texts) -> str:
    what, where, so_what, do = explain(kind.code, told.lang) or ["", "", "", ""]
    return "\n".join(
        [
            told.say("help.fault", code=kind.code, exit=kind().exit_code) + f"  ({kind.__name__})",
            "",
            what,
            told.say("help.transient" if kind.transient else "help.terminal"),
            "",
            f"{told.say('help.where')}: {where}",
            f"{told.say('help.so_what')}: {so_what}",
            f"{told.say('help.do')}: {do}",
        ]
    )
