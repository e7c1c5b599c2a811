"""Turns a SIARD archive into a SQLite database, readable with any SQLite tool."""
