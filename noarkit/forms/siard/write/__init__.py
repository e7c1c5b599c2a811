"""Writes SIARD archives: metadata, rows and large values, in one ZIP."""
