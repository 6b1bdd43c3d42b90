"""Chromium for the browser tests, and xmlsec1 for the SAML provider of tests: found, or installed if possible."""

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
    """Install what is missing, if possible. A missing browser is only an error where `CI=true`."""
    found = {"chromium": chromium(), "xmlsec1": shutil.which("xmlsec1")}
    missing = [name for name, path in found.items() if not path]
    if not missing:
        return 0
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        print(f"Installing {' and '.join(missing)} …", flush=True)
        for command in (
            ["apt-get", "update", "-qq"],
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing],
        ):
            subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    if chromium():
        return 0
    print("No Chromium: the browser tests will be skipped. Install it, or set CE_CHROMIUM to its path.")
    return 1 if os.environ.get("CI") == "true" else 0


if __name__ == "__main__":
    sys.exit(main())
