"""Validates bags: every rule of RFC 8493, its sections named, and nothing is ever changed.

run       structure, manifests, completeness, checksums
copies    what premis.xml says of archival copies
metadata  bag-info.txt, and the addresses in fetch.txt
second    a second opinion: bagit-python in a child process
"""
