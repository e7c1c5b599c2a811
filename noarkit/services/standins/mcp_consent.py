"""An authorization server for MCP tool servers: metadata under /.well-known/, open client registration, and a person's
consent with PKCE."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from noarkit.services.standins.consent import consent_redirect, form_of, issue_tokens
from noarkit.services.standins.issuer import Issuer, TokenPolicy, TokenRefusal

RESOURCE = "/.well-known/oauth-protected-resource"


def make_challenge(url: str, path: str, scope: str) -> str:
    """Builds the WWW-Authenticate header of a tool server at an address and a path."""
    return f'Bearer error="invalid_token", scope="{scope}", resource_metadata="{url}{RESOURCE}{path}"'


def describe_resource(request: Request, url: str, issuer: str, scope: str) -> Response:
    """Builds the metadata of the tool server whose path follows the well-known one."""
    metadata: dict[str, Any] = {"resource": f"{url}{request.path_params['path']}"}
    return JSONResponse({**metadata, "authorization_servers": [issuer], "scopes_supported": scope.split()})


@dataclass(slots=True)
class ConsentServer:
    """An authorization server at the address of its stand-in. Its tokens are valid for the tool servers only."""

    url: str
    lifetime_s: float
    issuer: Issuer = field(init=False)
    clients: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.issuer = Issuer(
            TokenPolicy("tools", secrets.token_urlsafe(8), self.lifetime_s, rotates=True, needs_pkce=True)
        )

    def routes(self) -> Sequence[BaseRoute]:
        """Its routes."""
        return [
            Route(f"{RESOURCE}{{path:path}}", self._resource, methods=["GET"]),
            Route("/.well-known/oauth-authorization-server", self._about, methods=["GET"]),
            Route("/grants/register", self._register, methods=["POST"]),
            Route("/grants/agree", self._agree, methods=["GET"]),
            Route("/grants/token", self._token, methods=["POST"]),
        ]

    def challenge(self, path: str) -> str:
        """Builds the WWW-Authenticate header for a refused caller."""
        return make_challenge(self.url, path, "tools")

    async def _resource(self, request: Request) -> Response:
        return describe_resource(request, self.url, self.url, "tools")

    async def _about(self, request: Request) -> Response:
        metadata = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/grants/agree",
            "token_endpoint": f"{self.url}/grants/token",
            "registration_endpoint": f"{self.url}/grants/register",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "scopes_supported": ["tools"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
        }
        return JSONResponse(metadata)

    async def _register(self, request: Request) -> Response:
        body: dict[str, Any] = await request.json()
        places = tuple(str(place) for place in body.get("redirect_uris") or ())
        if not places or body.get("token_endpoint_auth_method") != "none":
            return JSONResponse({"error": "invalid_client_metadata"}, 400)
        client_id = f"client-{secrets.token_hex(8)}"
        self.clients[client_id] = places
        return JSONResponse({"client_id": client_id, "redirect_uris": list(places)}, 201)

    async def _agree(self, request: Request) -> Response:
        query = request.query_params
        if query.get("redirect_uri", "") not in self.clients.get(query.get("client_id", ""), ()):
            return JSONResponse({"error": "invalid_client"}, 400)
        return consent_redirect(request, self.issuer, client_id=self.issuer.policy.client_id)

    async def _token(self, request: Request) -> Response:
        form = await form_of(request)
        if form.get("client_id", "") not in self.clients or "client_secret" in form:
            return JSONResponse({"error": "invalid_client"}, 401)
        try:
            return JSONResponse({**issue_tokens(self.issuer, form), "scope": "tools"})
        except TokenRefusal as refusal:
            return JSONResponse({"error": refusal.error}, refusal.status)
