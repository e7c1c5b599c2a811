"""Sealed bundles: what a run that came over an air gap reads its documents from."""
