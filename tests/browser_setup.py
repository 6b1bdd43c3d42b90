"""Chromium for the browser tests: found, installed by apt where that is possible, or plainly missing."""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """The browser to drive: `CE_CHROMIUM`, else the first on the path."""
    named = os.environ.get("CE_CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


def main() -> int:
    """Install it if need be and possible. A missing browser is only an error where `CI=true`."""
    if chromium():
        return 0
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        print("Installing Chromium …", flush=True)
        for command in (
            ["apt-get", "update", "-qq"],
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"],
        ):
            subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    if chromium():
        return 0
    print("No Chromium: the browser tests will be skipped. Install it, or set CE_CHROMIUM to its path.")
    return 1 if os.environ.get("CI") == "true" else 0


if __name__ == "__main__":
    sys.exit(main())
