"""Authentication with services: API keys, tokens that are renewed once for all threads and processes, and a person's
consent."""
