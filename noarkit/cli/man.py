"""`noarkit man`: the manual page, made from the same words and chapters as the help."""

from __future__ import annotations

import click

from noarkit.cli.help import chapter_help
from noarkit.cli.main import COMMANDS, PROGRAM, program
from noarkit.cli.options import Session, command, global_options
from noarkit.events import EventFields
from noarkit.manual.chapters import CHAPTERS
from noarkit.version import __version__
from noarkit.words.texts import Texts

EVENTS: EventFields = {"man": {"text": "text"}}


@command("man")
def man_command(session: Session) -> None:
    """Prints the page in the form that `man -l` reads."""
    ctx = click.get_current_context().find_root()
    page = "\n".join(_page(session.texts, ctx))
    session.console.result("man", page, text=page)


def _page(texts: Texts, ctx: click.Context) -> list[str]:
    lines = [
        f'.TH NOARKIT 1 "" "noarkit {__version__}"',
        f".SH {texts.say('help.man-name')}",
        _text(f"noarkit - {texts.text('program', 'short')}"),
    ]
    lines += [f".SH {texts.say('help.man-synopsis')}", f".B {PROGRAM}", texts.say("help.line")]
    lines.append(f".SH {texts.say('help.man-description')}")
    lines.append(_text(texts.text("program", "long")))
    lines.append(f".SH {_text(texts.say('help.commands')).upper()}")
    for name in COMMANDS:
        lines += _command(texts, ctx, name)
    lines.append(f".SH {_text(texts.say('help.globals')).upper()}")
    lines += _options(ctx, global_options())
    for chapter in CHAPTERS:
        lines += [f".SH {_text(chapter).upper()}", ".nf", _text(chapter_help(chapter, texts)), ".fi"]
    return lines


def _command(texts: Texts, ctx: click.Context, name: str) -> list[str]:
    click_command = program().get_command(ctx, name)
    assert click_command is not None  # noqa: S101  # every name of COMMANDS has its module
    own = click.Context(click_command, parent=ctx, info_name=name)
    usage = " ".join(click_command.collect_usage_pieces(own))
    lines = [f".SS {PROGRAM} {name} {_text(usage)}", _text(texts.text("commands", name, "short") + ".")]
    lines += [".PP", ".nf", _text(texts.text("commands", name, "examples").strip()), ".fi"]
    if texts.has("commands", name, "long"):
        lines += [".PP", _text(texts.text("commands", name, "long").strip())]
    return lines + _options(own, [option for option in click_command.params if isinstance(option, click.Option)])


def _options(ctx: click.Context, options: list[click.Option]) -> list[str]:
    lines = []
    for option in options:
        record = option.get_help_record(ctx)
        if record is not None:
            lines += [".TP", f".B {_text(record[0])}", _text(record[1])]
    return lines


def _text(text: str) -> str:
    """Text whose signs troff does not take for its own."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in escaped.splitlines())
