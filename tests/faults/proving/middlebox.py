"""A proxy that can also refuse by itself, and answer from before. The archives behind it are in this process."""

from __future__ import annotations

import http.client
import json
import socket

from tests.faults.chaos.clock import VirtualTime
from tests.faults.chaos.proxy import Answer, Proxy, Request
from tests.strict_archive.archive import Archive

_PAGE = b"<!DOCTYPE html><html><body><h1>Access to this site is blocked</h1></body></html>"


class Middlebox(Proxy):
    """As `Proxy`, before an archive and the same one as it was before."""

    def __init__(self, archive: Archive, before: Archive, clock: VirtualTime) -> None:
        self._archive, self._before = archive, before
        super().__init__(0, clock)

    def _pass_on(self, upstream: http.client.HTTPConnection, request: Request) -> Answer:
        return _ask(self._archive, request)

    def _answer(self, client: socket.socket, request: Request, served: Answer | None, what: str) -> None:
        if what.startswith("page4"):
            self._send(client, Answer(int(what[-3:]), _PAGE, "text/html; charset=utf-8"))
        elif what.startswith("squid"):
            told = {"X-Squid-Error": "ERR_ACCESS_DENIED 0", "Via": "1.1 proxy"}
            self._send(client, Answer(int(what[-3:]), json.dumps({"error": "denied"}).encode(), headers=told))
        elif what == "stale":
            self._send(client, _ask(self._before, request))
        else:
            super()._answer(client, request, served, what)


def _ask(archive: Archive, request: Request) -> Answer:
    reply = archive.answer(request.method, request.target, request.headers, request.body)
    headers = {name: value for name, value in reply.headers.items() if name != "Content-Type"}
    return Answer(reply.status, reply.body, reply.headers.get("Content-Type", ""), headers)
