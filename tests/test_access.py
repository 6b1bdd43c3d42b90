"""The reference says who may call what, as the code does it."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.http import HttpResponse

from tests.access import Row, collect_admin, collect_api, group_by_callers

FILE = Path(__file__).resolve().parents[1] / "config_admin/manual/access.json"
#: `CE_WRITE_MANUAL=true` writes the lists anew.
WRITES = os.environ.get("CE_WRITE_MANUAL") == "true"

pytestmark = [pytest.mark.django_db, pytest.mark.nightly]


@pytest.mark.parametrize(
    ("part", "collect"), [("Calls of the API", collect_api), ("Pages of the admin", collect_admin)]
)
def test_the_reference_lists_who_may_call_what(
    part: str, collect: Callable[[], Iterator[Row]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The page of a refusal is proved in `test_error_pages`.
    monkeypatch.setattr("convengine.urls.handler403", lambda request, exception: HttpResponse(status=403))
    addresses = group_by_callers(collect())
    listed = json.loads(FILE.read_text())
    if WRITES:
        FILE.write_text(json.dumps(listed | {part: addresses}, indent=2) + "\n")
    else:
        assert listed[part] == addresses
