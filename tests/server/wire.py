"""Calls an archive with nothing between the test and the socket but http.client."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from tests.waiting import PATIENCE_S

BASE = "/rms/api/public/noark5/v1"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it came: `json()` reads its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> dict[str, object]:
        """The body as a JSON object."""
        read = json.loads(self.body)
        assert isinstance(read, dict), read
        return read


@dataclass(frozen=True, slots=True)
class Wire:
    """One archive on the wire. Paths that begin with a slash are used as they stand, others go below the base."""

    host: str
    port: int
    token: str = ""
    timeout_s: float = PATIENCE_S

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """One call on a connection of its own. A body that is no bytes is sent as JSON."""
        sent = dict(headers or {})
        bearer = self.token if token is None else token
        if bearer:
            sent.setdefault("Authorization", f"Bearer {bearer}")
        content = body
        if body is not None and not isinstance(body, bytes):
            content = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPConnection(self.host, self.port, timeout=self.timeout_s)
        try:
            connection.request(method, path if path.startswith("/") else f"{BASE}/{path}", content, sent)  # type: ignore[arg-type]  # bytes or None by now
            response = connection.getresponse()
            return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def get_token(self, client_id: str, secret: str) -> str:
        """A token for a client's credentials."""
        form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret, "scope": "openid"}
        media_type = {"Content-Type": "application/x-www-form-urlencoded"}
        reply = self.call("POST", "/idp/oauth2/token", urlencode(form).encode(), token="", headers=media_type)
        assert reply.status == 200, reply
        return str(reply.json()["access_token"])

    def bearing(self, token: str) -> Wire:
        """The same archive, called with another token."""
        return Wire(self.host, self.port, token, self.timeout_s)

    def upload(self, content: bytes, name: str = "a.txt", **headers: str) -> Reply:
        """Uploads bytes under an ASCII name."""
        about = {"Content-Type": "application/octet-stream", "Content-Disposition": f'attachment; filename="{name}"'}
        return self.call("POST", "upload", content, headers=about | headers)

    def transaction(self, *actions: object) -> Reply:
        """Sends one transaction."""
        return self.call("POST", "transaction", {"actions": list(actions)})

    def saved(self, *actions: object) -> dict[str, dict[str, object]]:
        """Sends one transaction that must succeed; what was saved, by the id that the request used."""
        reply = self.transaction(*actions)
        assert reply.status == 200, reply
        saved = reply.json()["saved"]
        assert isinstance(saved, dict)
        return saved


def wire_to(url: str) -> Wire:
    """The archive at an address."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    return Wire(parts.hostname, parts.port)


def save(type_name: str, object_id: str, **fields: object) -> dict[str, object]:
    """A save action."""
    return {"action": "save", "type": type_name, "id": object_id, "fields": fields}


def link(type_name: str, object_id: str, ref: str, *to: str) -> dict[str, object]:
    """A link action."""
    return {"action": "link", "type": type_name, "id": object_id, "ref": ref, "linkToId": list(to)}


def delete(type_name: str, object_id: str) -> dict[str, object]:
    """A delete action."""
    return {"action": "delete", "type": type_name, "id": object_id}


def small_archive(wire: Wire, *file_ids: str) -> dict[str, str]:
    """Saves one of each from Arkiv down to a record, with a document and version for each file; ids by temporary id.

    @creator @fonds @series @folder @record, @document1 @version1, @document2 ...
    """
    actions = [
        save("Arkivskaper", "@creator", arkivskaperIdent="1", arkivskaperNavn="Creator"),
        save("Arkiv", "@fonds", tittel="Fonds"),
        link("Arkiv", "@fonds", "refArkivskaper", "@creator"),
        save("Arkivdel", "@series", tittel="Series"),
        link("Arkivdel", "@series", "refArkiv", "@fonds"),
        save("Mappe", "@folder", tittel="Folder"),
        link("Mappe", "@folder", "refArkivdel", "@series"),
        save("Basisregistrering", "@record", tittel="Record"),
        link("Basisregistrering", "@record", "refMappe", "@folder"),
    ]
    for at, file_id in enumerate(file_ids, 1):
        actions += document(f"@document{at}", f"@version{at}", "@record", file_id)
    return {name: str(told["id"]) for name, told in wire.saved(*actions).items()}


def document(document_id: str, version_id: str, record_id: str, file_id: str) -> list[dict[str, object]]:
    """The actions that give a record a document with one version of an uploaded file."""
    return [
        save("Dokument", document_id, tittel="Document", tilknyttetRegistreringSom="H"),
        link("Dokument", document_id, "refRegistrering", record_id),
        save("Dokumentversjon", version_id, variantformat="P", format="txt", referanseDokumentfil=file_id),
        link("Dokumentversjon", version_id, "refDokument", document_id),
    ]
