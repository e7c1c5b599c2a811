"""Reads SIARD archives of any version: metadata, rows and large values."""
