from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.test import RequestFactory
from drf_spectacular.settings import spectacular_settings

from convengine import included_urls
from convengine.server.api.schema import complete_document


def test_documents_that_are_read_at_once_leave_the_settings_of_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spectacular_settings, "TITLE", "Shop")
    view: Any = next(
        pattern.callback for pattern in included_urls.urlpatterns if getattr(pattern, "name", "") == "convengine-schema"
    )

    def read(number: int) -> int:
        status: int = view(RequestFactory().get("/api/schema/")).render().status_code
        return status

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(read, range(3))) == [200] * 3
    assert spectacular_settings.TITLE == "Shop"


def test_a_document_of_the_project_is_left_alone() -> None:
    document: dict[str, Any] = {"paths": {}, "components": {}}

    assert complete_document(document, None, None, True) == {"paths": {}, "components": {}}
