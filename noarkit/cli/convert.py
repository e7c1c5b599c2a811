"""`noarkit convert`: makes a package of a folder or of another package; the same again goes on."""

from __future__ import annotations

from pathlib import Path

import click

from noarkit import deliveries
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings, working
from noarkit.cli.show import size
from noarkit.extract.convert import TARGETS
from noarkit.extract.databases import DATABASES


@command("convert", exits=(4, 5, 6, 8, 9, 10, 130, 143))
@click.argument("source", metavar="SOURCE")
@option("--as", "form", type=click.Choice((*TARGETS, *DATABASES)), required=True)
@option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="OUT")
@option("--package", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE")
@option("--despite-damage", is_flag=True)
def convert_command(
    session: Session, *, source: str, form: str, output: Path, package: Path | None, despite_damage: bool
) -> None:
    """Converts, and says what was made."""
    with working(session) as work:
        made = deliveries.convert(
            source,
            output,
            form=form,
            package=package,
            despite_damage=despite_damage,
            settings=settings(session, None),
            tell=work.tell,
        )
    told = session.texts
    source_form = told.say(f"form.{made.source_form}")
    count = {"size": size(made.bytes), "source": source_form}
    holds = "convert.database" if form in DATABASES else "convert.holds"
    lines = [told.say("convert.made", path=made.package), told.say(holds, files=made.files, **count)]
    if made.defaults:
        lines.append(told.say("convert.defaults"))
    if form != "sqlite":
        lines.append(told.say("convert.next", path=made.package))
    session.face.result(
        "converted",
        "\n".join(lines),
        package=str(made.package),
        form=form,
        source_form=made.source_form,
        files=made.files,
        bytes=made.bytes,
        resumed=made.resumed,
    )
    session.face.count(bytes=made.bytes)
