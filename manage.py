#!/usr/bin/env python
"""Django's command line."""

import os
import sys


def main() -> None:
    """Run a management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "convengine.settings")
    if sys.argv[1:2] in (["demo"], ["demo_talk"]):
        # The demonstration's rows refer to its code; the server process of `demo` inherits this.
        os.environ.setdefault("CE_EXTENSIONS", "fixtures.demo.helpdesk")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as problem:
        sys.exit(f"Cannot start: {problem}")


if __name__ == "__main__":
    main()
