"""Consent and tokens over HTTP: a person who always agrees, and a form that changes a code or a token for another."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from noarkit.standins.issuer import Issuer, TokenRefusal


def consent_redirect(
    request: Request, issuer: Issuer, *, more: Mapping[str, str] | None = None, denial: str = "", client_id: str = ""
) -> Response:
    """Sends a person back with a code, and with what else the service tells; `denied` says why nobody may agree, and
    `client_id` for whom the code is, where that is not who asks."""
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
    """The form that was sent, each part with its first value."""
    return {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}


def issue_tokens(issuer: Issuer, form: Mapping[str, str]) -> dict[str, object]:
    """Tokens for the code in a form, else for its refresh token. Raises `Refused`."""
    if form.get("grant_type") == "authorization_code":
        return issuer.exchange(form.get("code", ""), form.get("redirect_uri", ""), form.get("code_verifier", ""))
    return issuer.refresh(form.get("refresh_token", ""))
