"""`noarkit codes`: the code lists of an archive: shown, added to, changed."""

from __future__ import annotations

import click

from noarkit.api.administering import CodeResult, administered, list_codes, remove_code, set_code
from noarkit.archive.registers import ListedCode
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings
from noarkit.errors import UsageFault
from noarkit.words.texts import plain


@command("codes", exits=(5, 6, 8, 9))
@click.argument("archive", metavar="ARCHIVE")
@click.argument("code_list", metavar="[LIST]", required=False)
@option("--set", "set_", metavar="CODE=NAME", multiple=True)
@option("--remove", metavar="CODE", multiple=True)
@option("--description", metavar="TEXT")
@option("--authority", metavar="TEXT")
@option("--dry-run", is_flag=True)
def codes_command(
    session: Session,
    *,
    archive: str,
    code_list: str | None,
    set_: tuple[str, ...],
    remove: tuple[str, ...],
    description: str | None,
    authority: str | None,
    dry_run: bool,
) -> None:
    """A line for each code, or for each change."""
    if (set_ or remove) and code_list is None:
        raise UsageFault(what="code-list-wanted", where="--set" if set_ else "--remove")
    wanted_codes = [_read(text, description, authority) for text in set_]
    with administered(
        archive, dry_run=dry_run, settings=settings(session, archive), listener=session.console.on_event
    ) as administration:
        if code_list is None or not (set_ or remove):
            for result in list_codes(administration, code_list):
                _print(session, result, with_list=code_list is None)
            return
        for code in wanted_codes:
            _print(session, set_code(administration, code_list, code, dry_run=dry_run))
        for name in remove:
            _print(session, remove_code(administration, code_list, name, dry_run=dry_run))


def _read(text: str, description: str | None, authority: str | None) -> ListedCode:
    code, _, name = text.partition("=")
    if not code or not name:
        raise UsageFault(what="bad-value", where=f"--set {text}", fix="--set", value=text, own="code")
    return ListedCode(code, name, description, authority)


def _print(session: Session, result: CodeResult, *, with_list: bool = True) -> None:
    texts, code = session.texts, result.code
    parts = [plain(result.field)] if with_list else []
    parts += [f"{plain(code.code):<10} {plain(code.name)}"]
    parts += [plain(text) for text in (code.description, code.authority) if text]
    if result.is_default:
        parts.append(f"[{texts.say('looks.default')}]")
    if result.change is not None:
        parts.insert(0, f"{texts.say(f'looks.change.{result.change}'):<10}")
        parts += [f"({texts.say('stopped.dry-run')})"] if result.is_dry_run else []
    session.console.show(result, "  ".join(parts))
