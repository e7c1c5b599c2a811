"""A service that another package brings: letters, each a record with its text. Copied to a site of its own, and
installed there, by `test_registry`."""
