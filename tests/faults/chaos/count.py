"""An independent count of what an archive holds: http.client and json, and not a line of noarkit."""

from __future__ import annotations

import hashlib
import http.client
import itertools
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from tests.faults.chaos.shape import Shape
from tests.waiting import PATIENCE_S

BASE = "/rms/api/public/noark5/v1"
# each type with the way from it up to the fonds
TREE = {
    "Arkivdel": "refArkiv",
    "Mappe": "refArkivdel.refArkiv",
    "Basisregistrering": "refMappe.refArkivdel.refArkiv",
    "Dokument": "refRegistrering.refMappe.refArkivdel.refArkiv",
    "Dokumentversjon": "refDokument.refRegistrering.refMappe.refArkivdel.refArkiv",
}
_PAGE = 500

Row = dict[str, Any]  # JSON as it comes


@dataclass
class RawClient:
    """A session of one account."""

    port: int
    account: str
    secret: str
    _token: str = ""
    _connection: http.client.HTTPConnection | None = None
    _files: dict[str, bytes] = field(default_factory=dict)

    def close(self) -> None:
        """Ends the session."""
        if self._connection is not None:
            self._connection.close()

    def newest(self, kind: str) -> Iterator[Row]:
        """Every object of a type, the newest first."""
        return self.query(kind, order="desc")

    def query(self, kind: str, where: str = "", order: str = "asc", **parameters: str) -> Iterator[Row]:
        """Every object of a type that the condition holds of."""
        offset, more = 0, True
        while more:
            told = {f"@{name}": value for name, value in parameters.items()}
            asked = {"type": kind, "limit": _PAGE, "offset": offset, "query": where, "parameters": told}
            asked |= {"publicUse": False, "joins": {}, "sortOrder": [{"field": "id", "order": order}]}
            answer = json.loads(self._call("POST", f"{BASE}/query", json.dumps(asked).encode()))
            yield from answer["results"]
            offset, more = offset + _PAGE, answer["hasMore"]

    def save(self, kind: str, **fields: str) -> None:
        """Makes one object."""
        action = {"action": "save", "type": kind, "id": "new", "fields": fields}
        self._call("POST", f"{BASE}/transaction", json.dumps({"actions": [action]}).encode())

    def download(self, file_id: str) -> bytes:
        """The bytes of a file, which never change once they are stored."""
        if file_id not in self._files:
            self._files[file_id] = self._call("GET", f"{BASE}/download?id={file_id}")
        return self._files[file_id]

    def _call(self, method: str, target: str, body: bytes | None = None) -> bytes:
        status, answer = self._ask(method, target, body)
        if status == 401:
            self._token = self._new_token()
            status, answer = self._ask(method, target, body)
        if status != 200:
            raise RuntimeError(f"{method} {target}: {status} {answer[:200]!r}")
        return answer

    def _ask(self, method: str, target: str, body: bytes | None) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            return _exchange(self._connection, method, target, body, headers)
        except (ConnectionError, http.client.RemoteDisconnected):
            self._connection.close()  # the archive has closed what lay idle; it opens itself again
            return _exchange(self._connection, method, target, body, headers)

    def _new_token(self) -> str:
        form = {"grant_type": "client_credentials", "client_id": self.account, "client_secret": self.secret}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)) as connection:
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            connection.request("POST", "/idp/oauth2/token", urlencode({**form, "scope": "openid"}), headers)
            return str(json.loads(connection.getresponse().read())["access_token"])


def _exchange(
    connection: http.client.HTTPConnection, method: str, target: str, body: bytes | None, headers: dict[str, str]
) -> tuple[int, bytes]:
    connection.request(method, target, body, headers)
    response = connection.getresponse()
    return response.status, response.read()


@dataclass
class Count:
    """What stands in the archive, held against what was to stand there."""

    records: int = 0
    versions: int = 0
    bytes: int = 0
    open: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    objects: dict[str, int] = field(default_factory=dict)

    @property
    def agrees(self) -> bool:
        """True where the archive holds just what was to be loaded."""
        return not (self.lost or self.doubled or self.strange)

    @property
    def is_closed(self) -> bool:
        """True where all is finalised."""
        return self.open == 0


def count(client: RawClient, shape: Shape, system: str, fonds: str) -> Count:
    """Counts what one run made, down from its fonds."""
    found = Count()
    rows: dict[str, list[Row]] = {"Arkiv": list(client.query("Arkiv", "tittel = @t", t=fonds))}
    for kind, way in TREE.items():
        rows[kind] = list(client.query(kind, f"{way}.tittel = @t", t=fonds))
    _judge("Arkiv", Counter(row["fields"]["tittel"] for row in rows["Arkiv"]), Counter([fonds]), found)
    series = Counter(row["fields"]["tittel"] for row in rows["Arkivdel"])
    _judge("Arkivdel", series, Counter(["Series"]), found)
    folders = {str(row["id"]): str(row["fields"]["tittel"]) for row in rows["Mappe"]}
    _judge("Mappe", Counter(folders.values()), Counter({folder for _, folder in shape.records_in_order()}), found)
    _judge_records(rows, folders, shape, found)
    external = Counter(
        str(row["fields"]["eksternID"]) for row in client.query("EksternId", "eksterntSystem = @s", s=system)
    )
    wanted = Counter({f"folder:{folder}" for _, folder in shape.records_in_order()}) + Counter(
        key for key, _ in shape.records_in_order()
    )
    _judge("EksternId", external, wanted, found)
    _judge_bytes(client, rows, shape, found)
    found.objects = {kind: len(some) for kind, some in rows.items()}
    found.open = sum(not _is_final(kind, row) for kind, some in rows.items() for row in some)
    return found


def last_ids(client: RawClient) -> dict[str, int]:
    """The highest id of each type, wherever its object hangs."""
    return {kind: next((int(row["id"]) for row in client.newest(kind)), 0) for kind in ("Arkiv", *TREE)}


def made_since(client: RawClient, before: dict[str, int]) -> dict[str, int]:
    """How many objects of each type came after those ids, wherever they hang."""
    made = {}
    for kind, last in before.items():
        newer = itertools.takewhile(lambda row, last=last: int(row["id"]) > last, client.newest(kind))  # type: ignore[misc]
        made[kind] = sum(1 for _ in newer)
    return made


def _judge(kind: str, held: Counter[str], wanted: Counter[str], found: Count) -> None:
    found.lost += [f"{kind} {name}" for name in wanted - held]
    for name in held - wanted:
        (found.doubled if name in wanted else found.strange).append(f"{kind} {name}")


def _judge_records(rows: dict[str, list[Row]], folders: dict[str, str], shape: Shape, found: Count) -> None:
    held = Counter(
        f"{folders.get(str(row['links'].get('refMappe')))} < {row['fields']['tittel']}"
        for row in rows["Basisregistrering"]
    )
    _judge("record", held, Counter(f"{folder} < {key}" for key, folder in shape.records_in_order()), found)
    found.records = len(rows["Basisregistrering"])


def _judge_bytes(client: RawClient, rows: dict[str, list[Row]], shape: Shape, found: Count) -> None:
    records = {str(row["id"]): str(row["fields"]["tittel"]) for row in rows["Basisregistrering"]}
    documents = {str(row["id"]): (row["links"].get("refRegistrering"), row) for row in rows["Dokument"]}
    owned = Counter(f"{records.get(str(owner))} {row['fields']['tittel']}" for owner, row in documents.values())
    wanted = Counter(f"{key} document {i}" for key, _ in shape.records_in_order() for i in range(len(shape.sums(key))))
    _judge("Dokument", owned, wanted, found)
    held: Counter[str] = Counter()
    for row in rows["Dokumentversjon"]:
        owner, document = documents[str(row["links"]["refDokument"])]
        content = client.download(str(row["fields"]["referanseDokumentfil"]))
        found.versions += 1
        found.bytes += len(content)
        held[f"{records.get(str(owner))} {document['fields']['tittel']} {hashlib.sha256(content).hexdigest()}"] += 1
    sums = Counter(
        f"{key} document {i} {sha}" for key, _ in shape.records_in_order() for i, sha in enumerate(shape.sums(key))
    )
    _judge("Dokumentversjon", held, sums, found)


def _is_final(kind: str, row: Row) -> bool:
    fields = row["fields"]
    if kind == "Dokument":
        return bool(fields.get("dokumentstatus") == "F")
    if kind == "Dokumentversjon":
        return True
    return bool(fields.get("avsluttetDato"))
