"""Validates SIARD archives: each rule bears the specification's id where it has one, and nothing is ever changed."""
