"""Sealed bundles: what a run that came over an air gap reads its documents from."""

from noarkit.airgap.source.source import KIND, SealedSource

__all__ = ["KIND", "SealedSource"]
