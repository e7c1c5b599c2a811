"""Requests as the client library makes them, header by header, on connections that it leaves open."""

from __future__ import annotations

import http.client
import json
from contextlib import closing

from tests.server.calls.scene import Body
from tests.server.calls.shapes import answered, items, members
from tests.server.wire import Reply, Wire
from tests.waiting import PATIENCE_S

USUAL = {
    "Content-Type": "application/json; charset=UTF-8",
    "Accept-Encoding": "gzip,deflate",
    "X-Vendor-Error-Response-Type": "application/json",
}


class Client:
    """Sends what the library sends; whoever makes one closes its `connection`."""

    def __init__(self, wire: Wire, prefix: str = "/rms/api/public/noark5/v1") -> None:
        self.connection = http.client.HTTPConnection(wire.host, wire.port, timeout=PATIENCE_S)
        self._prefix, self._token = prefix, wire.token

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Reply:
        """One call; `headers` add to the usual ones, or replace them."""
        connection = self.connection
        connection.putrequest(method, f"{self._prefix}/{path}", skip_accept_encoding=True)
        sent = {**USUAL, "Authorization": f"Bearer {self._token}", **headers}
        if body is not None:
            sent.setdefault("Content-Length", str(len(body)))
        for name, value in sent.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        response = connection.getresponse()
        return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())

    def transaction(self, *actions: object) -> Body:
        """What was saved, from a request spelled as the library's mapper does it: no blanks, no escapes."""
        body = json.dumps({"actions": actions}, ensure_ascii=False, separators=(",", ":")).encode()
        with closing(self.connection):
            saved = members(answered(self.send("POST", "transaction", body)))["saved"]
        assert isinstance(saved, dict)
        return saved

    def query(self, type_name: str, query: str, parameters: Body, limit: int = 1) -> list[Body]:
        """The results, from a request with every member that the library always sends."""
        asked = {"limit": limit, "type": type_name, "offset": 0, "publicUse": False, "sortOrder": []}
        body = json.dumps({**asked, "query": query, "parameters": parameters, "joins": {}}).encode()
        with closing(self.connection):
            return [dict(each) for each in items(members(answered(self.send("POST", "query", body)))["results"])]
