"""Validates the Danish variant of SIARD: its indices, its list of files and its tables. Nothing is changed."""
