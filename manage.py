#!/usr/bin/env python
"""Django's command line in the repository; a project has the command `convengine`."""

import os
import sys


def main() -> None:
    """Run a management command."""
    from convengine.cli.main import SETTINGS, run_management
    from convengine.server.deployment.folders import demo_extension

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", SETTINGS)
    if sys.argv[1:2] == ["demo"]:
        # At its first start nothing says yet that the database is its own.
        os.environ.setdefault("CE_EXTENSIONS", demo_extension())
    sys.exit(run_management(sys.argv[1:]))


if __name__ == "__main__":
    main()
