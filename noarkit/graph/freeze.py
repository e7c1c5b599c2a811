"""Freezes a plan: one sha256 over its content, independent of the layout of its database file.

The digest covers records, entities, links, contents, notes, shards and chunks in a stable order, each row
length-prefixed, so that two graphs have one digest only where they say the same.
"""

from __future__ import annotations

import hashlib
import sqlite3

_ROWS = (
    "SELECT key, state, root, code, data FROM record ORDER BY n",
    "SELECT n, key, type, record, parent, parent_link, fields, target, line, unit, bundle FROM entity ORDER BY n",
    "SELECT entity, name, other, late FROM link ORDER BY entity, name, other_key",
    "SELECT entity, locator, name, size, modified_ns, sha256, media_type, puid FROM content ORDER BY entity",
    "SELECT record, entity, code, grave, data FROM note ORDER BY record, entity, code, data",
    "SELECT n, kind, entities, bytes FROM shard ORDER BY n",
    "SELECT shard, n, key, entities, actions, json_bytes, bytes, first_unit, first_bundle, first_n,"
    " last_unit, last_bundle, last_n FROM chunk ORDER BY shard, n",
    "SELECT name, value FROM meta WHERE name NOT IN ('sha256', 'frozen_at') ORDER BY name",
)


def digest(db: sqlite3.Connection) -> str:
    """The sha256 over the content of a plan's database, in hex."""
    hasher = hashlib.sha256()
    for number, statement in enumerate(_ROWS):
        hasher.update(b"table %d\n" % number)
        cursor = db.execute(statement)
        while rows := cursor.fetchmany(500):
            texts = [
                f"{len(text) if text.isascii() else len(text.encode('utf-8', 'surrogatepass'))}:{text}"
                for text in map(repr, rows)
            ]
            hasher.update("".join(texts).encode("utf-8", "surrogatepass"))
    return hasher.hexdigest()
