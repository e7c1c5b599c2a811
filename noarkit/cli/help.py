"""`noarkit help`: commands, topics and every fault code, without a network."""

from __future__ import annotations

import difflib

import click

from noarkit import errors
from noarkit.cli.main import COMMANDS, PROGRAM, program
from noarkit.cli.options import Session, command
from noarkit.errors import GRAVITY, NoarkitError, UsageFault
from noarkit.words.texts import Texts, explain


@command("help")
@click.argument("topic", metavar="[TOPIC|COMMAND|F###]", required=False)
def help_command(session: Session, topic: str | None) -> None:
    """Explains a topic, a command or a fault code."""
    told = session.texts
    topics = told.tables["topics"]
    if topic is None:
        text = _command_help(None)
    elif topic in COMMANDS:
        text = _command_help(topic)
    elif topic.upper() in fault_kinds():
        text = _fault_help(fault_kinds()[topic.upper()], told)
    elif topic.upper() in told.tables["codes"]:
        text = f"{topic.upper()}  {told.text('codes', topic.upper())}"
    elif topic in topics:
        text = topic_help(topic, told)
    else:
        near = difflib.get_close_matches(topic, [*COMMANDS, *topics, *fault_kinds(), *told.tables["codes"]], 1)
        where = f"{PROGRAM} help {topic}"
        raise UsageFault(what="no-such-topic", where=where, proposal=f"{PROGRAM} help {near[0]}" if near else None)
    session.face.result("help", text, topic=topic, text=text)


def fault_kinds() -> dict[str, type[NoarkitError]]:
    """Every fault there is, by its code, in order."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, NoarkitError)]
    return {kind.code: kind for kind in sorted(kinds, key=lambda kind: kind.code)}


def topic_help(topic: str, told: Texts) -> str:
    """A topic's text; lists of codes are made from the code itself."""
    text = told.text("topics", topic).strip()
    if topic == "exit-codes":
        return text + "\n\n" + "\n".join(f"  {code:>3}  {told.text('exits', str(code))}" for code in GRAVITY)
    if topic == "faults":
        lines = [f"  {code}  {(explain(code, told.lang) or [''])[0]}" for code in fault_kinds()]
        return text + "\n\n" + "\n".join(lines)
    return text


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
