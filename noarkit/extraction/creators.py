"""Who made the archive: whom the archive names, else whom `package.toml` does, in every file of the package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import orjson

from noarkit.extraction.rows import FONDS
from noarkit.extraction.store import ExtractStore
from noarkit.forms.metadata.model import Party
from noarkit.forms.noark5.write.placeholders import placeholder_uuid
from noarkit.verdict import names_nobody

_CREATOR = "Arkivskaper"


def put_creators(store: ExtractStore, parties: Iterable[Party]) -> None:
    """Puts the creators that the delivery names in the place of one that the archive calls Ukjent. Whom the archive
    itself names stays; the same call again changes nothing."""
    stated = [party for party in parties if not names_nobody(party.name)]
    if not stated or any(not names_nobody(name) for _, name in _creators(store)):
        return
    fonds = store.db.execute("SELECT id, uuid FROM unit WHERE kind = ?", (FONDS,)).fetchone()
    store.db.execute("BEGIN")
    store.db.executemany("DELETE FROM part WHERE rowid = ?", [(row,) for row, _ in _creators(store)])
    for party in stated:
        uuid = placeholder_uuid(str(fonds[1]), f"{_CREATOR} {party.name}")
        fields = {"arkivskaperNavn": party.name, "arkivskaperIdent": party.identification or party.name, "uuid": uuid}
        data = orjson.dumps({"t": _CREATOR, "f": fields}).decode()
        store.db.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", (FONDS, fonds[0], _CREATOR, uuid, uuid, data))
    store.db.execute("COMMIT")


def _creators(store: ExtractStore) -> Iterator[tuple[int, str]]:
    """Each creator of the archive: its row, and its name."""
    for row, data in list(store.rows("SELECT rowid, data FROM part WHERE type = ?", (_CREATOR,))):
        yield int(str(row)), str(orjson.loads(str(data))["f"].get("arkivskaperNavn", ""))
