"""Validates bags: every rule of RFC 8493, its sections named, and nothing is ever changed."""
