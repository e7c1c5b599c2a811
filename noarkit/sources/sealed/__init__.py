"""Sealed bundles: what a run that came over an air gap reads its documents from."""

from noarkit.sources.sealed.source import KIND, SealedSource, no_plain_source

__all__ = ["KIND", "SealedSource", "no_plain_source"]
