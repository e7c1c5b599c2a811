"""OAuth consent and token endpoints: a person who always agrees, and the exchange of codes and refresh tokens."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from noarkit.services.standins.issuer import Issuer, TokenRefusal


def consent_redirect(
    request: Request, issuer: Issuer, *, more: Mapping[str, str] | None = None, denial: str = "", client_id: str = ""
) -> Response:
    """Redirects the browser back with a code, and with `more` parameters; `denial` is the error for a refusal, and
    `client_id` the client of the code, if it is not the caller."""
    query = request.query_params
    place = query.get("redirect_uri", "")
    try:
        if denial:
            raise TokenRefusal(denial)
        code = issuer.code(client_id or query.get("client_id", ""), place, query.get("code_challenge", ""))
        back = {"code": code, **(more or {})}
    except TokenRefusal as refusal:
        back = {"error": refusal.error}
    return RedirectResponse(f"{place}?{urlencode({**back, 'state': query.get('state', '')})}", 302)


async def form_of(request: Request) -> Mapping[str, str]:
    """Reads a form, each field with its first value."""
    return {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}


def issue_tokens(issuer: Issuer, form: Mapping[str, str]) -> dict[str, object]:
    """Issues tokens for the code of a form, or else for its refresh token. Raises `TokenRefusal`."""
    if form.get("grant_type") == "authorization_code":
        return issuer.exchange(form.get("code", ""), form.get("redirect_uri", ""), form.get("code_verifier", ""))
    return issuer.refresh(form.get("refresh_token", ""))
