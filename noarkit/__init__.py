"""noarkit moves records in bulk into a Noark 5 archive and out again, and proves that nothing was lost."""

__version__ = "0.1.0"

__all__ = ["__version__"]
