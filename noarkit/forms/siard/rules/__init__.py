"""Validates SIARD archives; each rule has the specification's id where it has one."""
