"""Makes pages of the templates: escaped, in one language, with nothing from outside.

A page is a template, a view (language, appearance, addresses, the tree) and its facts. The same templates make served
pages and files.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial

import jinja2

from noarkit.catalogue.port import PlaceIdentity
from noarkit.model.format_names import role_mark
from noarkit.reading_room.links import Links, Span
from noarkit.reading_room.phrasing import phrases
from noarkit.reading_room.tree import Level
from noarkit.reports import charts
from noarkit.version import __version__
from noarkit.words.labels import glossed
from noarkit.words.texts import SPOKEN, plain

THEMES = ("auto", "light", "dark")


@dataclass(frozen=True, slots=True)
class View:
    """How a page is shown: in which language, zone and appearance, with which addresses, and beside which tree.

    `csrf` is the token that forms send back; `here` the address of the page, for switches that come back to it.
    """

    lang: str
    links: Links
    place: PlaceIdentity
    theme: str = "auto"
    csrf: str = ""
    here: str = "/"
    tree: Level | None = None
    sections: tuple[str, ...] = ("", "search")
    section: str = ""
    query: str = ""
    notices: tuple[str, ...] = field(default=())
    can_log_out: bool = False
    zone: str = "UTC"
    is_outdated: bool = False


def render(template: str, view: View, facts: Mapping[str, object]) -> str:
    """The page that a template makes of facts."""
    return _environment(view.lang, view.zone).get_template(template).render(view=view, links=view.links, **facts)


def render_bare(
    name: str,
    lang: str,
    next_address: str = "",
    *,
    lines: tuple[str, ...] = (),
    wait_s: int = 0,
    count: int | None = None,
) -> str:
    """A page of a heading and some lines, for those who are not let in (yet); it goes on to another address by itself,
    where one is named."""
    speech = phrases(lang)
    page_facts = {
        "heading": speech.say(f"{name}.heading"),
        "lines": [speech.say(f"{name}.text", count=count), *lines],
        "next": next_address,
        "wait_s": wait_s,
        "theme": "auto",
    }
    return _environment(lang).get_template("bare.html").render(page_facts)


def render_login(lang: str, theme: str, *, csrf: str, here: str, problem: str = "") -> str:
    """The page to log in; `problem` is `"wrong"`, `"wait"` or nothing."""
    page_facts = {"theme": theme, "csrf": csrf, "here": here, "problem": problem}
    return _environment(lang).get_template("login.html").render(page_facts)


@cache
def _environment(lang: str, zone: str = "UTC") -> jinja2.Environment:
    speech = phrases(lang, zone)
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("noarkit.reading_room", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {
        "shown": plain,
        "glossed": partial(glossed, speech.texts),
        "number": speech.number,
        "size": speech.size,
        "date": speech.date,
        "type": speech.type_name,
        "cut": lambda text, most: text if len(text) <= most else f"{text[: most - 1]}…",
        "lines": lambda text: [plain(line) for line in str(text).splitlines()],
    }
    environment.globals |= {
        **{
            "say": _remembering(speech.say),
            "counted": speech.count_of,
            "phrases": speech,
            "lang": lang,
            "languages": [(each, phrases(each).say("language")) for each in SPOKEN],
            "version": __version__,
        },
        **{
            "is_number": _is_number,
            "moments": charts.moments,
            "themes": THEMES,
            "Span": Span,
            "reason": speech.texts.reason,
            "quoted": shlex.quote,
            "role_mark": partial(role_mark, speech.texts),
        },
    }
    return environment


def _remembering(say: Callable[..., str]) -> Callable[..., str]:
    """Says what holds no data from memory: a page asks for the same words again and again."""
    known: dict[str, str] = {}

    def say_again(key: str, **data: object) -> str:
        if data:
            return say(key, **data)
        if key not in known:
            known[key] = say(key)
        return known[key]

    return say_again


def _is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdigit() and len(text) < 20
