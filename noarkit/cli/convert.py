"""`noarkit convert`: makes a package of a folder or of another package; the same again goes on."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from noarkit.api.converting import ConversionOptions, make_conversion
from noarkit.cli.form_choices import PRODUCTS
from noarkit.cli.next_command import next_command
from noarkit.cli.option_values import options_of
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings, working
from noarkit.errors import ItemNotAFile
from noarkit.events import EventFields
from noarkit.extraction.convert import ConvertResult
from noarkit.extraction.making_note import forget_note
from noarkit.extraction.renamed import names_path, set_aside_path
from noarkit.forms.registry import known_forms
from noarkit.reports.verdict_words import verdict_lines
from noarkit.verdict import NOT_READY_EXIT

_SHOWN = 20

EVENTS: EventFields = {"converted": {"form": "text"}}


@command("convert", exits=(3, 4, 5, 6, 8, 9, 10, 130, 143))
@click.argument("source", metavar="SOURCE")
@option("--as", "form", type=PRODUCTS, required=True)
@option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="OUT")
@options_of(options=ConversionOptions)
def convert_command(session: Session, *, source: str, form: str, output: Path, options: ConversionOptions) -> int:
    """Converts, and says what was made."""
    with working(session) as work:
        own = settings(session, None)
        result = make_conversion(source, output, options, form=form, settings=own, listener=work.emit)
    session.console.show(result, "\n".join(_lines(session, result, form)), form=form)
    session.console.count(bytes=result.bytes, set_aside=result.set_aside)
    session.console.once_told(partial(forget_note, result.package, "convert"))
    if result.verdict is not None and not result.verdict.is_ready:
        return NOT_READY_EXIT
    return ItemNotAFile.exit_code if result.set_aside else 0


def _lines(session: Session, result: ConvertResult, form: str) -> list[str]:
    """What was made, and what a person should know of it."""
    texts = session.texts
    source_form = texts.say(f"form.{result.source_form}")
    count = {"size": texts.size(result.bytes), "source": source_form}
    contents_key = "convert.database" if known_forms().product(form).kind == "database" else "convert.holds"
    lines = [texts.say("convert.made", path=result.package), texts.say(contents_key, files=result.files, **count)]
    if result.copies:
        lines.append(texts.say("convert.copies", count=result.copies))
    if result.access_copies:
        lines.append(texts.say("convert.access", count=result.access_copies, access_in=result.access_in))
    if result.defaults:
        lines.append(texts.say("convert.defaults"))
    if result.as_text:
        names = ", ".join(result.as_text[:_SHOWN]) + (" …" if len(result.as_text) > _SHOWN else "")
        lines.append(texts.say("convert.as_text", count=len(result.as_text), names=names))
    if result.left_out:
        names = ", ".join(result.left_out[:_SHOWN]) + (" …" if len(result.left_out) > _SHOWN else "")
        lines.append(texts.say("convert.left_out", names=names, path=set_aside_path(result.package)))
    elif result.set_aside:
        lines.append(
            texts.say(
                "convert.gaps" if form == "sqlite" else "convert.set_aside",
                count=result.set_aside,
                path=set_aside_path(result.package),
            )
        )
    if result.renamed:
        lines.append(texts.say("convert.renamed", count=result.renamed, path=names_path(result.package)))
    if result.empty_folders:
        lines.append(texts.say("convert.empty", count=result.empty_folders, path=set_aside_path(result.package)))
    if result.untold_events:
        lines.append(texts.say("convert.untold_events", count=result.untold_events))
    if result.unread:
        lines.append(texts.say("convert.unread", count=len(result.unread), names=", ".join(result.unread[:_SHOWN])))
    if result.verdict is not None:
        lines += verdict_lines(result.verdict, texts)
    if form != "sqlite":
        lines.append(texts.say("convert.next", command=next_command("validate", result.package)))
    return lines
