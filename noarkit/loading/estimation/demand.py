"""Counts what a plan will ask of an archive, of its source and of this machine: requests, bytes, shard by shard."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, fields, replace

from noarkit.graph.store import GraphStore
from noarkit.loading.close import BATCH_SIZE, LAYERS
from noarkit.loading.contents import LARGE_BYTES
from noarkit.loading.folder import RunFolder
from noarkit.loading.lookup import KEYS_A_QUERY, ORDERS
from noarkit.results import HIDDEN, JsonObject

_BEARERS = (*LAYERS[1], *LAYERS[2])  # records and folders bear their source keys
_LINKS_AT_ONCE = 200
_OWN_ACTIONS = 3  # the guard, the anchor and its link, with each chunk
_PREFLIGHT = (20, 4)  # queries, tokens among them, and transactions, before the first shard
_PREFLIGHT_AFTER_PROBE = (11, 3)  # a probe has left the marker and the classes that a load looks for
_CLOSING_WEIGHT = 3  # finalising an object takes an archive about as long as three actions that make one


@dataclass(frozen=True, slots=True)
class Work(JsonObject):
    """So many requests of each kind, and what they carry. `paired_bytes` are those of large contents, of which a worker
    uploads two at a time."""

    queries: int = 0
    uploads: int = 0
    bytes: int = 0
    transactions: int = 0
    actions: int = 0
    entities: int = field(default=0, metadata=HIDDEN)
    paired_bytes: int = field(default=0, metadata=HIDDEN)

    def plus(self, work: Work) -> Work:
        """The sum of both."""
        return Work(
            self.queries + work.queries,
            self.uploads + work.uploads,
            self.bytes + work.bytes,
            self.transactions + work.transactions,
            self.actions + work.actions,
            self.entities + work.entities,
            self.paired_bytes + work.paired_bytes,
        )

    @property
    def requests(self) -> int:
        """All requests together."""
        return self.queries + self.uploads + self.transactions

    def times(self, number: int) -> Work:
        """As much for each of `number`."""
        return Work(*(number * getattr(self, member.name) for member in fields(self)))


@dataclass(frozen=True, slots=True)
class Demand:
    """What a plan asks for. `shards` are those of units, which may go side by side; all else goes alone.

    `guards` is what the coordinator asks before it gives a shard to a worker.
    """

    spine: Work
    shards: tuple[Work, ...]
    guards: Work
    links: Work
    closing: Work
    start: Work = field(default_factory=lambda: _start_work(_PREFLIGHT))
    units: Work = field(init=False)
    """The work of all shards of units."""

    def __post_init__(self) -> None:
        total = Work()
        for shard, count in Counter(self.shards).items():  # of a huge plan most are equal
            total = total.plus(shard.times(count))
        object.__setattr__(self, "units", total)

    @property
    def total(self) -> Work:
        """All the work there is."""
        guards = self.guards.times(len(self.shards) + 1)
        return self.start.plus(self.spine).plus(self.units).plus(guards).plus(self.links).plus(self.closing)


def _start_work(preflight: tuple[int, int]) -> Work:
    queries, transactions = preflight
    return Work(queries=queries, transactions=transactions)


def demand_of(folder: RunFolder, *, fresh: bool = True, honours_versions: bool = True, probed: bool = False) -> Demand:
    """What the plan of a run asks for. `fresh`: the archive has nothing of this source yet, so that no key is looked
    up. `honours_versions`: the archive refuses what carries an old version. `probed`: a probe has been there.
    Raises as `GraphStore.open`."""
    with closing(GraphStore.open(folder.graph)) as graph:
        shards = graph.shards()
        works = {number: _shard_work(graph, number, fresh=fresh) for number, kind, *_ in shards if kind != "links"}
        kinds = {number: kind for number, kind, *_ in shards}
        spine = [works[number] for number in works if kinds[number] == "spine"]
        late = graph.count("link", "late")
        return Demand(
            spine=_spine_work(spine[0] if spine else Work(), graph.count("entity", "parent IS NULL"), fresh=fresh),
            shards=tuple(works[number] for number in works if kinds[number] == "unit"),
            guards=Work(queries=1, transactions=1, actions=1) if honours_versions else Work(),
            links=_link_work(late),
            closing=_closing_work(graph) if graph.meta("close") == "yes" else Work(),
            start=_start_work(_PREFLIGHT_AFTER_PROBE if probed else _PREFLIGHT),
        )


def _shard_work(graph: GraphStore, shard: int, *, fresh: bool) -> Work:
    total = Work(queries=1)  # once a lease an account proves that it finds what it wrote
    for chunk in graph.chunks(shard):
        span = (*chunk.first, *chunk.last)
        lookups = 0 if fresh else math.ceil(_bearers(graph, span) / KEYS_A_QUERY)
        total = total.plus(
            replace(_contents(graph, span), queries=lookups, transactions=1, actions=chunk.actions + _OWN_ACTIONS)
        )
        total = total.plus(Work(entities=chunk.entities))
    return total


def _contents(graph: GraphStore, span: tuple[int, ...]) -> Work:
    row = graph.db.execute(
        "SELECT count(*), coalesce(sum(content.size), 0), coalesce(sum(iif(size > ?, size, 0)), 0),"
        " coalesce(sum(size > ?), 0) FROM entity CROSS JOIN content ON content.entity = entity.n"
        " WHERE (unit, bundle, n) BETWEEN (?,?,?) AND (?,?,?)",
        (LARGE_BYTES, LARGE_BYTES, *span),
    ).fetchone()
    contents, size, large_bytes, large = (int(value) for value in row)
    return Work(uploads=contents, bytes=size, paired_bytes=large_bytes if large > 1 else 0)


def _bearers(graph: GraphStore, span: tuple[int, ...]) -> int:
    row = graph.db.execute(
        f"SELECT count(*) FROM entity WHERE (unit, bundle, n) BETWEEN (?,?,?) AND (?,?,?) AND type IN {_BEARERS}",  # noqa: S608  # names of the model
        span,
    ).fetchone()
    return int(row[0])


def _spine_work(work: Work, roots: int, *, fresh: bool) -> Work:
    """The spine: what is found is asked for once; what is missing as often as anything whose absence has a consequence,
    but nothing below it."""
    queries = len(ORDERS) * roots if fresh else work.entities
    return Work(queries, 0, 0, work.transactions, work.actions, work.entities)


def _link_work(late: int) -> Work:
    """Late links: each is asked for before it is made, and they are made in batches."""
    return Work(queries=late, transactions=math.ceil(late / _LINKS_AT_ONCE), actions=late)


def _closing_work(graph: GraphStore) -> Work:
    counts = dict(graph.db.execute("SELECT type, count(*) FROM entity WHERE target != 'find' GROUP BY type").fetchall())
    layers = [sum(counts.get(kind, 0) for kind in layer) for layer in LAYERS]
    batches = sum(math.ceil(count / BATCH_SIZE) for count in layers)
    return Work(transactions=batches, actions=_CLOSING_WEIGHT * sum(layers))


def synthetic_demand(documents: int, *, document_bytes: int = 100_000, shard_entities: int = 20_000) -> Demand:
    """What a plan of so many records with a document each would ask for, cut as plans are: for sizes nobody has at
    hand. A record is five entities of nine actions."""
    records_a_shard = max(shard_entities // _ENTITIES_A_RECORD, 1)
    whole, remainder = divmod(documents, records_a_shard)
    sizes = [records_a_shard] * whole + ([remainder] if remainder else [])
    made = {size: _records(size, document_bytes) for size in set(sizes)}
    return Demand(
        spine=_spine_work(Work(transactions=1, actions=5, entities=3), 1, fresh=True),
        shards=tuple(made[size] for size in sizes),
        guards=Work(queries=1, transactions=1, actions=1),
        links=Work(),
        closing=_close_records(documents),
    )


_ENTITIES_A_RECORD, _ACTIONS_A_RECORD, _ACTIONS_A_CHUNK = 5, 9, 1000


def _records(count: int, document_bytes: int) -> Work:
    actions = _ACTIONS_A_RECORD * count
    chunks = math.ceil(actions / (_ACTIONS_A_CHUNK - _ACTIONS_A_CHUNK % _ACTIONS_A_RECORD))
    return Work(1, count, count * document_bytes, chunks, actions, _ENTITIES_A_RECORD * count)


def _close_records(documents: int) -> Work:
    objects = 2 * documents
    return Work(transactions=math.ceil(objects / BATCH_SIZE), actions=_CLOSING_WEIGHT * objects)
