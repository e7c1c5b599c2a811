"""Fault injection under `/standin/`: errors that the next calls meet, and counts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

JsonObject = dict[str, Any]  # what a test of ours says, as JSON
MARK = "X-Standin-Trouble"  # borne by an answer that was asked for
Verb = Callable[[JsonObject], Mapping[str, object] | None]  # its effect, and its answer if it has one of its own


@dataclass(frozen=True, slots=True)
class InjectedFault:
    """An injected error for `times` calls whose path contains `path`: an answer with that status, or a broken
    connection."""

    path: str
    status: int
    times: int = 1
    retry_after: str = ""
    body: str = ""
    after: int = 0


@dataclass(slots=True)
class Control:
    """The injected errors that are waiting. Safe for threads."""

    troubles: list[InjectedFault] = field(default_factory=list)
    met_count: int = 0
    on_call: Callable[[str], None] = lambda path: None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, arguments: JsonObject) -> None:
        """Adds an injected error, given as JSON."""
        members = {
            name: arguments[name]
            for name in ("path", "status", "times", "retry_after", "body", "after")
            if name in arguments
        }
        with self._lock:
            self.troubles.append(InjectedFault(**members))

    def take(self, path: str) -> Response | None:
        """Returns the injected error for this call; None if there is none. Every call passes here before it is
        answered."""
        self.on_call(path)
        with self._lock:
            for place, trouble in enumerate(self.troubles):
                if trouble.path not in path:
                    continue
                if trouble.after > 0:
                    self.troubles[place] = replace(trouble, after=trouble.after - 1)
                    continue
                self.met_count += 1
                if trouble.times <= 1:
                    del self.troubles[place]
                else:
                    self.troubles[place] = replace(trouble, times=trouble.times - 1)
                headers = {MARK: "1"} | ({"Retry-After": trouble.retry_after} if trouble.retry_after else {})
                if trouble.body:
                    return Response(trouble.body, trouble.status, headers)
                return JSONResponse(
                    {"code": "TROUBLE", "message": "asked for", "status": "error"}, trouble.status, headers
                )
        return None


def switches(control: Control, verbs: Mapping[str, Verb], counts: Callable[[], Mapping[str, object]]) -> Route:
    """Builds the route of fault injection: errors, a stand-in's own verbs, and counts, which most of them answer."""
    all_verbs: dict[str, Verb] = {**verbs, "trouble": control.add, "counts": lambda arguments: None}

    async def run_verb(request: Request) -> Response:
        verb = all_verbs.get(request.path_params["what"])
        if verb is None:
            return JSONResponse({"message": "unknown"}, 404)
        arguments = await request.json() if request.method == "POST" else {}
        answer = await run_in_threadpool(verb, arguments)
        return JSONResponse(answer if answer is not None else {"troubles_met": control.met_count, **counts()})

    return Route("/standin/{what}", run_verb, methods=["GET", "POST"])
