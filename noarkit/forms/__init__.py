"""Package forms: each knows how it is read, how it is written and what it holds."""
