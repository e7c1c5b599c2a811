"""The first login of a person to a service: the consent to ask for, the exchange of its code, and where the grant is
stored."""

from __future__ import annotations

from dataclasses import dataclass, replace

from noarkit.services.access.consent import Ask, Consent, begin_consent
from noarkit.services.access.grant_store import Grant, GrantStore
from noarkit.services.access.oauth import TokenService
from noarkit.services.wire import Wire


@dataclass(frozen=True, slots=True)
class Login:
    """A first consent, to be given by a person. `origin` identifies the configuration that the grant belongs to."""

    ask: Ask
    tokens: TokenService
    grant_store: GrantStore
    origin: str
    wire: Wire

    def begin(self) -> Consent:
        """Begins a consent: the address to visit."""
        return begin_consent(self.ask)

    def finish(self, consent: Consent, code: str) -> Grant:
        """Exchanges the code for a grant and stores it on disk before it is used. Raises a ServiceFault."""
        with self.grant_store.locked():
            grant = replace(self.tokens.exchange(code, consent.redirect_url, consent.verifier), origin=self.origin)
            self.grant_store.save(grant)
        return grant

    def close(self) -> None:
        """Closes all connections."""
        self.wire.close()
