"""The full-text area: searches objects by the words in their metadata and in the text of their documents.

index keeps one entry per object and catches up with the change log before each search; doctypes defines which linked
objects belong to a find; search parses the query text and finds; presentation renders the answer. The text of a
document is the one that `set` gave, else the one that documents has read from its file in the background.
"""

from __future__ import annotations

from noarkit.server.calling import Route
from noarkit.server.fulltext import documents
from noarkit.server.fulltext.index import set_text, tables
from noarkit.server.fulltext.search import search


def statements() -> list[str]:
    """The index, the texts, and how far the change log has been followed."""
    return [*tables(), *documents.tables()]


def routes() -> list[Route]:
    """The two calls."""
    return [
        Route("POST", "/full-text/search", search, has_body=True),
        Route("POST", "/full-text/set", set_text, has_body=True),
    ]
