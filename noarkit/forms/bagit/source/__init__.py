"""Bags as sources: their files are records, proven by the manifests."""

from noarkit.forms.bagit.source.source import KIND, BagSource, find_bag

__all__ = ["KIND", "BagSource", "find_bag"]
