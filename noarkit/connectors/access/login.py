"""What a service needs for a person to let us in once: what is asked for, who exchanges the code, where it is kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

from noarkit.connectors.access.consent import Ask, Consent, begin
from noarkit.connectors.access.keep import Grant, Keep
from noarkit.connectors.access.oauth import TokenService
from noarkit.connectors.wire import Wire


@dataclass(frozen=True, slots=True)
class Login:
    """A first consent, to be given by a person. `origin` is what a grant of this configuration is known by."""

    ask: Ask
    tokens: TokenService
    keep: Keep
    origin: str
    wire: Wire

    def begin(self) -> Consent:
        """The address to visit."""
        return begin(self.ask)

    def finish(self, consent: Consent, code: str) -> Grant:
        """Exchanges the code and keeps the grant, on disk before anybody uses it. Raises what the service says."""
        with self.keep.alone():
            grant = replace(self.tokens.exchange(code, consent.redirect_url, consent.verifier), origin=self.origin)
            self.keep.save(grant)
        return grant

    def close(self) -> None:
        """Ends all connections."""
        self.wire.close()
