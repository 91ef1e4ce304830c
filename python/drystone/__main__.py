"""The command ``drystone``: the same as the program's, with the policies that Python has registered."""

from __future__ import annotations

import os
import signal
import sys
import sysconfig

from drystone import _drystone


def main() -> int:
    """Runs the command with the arguments of this process and returns its exit code."""
    program = sys.argv[0]
    if not os.access(program, os.X_OK) or os.path.basename(program) == "__main__.py":
        program = os.path.join(sysconfig.get_path("scripts"), "drystone")
    # The command leaves no half file behind when it is interrupted: it handles signals itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _drystone.main([program, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
