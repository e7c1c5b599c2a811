"""What `scripts/wheelhouse` builds: wheels held to the lock, a bill of materials, sums, and a script that installs."""
