"""Pictures of the manual: taken by the tests that play what it tells, so that they show what is there."""

import os
from pathlib import Path

from playwright.sync_api import Locator, Page

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "static" / "docs"
#: `CE_WRITE_MANUAL=true` takes the pictures anew.
WRITES = os.environ.get("CE_WRITE_MANUAL") == "true"


def picture(page: Page, name: str, shows: Locator | None = None) -> Path:
    """The page as it stands, with `shows` in sight, as `name` in the folder of pictures; it must be there already."""
    if shows is not None:
        shows.scroll_into_view_if_needed()
    file = FOLDER / f"{name}.jpg"
    taken = page.screenshot(type="jpeg", quality=60)
    if WRITES:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(taken)
    assert file.stat().st_size > 5_000
    return file
