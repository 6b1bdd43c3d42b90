"""`python -m convengine` is the `convengine` command."""

import sys

from convengine.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
