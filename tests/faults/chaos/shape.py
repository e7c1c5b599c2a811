"""What a schedule loads: a tree of folders, records and documents that is the same for the same seed, on any side."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """How much there is to load, and how it is cut."""

    seed: int
    records: int
    folders: int
    documents: int
    document_bytes: int
    chunk_actions: int
    shard_entities: int
    loaded_before: int = 0

    def records_in_order(self) -> Iterator[tuple[str, str]]:
        """Every record with its folder."""
        for n in range(self.records):
            folder = f"folder {n * self.folders // self.records}"
            yield f"{folder}/record {n:03}", folder

    def first_half(self) -> list[tuple[str, str]]:
        """The records that an earlier run has loaded."""
        return list(self.records_in_order())[: self.loaded_before]

    def contents(self, key: str) -> list[bytes]:
        """The documents of a record; some have none, some have two."""
        n = int(key.rsplit(" ", 1)[-1])
        if n % 10 >= self.documents:
            return []
        chance = random.Random(f"{self.seed} {key}")
        count = 2 if n % 7 == 3 else 1
        return [f"{key} {i} ".encode() + chance.randbytes(self.document_bytes) for i in range(count)]

    def sums(self, key: str) -> list[str]:
        """The sha256 of each document of a record, in order."""
        return [hashlib.sha256(content).hexdigest() for content in self.contents(key)]


def shape_of(seed: int, mode: str) -> Shape:
    """The shape of a seed."""
    chance = random.Random(f"shape {seed} {mode}")
    records = chance.choice((6, 8, 8, 10, 12, 16, 30))
    return Shape(
        seed=seed,
        records=records,
        folders=chance.randint(1, 6 if mode == "many-shards" else 3),
        documents=chance.choice((0, 1, 2, 4, 10)),
        document_bytes=chance.choice((20, 300, 5000)),
        chunk_actions=chance.choice((12, 25, 40, 80, 1000)),
        loaded_before=records // 2 if mode == "second-run" else 0,
        shard_entities=chance.choice((4, 8)) if mode == "many-shards" else chance.choice((20, 60, 20_000)),
    )
