"""What a service needs for a person to let us in once: what is asked for, who exchanges the code, where it is kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

from noarkit.connectors.access.consent import Ask, Consent, begin_consent
from noarkit.connectors.access.grant_store import Grant, GrantStore
from noarkit.connectors.access.oauth import TokenService
from noarkit.connectors.wire import Wire


@dataclass(frozen=True, slots=True)
class Login:
    """A first consent, to be given by a person. `origin` is what a grant of this configuration is known by."""

    ask: Ask
    tokens: TokenService
    grant_store: GrantStore
    origin: str
    wire: Wire

    def begin(self) -> Consent:
        """The address to visit."""
        return begin_consent(self.ask)

    def finish(self, consent: Consent, code: str) -> Grant:
        """Exchanges the code and keeps the grant, on disk before anybody uses it. Raises what the service says."""
        with self.grant_store.locked():
            grant = replace(self.tokens.exchange(code, consent.redirect_url, consent.verifier), origin=self.origin)
            self.grant_store.save(grant)
        return grant

    def close(self) -> None:
        """Ends all connections."""
        self.wire.close()
