"""Dynamic client registration at the token service, up to the number of clients a tenant may have."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from noarkit.services.standins.issuer import Issuer
from noarkit.services.standins.mcp_consent import RESOURCE, describe_resource, make_challenge

MOST = 500
_REALM = "/auth/realms/{tenant}"
_AUTHORITY = "/.well-known/oauth-authorization-server"
_SCOPE = "openid"


class Registry:
    """The registered clients of one tenant. The option `clients=N` says how many exist at the start."""

    def __init__(self, issuer: Issuer, url: str, tenant: str, options: Mapping[str, str]) -> None:
        self._issuer = issuer
        self._url = url
        self._realm = f"{url}/auth/realms/{tenant}"
        self._tenant = tenant
        self.count = int(options.get("clients", "1"))

    def routes(self) -> list[BaseRoute]:
        """The routes of the realm's metadata and of client registration."""
        return [
            Route(f"{_REALM}/.well-known/openid-configuration", self._describe, methods=["GET"]),
            Route(f"{_AUTHORITY}{_REALM}", self._describe, methods=["GET"]),
            Route(f"{RESOURCE}{{path:path}}", self._describe_tools, methods=["GET"]),
            Route(f"{_REALM}/clients-registrations/openid-connect", self._register, methods=["POST"]),
        ]

    def challenge(self, path: str) -> str:
        """Builds the WWW-Authenticate header for a refused caller of the tools."""
        return make_challenge(self._url, path, _SCOPE)

    async def _describe_tools(self, request: Request) -> Response:
        return describe_resource(request, self._url, self._realm, _SCOPE)

    async def _describe(self, request: Request) -> Response:
        if request.path_params["tenant"] != self._tenant:
            return JSONResponse({"error": "Realm does not exist"}, 404)
        ways = f"{self._realm}/protocol/openid-connect"
        return JSONResponse(
            {
                "issuer": self._realm,
                "authorization_endpoint": f"{ways}/auth",
                "token_endpoint": f"{ways}/token",
                "registration_endpoint": f"{self._realm}/clients-registrations/openid-connect",
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
                "code_challenge_methods_supported": ["S256"],
            }
        )

    async def _register(self, request: Request) -> Response:
        body = await request.json()
        places = body.get("redirect_uris") or []
        if not places or not all(urlsplit(str(place)).hostname in ("127.0.0.1", "localhost") for place in places):
            return JSONResponse({"error": "invalid_redirect_uri"}, 400)
        if self.count >= MOST:
            client_members = (
                "Policy 'Max Clients Limit' rejected request to client-registration service. Details: as many as may be"
            )
            return JSONResponse({"error": "insufficient_scope", "error_description": client_members}, 403)
        self.count += 1
        client = f"registered-{secrets.token_hex(8)}"
        self._issuer.clients.add(client)
        return JSONResponse({"client_id": client, **body}, 201)
