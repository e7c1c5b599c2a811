"""Live SQL databases as a source, read only, from one snapshot."""
