"""`noarkit convert`: makes a package of a folder or of another package; the same again goes on."""

from __future__ import annotations

from pathlib import Path

import click

from noarkit import deliveries
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings, working
from noarkit.errors import ItemNotAFile
from noarkit.extract.convert import TARGETS, Converted
from noarkit.extract.databases import DATABASES
from noarkit.extract.renamed import names_path, set_aside_path
from noarkit.sources.opening import PLACES
from noarkit.words.texts import Texts

_SHOWN = 20


@command("convert", exits=(3, 4, 5, 6, 8, 9, 10, 130, 143))
@click.argument("source", metavar="SOURCE")
@option("--as", "form", type=click.Choice((*TARGETS, *DATABASES)), required=True)
@option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="OUT")
@option("--package", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE")
@option("--source-kind", type=click.Choice(tuple(PLACES)))
@option("--despite-damage", is_flag=True)
@option("--encoding", metavar="NAME")
@option("--strict", is_flag=True)
def convert_command(
    session: Session,
    *,
    source: str,
    form: str,
    output: Path,
    package: Path | None,
    source_kind: str | None,
    despite_damage: bool,
    encoding: str | None,
    strict: bool,
) -> int:
    """Converts, and says what was made."""
    with working(session) as work:
        made = deliveries.convert(
            source,
            output,
            form=form,
            package=package,
            source_kind=source_kind,
            despite_damage=despite_damage,
            encoding=encoding,
            strict=strict,
            settings=settings(session, None),
            tell=work.tell,
        )
    session.face.result(
        "converted",
        "\n".join(_lines(session.texts, made, form)),
        package=str(made.package),
        form=form,
        source_form=made.source_form,
        files=made.files,
        bytes=made.bytes,
        resumed=made.resumed,
        set_aside=made.set_aside,
        renamed=made.renamed,
        as_text=len(made.as_text),
        empty_folders=made.empty_folders,
        untold_events=made.untold_events,
        unread=list(made.unread),
    )
    session.face.count(bytes=made.bytes, set_aside=made.set_aside)
    return ItemNotAFile.exit_code if made.set_aside else 0


def _lines(told: Texts, made: Converted, form: str) -> list[str]:
    """What was made, and what a person should know of it."""
    source_form = told.say(f"form.{made.source_form}")
    count = {"size": told.size(made.bytes), "source": source_form}
    holds = "convert.database" if form in DATABASES else "convert.holds"
    lines = [told.say("convert.made", path=made.package), told.say(holds, files=made.files, **count)]
    if made.defaults:
        lines.append(told.say("convert.defaults"))
    if made.as_text:
        names = ", ".join(made.as_text[:_SHOWN]) + (" …" if len(made.as_text) > _SHOWN else "")
        lines.append(told.say("convert.as_text", count=len(made.as_text), names=names))
    if made.left_out:
        names = ", ".join(made.left_out[:_SHOWN]) + (" …" if len(made.left_out) > _SHOWN else "")
        lines.append(told.say("convert.left_out", names=names, path=set_aside_path(made.package)))
    elif made.set_aside:
        lines.append(
            told.say(
                "convert.gaps" if form == "sqlite" else "convert.set_aside",
                count=made.set_aside,
                path=set_aside_path(made.package),
            )
        )
    if made.renamed:
        lines.append(told.say("convert.renamed", count=made.renamed, path=names_path(made.package)))
    if made.empty_folders:
        lines.append(told.say("convert.empty", count=made.empty_folders, path=set_aside_path(made.package)))
    if made.untold_events:
        lines.append(told.say("convert.untold_events", count=made.untold_events))
    if made.unread:
        lines.append(told.say("convert.unread", count=len(made.unread), names=", ".join(made.unread[:_SHOWN])))
    if form != "sqlite":
        lines.append(told.say("convert.next", path=made.package))
    return lines
