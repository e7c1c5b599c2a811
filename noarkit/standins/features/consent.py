"""Consent to the tools for agents: a personal key, where the organisation's owner lets people have one."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from noarkit.standins.issuer import Issuer, Refused


class Consent:
    """A person who always agrees, and an owner who may not."""

    def __init__(self, issuer: Issuer, *, personal: bool) -> None:
        self.issuer = issuer
        self._personal = personal

    def routes(self) -> list[Route]:
        """Where consent is given and tokens are had."""
        return [
            Route("/oauth/authorize", self._authorize, methods=["GET"]),
            Route("/oauth/token", self._token, methods=["POST"]),
        ]

    async def _authorize(self, request: Request) -> Response:
        asked = request.query_params
        place = asked.get("redirect_uri", "")
        try:
            if not self._personal:
                raise Refused("access_denied", "personal keys are not allowed here")
            back = {"code": self.issuer.code(asked.get("client_id", ""), place, asked.get("code_challenge", ""))}
        except Refused as refusal:
            back = {"error": refusal.error}
        return RedirectResponse(f"{place}?{urlencode({**back, 'state': asked.get('state', '')})}", 302)

    async def _token(self, request: Request) -> Response:
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        try:
            self.issuer.known(form.get("client_id", ""), form.get("client_secret", ""))
            if form.get("grant_type") == "authorization_code":
                verifier = form.get("code_verifier", "")
                found = self.issuer.exchange(form.get("code", ""), form.get("redirect_uri", ""), verifier)
            else:
                found = self.issuer.refresh(form.get("refresh_token", ""))
        except Refused as refusal:
            return JSONResponse({"error": refusal.error}, refusal.status)
        return JSONResponse(found)
