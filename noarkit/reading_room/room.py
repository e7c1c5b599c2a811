"""Answers each address of the room with its page. What is screened is masked, unless it is asked for with a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from urllib.parse import quote

from noarkit.catalogue.catalogue import Entry, Link
from noarkit.catalogue.journal import JournalQuery
from noarkit.catalogue.masking import is_screened
from noarkit.catalogue.port import Document
from noarkit.errors import NoarkitError, UsageFault
from noarkit.reading_room import facts
from noarkit.reading_room.content import Contents
from noarkit.reading_room.gate import is_our_form
from noarkit.reading_room.links import ServedLinks, Span, read_ref
from noarkit.reading_room.looks import Looks
from noarkit.reading_room.pages import THEMES, View, render
from noarkit.reading_room.phrasing import phrases
from noarkit.reading_room.sections import Handler, Section
from noarkit.reading_room.session import Session
from noarkit.reading_room.tables import MEDIA_TYPE, entries_found, entries_in, table_of
from noarkit.reading_room.tree import further_level, tree_to
from noarkit.reading_room.web import Answer, Request, redirect, text_answer
from noarkit.words.texts import SPOKEN
from noarkit.words.texts import render as render_fault

LOOK_COOKIE = "noarkit-look"
_ASSETS: Mapping[str, str] = {
    "room.css": "text/css; charset=utf-8",
    "room.js": "text/javascript; charset=utf-8",
    "activity.js": "text/javascript; charset=utf-8",
    "viewers.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_YEAR_S = 365 * 24 * 3600
_MOST_NUMBER = 2**53
_MOST_REASON = 500
_MOST_LANGUAGES = 30
_WEIGHT = re.compile(r"q\s*=\s*([01](?:\.[0-9]{0,3})?)")


@dataclass(frozen=True, slots=True)
class Visit:
    """A request of somebody who was let in."""

    request: Request
    session: Session

    @property
    def span(self) -> Span:
        """Which siblings the address asks for; nonsense is the beginning."""
        query = self.request.query
        after, before, year = (_number(query.get(name, "")) for name in ("after", "before", "year"))
        return Span(after, before, year or None)


class Room:
    """The pages over one catalogue."""

    def __init__(
        self,
        looks: Looks,
        contents: Contents,
        *,
        lang: str,
        links: ServedLinks | None = None,
        sections: Sequence[Section] = (),
        can_log_out: bool = False,
        follows_browser: bool = False,
        is_outdated: Callable[[], bool] = lambda: False,
    ) -> None:
        self._is_outdated = is_outdated
        self._looks = looks
        self._contents = contents
        self._lang = lang
        self._can_log_out = can_log_out
        self._follows_browser = follows_browser
        own_pages = ("", *(("journal",) if looks.has_journal() else ()), "search")
        self._page_names = (*own_pages, *(section.name for section in sections))
        self._links = links or ServedLinks()
        self._sections = tuple(sections)
        self._pages: Mapping[str, Callable[[Visit], Answer]] = {
            "": self._home,
            "item": self._item,
            "tree": self._tree,
            "links": self._links_here,
            "links-out": self._links_out,
            "document": self._document,
            "thumbnail": self._thumbnail,
            "search": self._search,
            "journal": self._journal,
            "list.csv": self._table,
            "help": self._help,
        }
        self._forms: Mapping[str, Callable[[Visit], Answer]] = {
            "preferences": self._preferences,
            "reveal": self._reveal,
            "reveal-document": self._reveal_document,
        }
        for section in self._sections:
            self._pages = {**self._pages, **self._of_section(section, section.pages)}
            self._forms = {**self._forms, **self._of_section(section, section.forms)}

    def answer(self, request: Request, session: Session) -> Answer:
        """The answer to a request. A fault of ours becomes a page that says what, why and what to do."""
        name = request.path.split(b"/")[1].decode("ascii")
        visit = Visit(request, session)
        pages = self._forms if request.method == "POST" else self._pages
        if name not in pages:
            if name in self._forms or name in self._pages:
                return text_answer(405, "Method not allowed.")
            return self.problem(visit, UsageFault(what="no-such-page", where=name))
        if request.method == "POST" and not is_our_form(request, session.csrf):
            return text_answer(403, "This form is not ours.")
        try:
            return pages[name](visit)
        except NoarkitError as fault:
            return self.problem(visit, fault)

    def problem(self, visit: Visit, fault: NoarkitError) -> Answer:
        """The page of a fault."""
        lang = self._look(visit.request)[0]
        lines = render_fault(fault, lang)
        missing = isinstance(fault, UsageFault)
        page = render("problem.html", self._view(visit), {"heading": lines[0].partition("  ")[2], "lines": lines[1:]})
        return Answer(404 if missing else 500, page.encode())

    def _of_section(self, section: Section, handlers: Mapping[str, Handler]) -> Mapping[str, Callable[[Visit], Answer]]:
        """The handlers of a section, which get to know how its pages are shown."""

        def bind(handler: Handler) -> Callable[[Visit], Answer]:
            def answer(visit: Visit) -> Answer:
                view = self._view(visit, section=section.name)
                return handler(
                    visit.request, visit.session, lambda template, page_facts: self._page(template, view, page_facts)
                )

            return answer

        return {name: bind(handler) for name, handler in handlers.items()}

    def _home(self, visit: Visit) -> Answer:
        if visit.request.path != b"/":
            raise UsageFault(what="no-such-page", where=visit.request.path.decode("ascii"))
        view = self._view(visit, section="home", tree=tree_to(self._looks, None))
        return self._page("place.html", view, facts.place_facts(self._looks, view, visit.span))

    def _item(self, visit: Visit) -> Answer:
        ref = self._ref(visit, "item")
        ancestors, entry = self._looks.ancestors(ref), self._looks.entry(ref)
        view = self._view(visit, tree=tree_to(self._looks, entry, ancestors))
        return self._page("item.html", view, facts.item_facts(self._looks, ref, visit.span))

    def _tree(self, visit: Visit) -> Answer:
        ref = self._ref(visit, "tree")
        parent: Entry | None = self._looks.entry(ref) if ref else None
        return self._page("branches.html", self._view(visit), {"level": further_level(self._looks, parent, visit.span)})

    def _links_here(self, visit: Visit) -> Answer:
        """All that leads to an item, page by page."""
        ref = self._ref(visit, "links")
        return self._links_page(visit, ref, *self._looks.links_to(ref, visit.span.after), is_outward=False)

    def _links_out(self, visit: Visit) -> Answer:
        """All that an item refers to, page by page."""
        ref = self._ref(visit, "links-out")
        return self._links_page(visit, ref, *self._looks.links_from(ref, visit.span.after), is_outward=True)

    def _links_page(self, visit: Visit, ref: str, links: tuple[Link, ...], later: int, *, is_outward: bool) -> Answer:
        ancestors, entry = self._looks.ancestors(ref), self._looks.entry(ref)
        page_facts = {"entry": entry, "ancestors": (*ancestors, entry), "shown": links, "later": later}
        page_facts["is_outward"] = is_outward
        return self._page("links.html", self._view(visit, tree=tree_to(self._looks, entry, ancestors)), page_facts)

    def _document(self, visit: Visit) -> Answer:
        ref = self._ref(visit, "document")
        document, entry = self._looks.document(ref)
        ancestors = self._looks.ancestors(entry.ref)
        view = self._view(visit, tree=tree_to(self._looks, entry, ancestors))
        needs_reason = is_screened(document, entry)
        is_open = not needs_reason or visit.session.may_leaf_through(ref)
        if is_open and needs_reason:
            document, _ = self._looks.catalogue.document(ref)
        above = (*ancestors, entry)
        page_facts = facts.document_facts(self._looks, document, entry, above, revealed=is_open and needs_reason)
        return self._page(
            "document.html", view, {**page_facts, **self._viewer_facts(visit, document, entry, is_open=is_open)}
        )

    def _viewer_facts(self, visit: Visit, document: Document, entry: Entry, *, is_open: bool) -> facts.Facts:
        """What a document looks like, or why it is not shown."""
        others = self._looks.other_versions(document, entry) if is_open else ()
        if not is_open or document.locator is None:
            return {"viewer": "", "is_open": is_open, "problem": (), "others": others}
        lang = self._look(visit.request)[0]
        try:
            # the bytes of what is screened are to be had no longer than its page
            lifetime_s = visit.session.left_s(document.ref) if is_screened(document, entry) else None
            address = self._links.document(entry, document)
            shown = self._contents.view(document, visit.request, address, lang, lifetime_s=lifetime_s)
        except NoarkitError as fault:
            return {"viewer": "", "is_open": True, "problem": render_fault(fault, lang), "others": others}
        others = () if shown.is_legible else others
        return {"viewer": shown.piece, "is_open": True, "problem": (), "others": others, "reading": shown.reading}

    def _thumbnail(self, visit: Visit) -> Answer:
        document, entry = self._looks.document(self._ref(visit, "thumbnail"))
        is_shown = document.locator is not None and not is_screened(document, entry)
        picture = self._contents.thumbnail(document) if is_shown else None
        return text_answer(404, "There is no picture.") if picture is None else Answer(200, picture, "image/png")

    def _search(self, visit: Visit) -> Answer:
        query = visit.request.query.get("q", "").strip()
        view = self._view(visit, section="search", query=query)
        return self._page("search.html", view, facts.search_facts(self._looks, visit.request.pairs))

    def _journal(self, visit: Visit) -> Answer:
        query = visit.request.query
        asked = JournalQuery(query.get("day") or None, query.get("public") == "1", visit.span.after)
        view = self._view(visit, section="journal")
        return self._page("journal.html", view, {"asked": asked, "page": self._looks.journal(asked)})

    def _table(self, visit: Visit) -> Answer:
        request, looks = visit.request, self._looks
        if "in" in request.query or "veil" in request.query:
            ref = self._ref(visit, "list.csv") if "veil" in request.query else request.query["in"]
            parent = looks.entry(ref) if ref else None
            name, entries = "list", entries_in(looks, parent)
        else:
            name, entries = "search", entries_found(looks, facts.search_query(request.pairs))
        chunks = table_of(entries, phrases(self._look(request)[0]))
        answer = Answer(200, media_type=MEDIA_TYPE, chunks=chunks)
        return answer.with_headers(("content-disposition", f'attachment; filename="{name}.csv"'))

    def _help(self, visit: Visit) -> Answer:
        return self._page("help.html", self._view(visit, section="help"), {})

    def _reveal(self, visit: Visit) -> Answer:
        ref, reason = self._ref(visit, "reveal"), visit.request.form.get("reason", "")[:_MOST_REASON]
        page_facts = facts.revealed_facts(self._looks, ref, reason, visit.session.account)
        return self._page("item.html", self._view(visit, here=self._links.address_of("item", ref, {})), page_facts)

    def _reveal_document(self, visit: Visit) -> Answer:
        ref, reason = self._ref(visit, "reveal-document"), visit.request.form.get("reason", "")[:_MOST_REASON]
        document, entry = self._looks.reveal_document(ref, reason, visit.session.account)
        visit.session.open(ref)
        above = (*self._looks.ancestors(entry.ref), entry)
        page_facts = facts.document_facts(self._looks, document, entry, above, revealed=True)
        view = self._view(visit, here=self._links.address_of("document", ref, {}))
        return self._page(
            "document.html", view, {**page_facts, **self._viewer_facts(visit, document, entry, is_open=True)}
        )

    def _ref(self, visit: Visit, page: str) -> str:
        """The ref that an address names, openly or behind a veil. Raises `UsageFault` where it names none."""
        query = visit.request.query
        if "veil" in query:
            return self._looks.catalogue.unveil(query["veil"])
        try:
            return read_ref(visit.request.path, page, query.get("ref"))
        except ValueError:
            raise UsageFault(what="no-such-item", where=visit.request.path.decode("ascii")) from None

    def _preferences(self, visit: Visit) -> Answer:
        lang, theme = self._look(visit.request)
        form = visit.request.form
        lang = form["lang"] if form.get("lang") in SPOKEN else lang
        theme = form["theme"] if form.get("theme") in THEMES else theme
        here = form.get("here", "")
        local = here if here.startswith("/") and not here.startswith(("//", "/\\")) and here.isprintable() else "/"
        cookie = f"{LOOK_COOKIE}={lang}.{theme}; Path=/; Max-Age={_YEAR_S}; SameSite=Strict; HttpOnly"
        return redirect(quote(local, safe="/%?&=#+:@!$'()*,;~-._")).with_headers(("set-cookie", cookie))

    def _look(self, request: Request) -> tuple[str, str]:
        return look_of(request, preferred_language(request, self._lang) if self._follows_browser else self._lang)

    def _page(self, template: str, view: View, page_facts: Mapping[str, object]) -> Answer:
        return Answer(200, render(template, view, page_facts).encode())

    def _view(self, visit: Visit, **more: object) -> View:
        lang, theme = self._look(visit.request)
        view = View(lang, self._links, self._looks.identity, theme, visit.session.csrf, _here(visit.request))
        view = replace(view, is_outdated=self._is_outdated(), zone=self._looks.catalogue.zone)
        view = replace(view, sections=self._page_names, can_log_out=self._can_log_out)
        return replace(view, **more)  # type: ignore[arg-type]  # each is a field of View


def asset(request: Request) -> Answer:
    """A style sheet, script or picture of ours."""
    if request.method == "POST":
        return text_answer(405, "Method not allowed.")
    name = request.path.rsplit(b"/", 1)[1].decode("ascii")
    if name not in _ASSETS:
        return text_answer(404, "There is no such file.")
    return Answer(200, read_asset(name), _ASSETS[name])


def read_asset(name: str) -> bytes:
    """The bytes of a style sheet, script or picture of ours."""
    return (files("noarkit.reading_room") / "assets" / name).read_bytes()


def look_of(request: Request, default: str) -> tuple[str, str]:
    """The language and the appearance that a browser was set to."""
    lang, _, theme = request.cookie(LOOK_COOKIE).partition(".")
    return lang if lang in SPOKEN else default, theme if theme in THEMES else "auto"


def preferred_language(request: Request, default: str) -> str:
    """The language of ours that a browser says its reader likes best (`Accept-Language`)."""
    wishes: list[tuple[float, str]] = []
    for wish in request.headers.get("accept-language", "").split(",")[:_MOST_LANGUAGES]:
        tag, _, weight = wish.partition(";")
        match = _WEIGHT.fullmatch(weight.strip())
        lang = tag.strip().lower().partition("-")[0]
        wishes.append((float(match[1]) if match else 1.0, "nb" if lang == "no" else lang))
    known = [(weight, lang) for weight, lang in wishes if weight > 0 and lang in SPOKEN]
    return max(known, key=lambda wish: wish[0])[1] if known else default


def _here(request: Request) -> str:
    query = "&".join(f"{quote(name)}={quote(value)}" for name, value in request.query.items())
    path = request.path.decode("ascii")
    if request.method == "POST":
        return "/"
    return f"{path}?{query}" if query else path


def _number(text: str) -> int:
    return min(int(text), _MOST_NUMBER) if text.isascii() and text.isdigit() and len(text) < 17 else 0
