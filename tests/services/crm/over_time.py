"""A CRM that is read run after run, as a connection does, and what an archive would hold of it after each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx

from noarkit.events import Event, ignore_event
from noarkit.services.crm.service import Crm, open_service
from noarkit.services.known_keys import KnownKeys, add_known_keys, place_key
from noarkit.services.port import DELETION_KEY_END, Deletion, FetchFailure, Item, Stream, Window
from noarkit.services.standins.server import StandinSpec
from tests.services.scripted import Asked, Told, serving
from tests.services.standing import PLAIN, Standing, connected, standing
from tests.waiting import PATIENCE_S

Json = dict[str, Any]  # Any: what JSON holds
_ROWS = ("data", "Emails", "fields")
READ: Mapping[str, object] = {"modules": ["Deals", "Cases"], "related_modules": ["Quotes", "Tasks"]}


@dataclass(slots=True)
class Between:
    """Stands between a CRM and who reads it: `edit` changes rows, `before` hears of each call, rows with an id among
    `absent_ids` are left out, and a page has no more than `page_rows`."""

    url: str
    edit: Callable[[Asked, Json], None] = lambda asked, row: None
    before: Callable[[Asked], None] = lambda asked: None
    absent_ids: set[str] = field(default_factory=set)
    page_rows: int = 200
    date: Callable[[], str] | None = None
    refuses: Callable[[Asked], bool] = lambda asked: False
    client: httpx.Client = field(
        default_factory=lambda: httpx.Client(trust_env=False, timeout=PATIENCE_S, verify=PLAIN)
    )

    def answer(self, asked: Asked) -> Told:
        """Hands a call on, and its answer back."""
        self.before(asked)
        if self.refuses(asked):
            return Told(403, json.dumps({"code": "NO_PERMISSION", "status": "error"}).encode())
        query = {name: values[0] for name, values in asked.query.items()}
        if query.keys() & {"per_page", "ids"}:
            query["per_page"] = str(min(self.page_rows, int(query.get("per_page", self.page_rows))))
        kept = {name: asked.headers[name] for name in ("authorization", "if-modified-since") if name in asked.headers}
        url = f"{self.url}{asked.path}?{urlencode(query)}"
        given = self.client.request(asked.method, url, content=asked.body, headers=kept)
        headers = {"Content-Type": given.headers.get("content-type", "")} | ({"Date": self.date()} if self.date else {})
        if not given.content or "json" not in headers["Content-Type"]:
            return Told(given.status_code, given.content, headers)
        body = given.json()
        for name in _ROWS:
            if isinstance(body.get(name), list):
                body[name] = [row for row in body[name] if self._id(row) not in self.absent_ids]
                for row in body[name]:
                    self.edit(asked, row)
        return Told(given.status_code, json.dumps(body).encode(), headers)

    def _id(self, row: Mapping[str, object]) -> str:
        return str(row.get("message_id") or row.get("id"))


@dataclass(slots=True)
class RunFindings:
    """What one run yielded."""

    items: dict[str, Item] = field(default_factory=dict)
    failures: list[FetchFailure] = field(default_factory=list)
    deletions: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def titles(self, stream: str) -> list[str]:
        """The titles of the items of a stream."""
        return [str(item.fields["title"]) for item in self.items.values() if item.stream == stream]


class Connection:
    """A connection that is read run after run. Its marks have no look-back, so that nothing is found by chance."""

    def __init__(self, held: Standing, between: Between, crm: Crm, folder: Path) -> None:
        self.held, self.between, self.crm = held, between, crm
        self.known = folder / "known.db"
        self.known_keys: dict[str, bool] = {}
        self.places: dict[str, str] = {}
        self.remembers_places = True
        self.marks: dict[str, datetime] = {}

    def run(self, *, sweep: bool = False, hinted: frozenset[str] = frozenset()) -> RunFindings:
        """Reads once, and keeps what an archive would know then; a stream that failed keeps its mark."""
        until = datetime.now(UTC) - timedelta(seconds=1)  # times there are whole seconds
        found = RunFindings()
        keys = KnownKeys(self.known)
        streams = self.crm.streams()
        failed_streams = set()
        with closing(keys):
            for stream in streams:
                window = Window(
                    self._since(stream), until, sweep or stream.name not in self.marks, hinted, known_keys=keys
                )
                for item in self.crm.items(stream, window, found.events.append):
                    if isinstance(item, Item):
                        assert item.key not in found.items, "once in a run"
                        found.items[item.key] = item
                    elif isinstance(item, FetchFailure):
                        found.failures.append(item)
                        failed_streams.add(stream.name)
                    elif isinstance(item, Deletion):
                        found.deletions.append(item.key.removesuffix(DELETION_KEY_END))
                        assert item.key.endswith(DELETION_KEY_END)
        emails = [item for item in found.items.values() if item.stream == "Emails"]
        self.places |= {item.key: str(item.fields["case"]["key"]) for item in emails}  # type: ignore[index]  # a table
        self.known_keys |= dict.fromkeys(found.items, True) | dict.fromkeys(found.deletions, False)
        self._write_known()
        self.marks |= {stream.name: until for stream in streams if stream.name not in failed_streams}
        return found

    def lacks(self) -> set[str]:
        """The keys of what the CRM holds now and the archive does not."""
        with (
            connected(open_service, self.held, self.known.parent / "other", **READ) as crm,
            closing(KnownKeys(self.known)) as keys,
        ):
            window = Window(None, datetime.now(UTC), sweep=True, keys_only=True)
            items = [item for stream in crm.streams() for item in crm.items(stream, window, ignore_event)]
            assert not [item for item in items if isinstance(item, FetchFailure)]
            return {item.key for item in items if isinstance(item, Item) and not keys.has(item.key)}

    def forget(self, part: str) -> int:
        """Forgets that the archive holds the keys with this part, as if they had not been visible; says how many."""
        forgotten_keys = [key for key in self.known_keys if part in f"{key}:"]
        for key in forgotten_keys:
            del self.known_keys[key]
        self._write_known()
        return len(forgotten_keys)

    def _write_known(self) -> None:
        self.known.unlink(missing_ok=True)
        held_keys = [key for key, is_held in self.known_keys.items() if is_held]
        if self.remembers_places:
            add_known_keys(self.known, "archive", (place_key(*names) for names in self.places.items()), ())
        add_known_keys(self.known, "archive", held_keys, [key for key in self.known_keys if key not in held_keys])

    def _since(self, stream: Stream) -> datetime | None:
        marks = [self.marks.get(name) for name in (stream.name, *stream.parents)]
        known_marks = [mark for mark in marks if mark is not None]
        return min(known_marks) if len(known_marks) == len(marks) else None


@contextmanager
def connection(folder: Path, records: int = 5, *, odd: bool = False) -> Iterator[Connection]:
    """A CRM, what stands between, and a connection to it."""
    with standing("crm", folder, StandinSpec(records), odd=odd) as held:
        between = Between(held.url)
        with between.client, serving(between.answer) as proxy, connected(open_service, held, folder, **READ) as crm:
            assert crm.tenant
            crm.calls.client.base = proxy.url
            yield Connection(held, between, crm, folder)
