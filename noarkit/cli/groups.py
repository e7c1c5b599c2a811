"""`noarkit groups`: the access groups of an archive: shown, made, changed."""

from __future__ import annotations

from dataclasses import replace

import click

from noarkit.api.administering import (
    GroupResult,
    add_group,
    administered,
    change_group,
    find_group,
    list_groups,
)
from noarkit.archive.registers import AccessGroup
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings
from noarkit.errors import UsageFault
from noarkit.words.texts import plain


@command("groups", exits=(5, 6, 8, 9))
@click.argument("archive", metavar="ARCHIVE")
@click.argument("group", metavar="[GROUP]", required=False)
@option("--add", is_flag=True)
@option("--rename", metavar="NAME")
@option("--claim", metavar="CLAIM", multiple=True)
@option("--permission", metavar="NAME", multiple=True)
@option("--service-permission", metavar="NAME", multiple=True)
@option("--description", metavar="TEXT")
@option("--dry-run", is_flag=True)
def groups_command(
    session: Session,
    *,
    archive: str,
    group: str | None,
    add: bool,
    rename: str | None,
    claim: tuple[str, ...],
    permission: tuple[str, ...],
    service_permission: tuple[str, ...],
    description: str | None,
    dry_run: bool,
) -> None:
    """A line for each group, or for the one that was made or changed."""
    changes = {
        "claims": claim,
        "global_permissions": permission,
        "service_permissions": service_permission,
        "description": description,
        "name": rename,
    }
    wanted_changes = {name: value for name, value in changes.items() if value}
    if group is None and (add or wanted_changes):
        raise UsageFault(what="group-wanted", where="noarkit groups")
    with administered(
        archive, dry_run=dry_run, settings=settings(session, archive), listener=session.console.on_event
    ) as administration:
        if group is None:
            for result in list_groups(administration):
                _print(session, result)
            return
        if add:
            new_group = replace(AccessGroup(group, ()), **wanted_changes)  # type: ignore[arg-type]  # as named above
            _print(session, add_group(administration, new_group, dry_run=dry_run))
            return
        before = find_group(administration, group)
        if not wanted_changes:
            _print(session, GroupResult(before))
            return
        after = replace(before, **wanted_changes)  # type: ignore[arg-type]  # the same
        _print(session, change_group(administration, before, after, dry_run=dry_run))


def _print(session: Session, result: GroupResult) -> None:
    texts, group = session.texts, result.group
    lines = [f"{group.id or '–'!s:<6} {plain(group.name)}"]
    if group.description:
        lines[0] += f"  {plain(group.description)}"
    if result.change is not None:
        lines[0] = f"{texts.say(f'looks.change.{result.change}'):<10} {lines[0]}"
        lines[0] += f"  ({texts.say('stopped.dry-run')})" if result.is_dry_run else ""
    for key, names in (
        ("looks.claims", group.claims),
        ("looks.permissions", group.global_permissions),
        ("looks.service-permissions", group.service_permissions),
    ):
        if names:
            lines.append(f"       {texts.say(key)}: {', '.join(map(plain, names))}")
    session.console.show(result, "\n".join(lines))
