"""`noarkit help`: commands, the chapters of the manual and every fault code, without a network."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

import click

from noarkit import errors
from noarkit.cli.main import COMMANDS, PROGRAM, program
from noarkit.cli.noark_help import noark_help, noark_names
from noarkit.cli.noark_lists import noark_lists
from noarkit.cli.options import GLOBAL_NAMES, Session, command, global_options, option
from noarkit.config import SETTINGS
from noarkit.documents.layers import LAYERS, Layer, Purpose, text_for
from noarkit.errors import GRAVITY, NoarkitError, UsageFault
from noarkit.events import EventFields
from noarkit.manual.chapters import CHAPTERS, POINTERS, chapter_title, find_chapter, read_chapter
from noarkit.manual.markdown import Block, Span, Table
from noarkit.manual.terminal import terminal_text
from noarkit.model.field_names import type_called
from noarkit.recipes.examples import recipe_example
from noarkit.words.texts import Texts, explain

_CODE = re.compile(r"[FWV]\d{3}", re.IGNORECASE)

EVENTS: EventFields = {"help": {"topic": "text?", "text": "text"}}


@command("help")
@click.argument("topic", metavar="[TOPIC|COMMAND|F###|TYPE|FIELD]", required=False)
@option("--example", is_flag=True)
def help_command(session: Session, topic: str | None, *, example: bool) -> None:
    """Explains a command, a chapter of the manual, a code, or a type or field of Noark 5."""
    texts = session.texts
    if example:
        text = _example(topic, texts)
    elif topic is None:
        text = _command_help(None)
    elif topic in COMMANDS:
        text = _command_help(topic)
    elif topic.upper() in fault_kinds():
        text = _fault_help(fault_kinds()[topic.upper()], texts)
    elif topic.upper() in texts.tables["codes"]:
        text = f"{topic.upper()}  {texts.text('codes', topic.upper())}"
    elif topic.upper() in texts.tables["rules"]:
        text = _rule_help(topic.upper(), texts)
    elif (chapter := find_chapter(topic)) is not None:
        text = chapter_help(chapter, texts)
    elif (blocks := noark_help(topic, texts)) is not None:
        text = terminal_text(blocks)
    else:
        codes = (*fault_kinds(), *texts.tables["codes"], *texts.tables["rules"])
        topics = [*COMMANDS, *CHAPTERS, *POINTERS, *codes, *noark_names()]
        near = [] if _CODE.fullmatch(topic) else difflib.get_close_matches(topic, topics, 1)  # a code is not mistyped
        where = f"{PROGRAM} help {topic}"
        if not near and _CODE.fullmatch(topic):
            raise UsageFault(what="no-such-topic", where=where, do=f"{PROGRAM} help faults")
        raise UsageFault(what="no-such-topic", where=where, proposal=f"{PROGRAM} help {near[0]}" if near else None)
    session.console.result("help", text, topic=topic, text=text)


def _example(topic: str | None, texts: Texts) -> str:
    """A recipe that makes the type. Raises `UsageFault` for what is no type, or what no recipe makes."""
    kind = type_called(topic or "")
    text = recipe_example(kind) if kind else None
    if text is None or kind is None:
        raise UsageFault(
            what="no-example", where=f"{PROGRAM} help {topic or 'TYPE'} --example", do=f"{PROGRAM} help fields"
        )
    return f"{texts.say('noark.example-comment', type=kind)}\n{text.rstrip()}"


def fault_kinds() -> dict[str, type[NoarkitError]]:
    """Every fault there is, by its code, in order."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, NoarkitError)]
    return {kind.code: kind for kind in sorted(kinds, key=lambda kind: kind.code)}


def chapter_help(chapter: str, texts: Texts) -> str:
    """A chapter as plain text, with the lists that are made from the code itself."""
    return terminal_text(read_chapter(chapter, texts.lang, code_lists(texts)))


def code_lists(texts: Texts) -> dict[str, Block]:
    """The lists that chapters show and nobody writes by hand, by their name."""
    faults = [(code, (explain(code, texts.lang) or [""])[0]) for code in fault_kinds()]
    return {
        "chapters": _rows((name, chapter_title(name, texts.lang)) for name in CHAPTERS),
        "commands": _rows((name, texts.text("commands", name, "short")) for name in COMMANDS),
        "exit-codes": _rows((f"{code:>3}", texts.text("exits", str(code))) for code in GRAVITY),
        "faults": _rows(faults),
        "global-options": _rows(
            (", ".join(option.opts), texts.text("options", "all", name))
            for name, option in zip(GLOBAL_NAMES, global_options(), strict=True)
        ),
        "layers": _layers(texts),
        **noark_lists(texts),
        "settings": _rows((setting.key, setting.variable) for setting in SETTINGS),
    }


def _layers(texts: Texts) -> Table:
    """Which layers of a document are searched, shown, looked for in copies, and searched for persons."""

    def answer_for(purpose: Purpose, layer: Layer) -> str:
        if purpose == "view" and layer in text_for("offer"):
            return texts.say("layer.on-request")
        return texts.say("layer.yes" if layer in text_for(purpose) else "layer.no")

    purposes: tuple[Purpose, ...] = ("search", "view", "words", "persons")
    rows = [
        [texts.say(f"layer.name.{layer}"), *(answer_for(purpose, layer) for purpose in purposes)] for layer in LAYERS
    ]
    heads = [texts.say("layer.name"), *(texts.say(f"layer.for.{purpose}") for purpose in purposes)]
    head, *lines = (tuple((Span("text", cell),) for cell in row) for row in (heads, *rows))
    return Table(head, tuple(lines))


def _rows(pairs: Iterable[tuple[str, str]]) -> Table:
    return Table((), tuple(((Span("code", name),), (Span("text", text),)) for name, text in pairs))


def _command_help(name: str | None) -> str:
    ctx = click.get_current_context().find_root()
    if name is None:
        return ctx.get_help()
    click_command = program().get_command(ctx, name)
    assert click_command is not None  # noqa: S101  # every name of COMMANDS has its module
    return click_command.get_help(click.Context(click_command, parent=ctx, info_name=name))


def _rule_help(code: str, texts: Texts) -> str:
    """What a rule of `noarkit validate` demands, how a finding of it reads, and what follows."""
    lines = [f"{code}  {texts.text('rules', code, 'title')}"]
    if texts.has("rules", code, "told"):  # what is only counted has none
        told = texts.fill_whole(texts.forms("rules", code, "told"), {})
        lines += ["", texts.say("help.rule-told", told=told) if told else texts.say("help.rule")]
    if texts.has("help_rules", code):
        lines += ["", texts.text("help_rules", code)]
    return "\n".join(lines)


def _fault_help(kind: type[NoarkitError], texts: Texts) -> str:
    what, where, so_what, do = explain(kind.code, texts.lang) or ["", "", "", ""]
    return "\n".join(
        [
            texts.say("help.fault", code=kind.code, told=what, exit=kind().exit_code),
            "",
            texts.say("help.transient" if kind.transient else "help.terminal"),
            "",
            f"{texts.say('help.where')}: {where}",
            f"{texts.say('help.so_what')}: {so_what}",
            f"{texts.say('help.do')}: {do}",
        ]
    )
