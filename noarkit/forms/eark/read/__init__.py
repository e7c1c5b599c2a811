"""Reads E-ARK packages of any version: METS, PREMIS, ERMS and descriptive metadata."""
