"""A service whose whole world is a file: letters with papers, which a test changes between runs. Copied to a site of
its own, and installed there, by `tests.services.world`."""
