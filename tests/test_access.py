"""docs/access.md says who may call what, as the code does it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.http import HttpResponse

from tests.access import Row, collect_admin, collect_api, write_list

PAGE = Path(__file__).resolve().parents[1] / "docs/access.md"
#: `CE_WRITE_MANUAL=true` writes the lists anew.
WRITES = os.environ.get("CE_WRITE_MANUAL") == "true"

pytestmark = [pytest.mark.django_db, pytest.mark.nightly]


def read_section(title: str) -> tuple[str, str, str]:
    """The text before a list, the list, and the text after it."""
    text = PAGE.read_text()
    start = text.index("- **", text.index(f"## {title}\n"))
    end = text.find("\n\n", start)
    end = len(text.rstrip()) if end < 0 else end
    return text[:start], text[start:end], text[end:]


@pytest.mark.parametrize(("title", "collect"), [("The API", collect_api), ("The admin", collect_admin)])
def test_the_manual_prints_who_may_call_what(
    title: str, collect: Callable[[], Iterator[Row]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The page of a refusal is proved in `test_error_pages`.
    monkeypatch.setattr("convengine.urls.handler403", lambda request, exception: HttpResponse(status=403))
    found = write_list(collect())
    before, printed, after = read_section(title)
    if WRITES:
        PAGE.write_text(before + found + after)
    else:
        assert printed == found
