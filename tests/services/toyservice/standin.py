"""The stand-in of the toy. It knows nothing of its client."""

from __future__ import annotations

import json
from collections.abc import Mapping

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from noarkit.services.standins.server import StandinSpec

KEY = "toy-key-7f3a91"


class ToyStandin:
    """A box of letters behind an address."""

    def __init__(self, url: str, spec: StandinSpec) -> None:
        self._url = url
        self._titles = [f"Letter {number}" for number in range(spec.records)]
        self.app = Starlette(routes=[Route("/letters", self._answer, methods=["GET", "POST"])])

    def settings(self) -> Mapping[str, object]:
        """The settings of a connection to it."""
        return {"api_url": self._url}

    def secrets(self) -> Mapping[str, str | tuple[str, ...]]:
        """The key."""
        return {"api_key": KEY}

    def close(self) -> None:
        """Nothing runs beside the app."""

    async def _answer(self, request: Request) -> JSONResponse:
        if request.headers.get("x-key") != KEY:
            return JSONResponse({}, 401)
        if request.method == "POST":
            self._titles.append(str(json.loads(await request.body())["title"]))
            return JSONResponse({"id": len(self._titles) - 1, "repeated": KEY})
        rows = [
            {"id": number, "title": title, "text": f"Dear {number}", "modified": "2024-05-01T12:00:00+00:00"}
            for number, title in enumerate(self._titles)
        ]
        return JSONResponse({"letters": rows})


def build_standin(url: str, spec: StandinSpec) -> ToyStandin:
    """Builds the stand-in for an address."""
    return ToyStandin(url, spec)
