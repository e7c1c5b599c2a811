"""The version of noarkit."""

__version__ = "0.1.0"
