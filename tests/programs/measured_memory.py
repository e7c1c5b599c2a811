"""A command of noarkit that ends by telling, on standard error, the most memory that its process took, in KiB."""

import os
import sys
from pathlib import Path

from noarkit.cli.main import main

code = main(sys.argv[1:], os.environ)
status = Path("/proc/self/status").read_text()
sys.stderr.write(status.split("VmHWM:")[1].split()[0])
sys.exit(code)
