"""Switches for trouble, asked for under `/standin/`: what the next calls shall meet, and what was counted."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from starlette.responses import JSONResponse, Response


@dataclass(frozen=True, slots=True)
class Trouble:
    """What `times` calls whose path holds `path` shall meet: an answer of that status, or a connection that breaks."""

    path: str
    status: int
    times: int = 1
    retry_after: str = ""
    body: str = ""
    after: int = 0


@dataclass(slots=True)
class Control:
    """The troubles that are waiting. Safe for threads."""

    troubles: list[Trouble] = field(default_factory=list)
    met: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, told: dict[str, object]) -> None:
        """One trouble as JSON tells it."""
        known = {
            name: told[name] for name in ("path", "status", "times", "retry_after", "body", "after") if name in told
        }
        with self._lock:
            self.troubles.append(Trouble(**known))  # type: ignore[arg-type]  # a test of ours says it

    def meets(self, path: str) -> Response | None:
        """The answer that trouble gives this call; None where there is none for it."""
        with self._lock:
            for place, one in enumerate(self.troubles):
                if one.path not in path:
                    continue
                if one.after > 0:
                    self.troubles[place] = _changed(one, after=one.after - 1)
                    continue
                self.met += 1
                if one.times <= 1:
                    del self.troubles[place]
                else:
                    self.troubles[place] = _changed(one, times=one.times - 1)
                headers = {"Retry-After": one.retry_after} if one.retry_after else {}
                if one.body:
                    return Response(one.body, one.status, headers)
                return JSONResponse({"code": "TROUBLE", "message": "asked for", "status": "error"}, one.status, headers)
        return None


def _changed(one: Trouble, *, after: int | None = None, times: int | None = None) -> Trouble:
    return Trouble(
        one.path,
        one.status,
        one.times if times is None else times,
        one.retry_after,
        one.body,
        one.after if after is None else after,
    )
