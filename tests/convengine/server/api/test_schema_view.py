"""The OpenAPI document is written once for a process, and served as bytes."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.test import Client, RequestFactory
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.settings import spectacular_settings

from convengine import included_urls
from convengine.server.api import schema
from convengine.server.api.schema import complete_document

pytestmark = pytest.mark.django_db
URL = "/api/schema/"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """An entry for each time that a document is written; none is kept from other tests."""
    calls: list[bool] = []

    class Counting(SchemaGenerator):
        def get_schema(self, *args: Any, **kwargs: Any) -> Any:
            calls.append(True)
            return {"openapi": "3.0.3", "paths": {}}

    monkeypatch.setattr(schema, "_documents", {})
    monkeypatch.setattr(schema.SchemaView, "generator_class", Counting)
    return calls


def test_each_format_is_written_once(client: Client, written: list[bool]) -> None:
    answers = [client.get(url) for url in (URL, URL, f"{URL}?format=json", f"{URL}?format=json")]

    assert [answer["Content-Type"].split(";")[0] for answer in answers] == [
        *["application/vnd.oai.openapi"] * 2,
        *["application/vnd.oai.openapi+json"] * 2,
    ]
    assert answers[2].json()["openapi"] == "3.0.3"
    assert len(written) == 2


def test_who_has_it_gets_it_not_again(client: Client, written: list[bool]) -> None:
    etag = client.get(URL)["ETag"]

    again = client.get(URL, headers={"If-None-Match": etag})

    assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)
    assert client.get(URL, headers={"If-None-Match": '"another"'}).status_code == 200


def test_documents_that_are_read_at_once_leave_the_settings_of_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "_documents", {})
    monkeypatch.setattr(spectacular_settings, "TITLE", "Shop")
    view: Any = next(
        pattern.callback for pattern in included_urls.urlpatterns if getattr(pattern, "name", "") == "convengine-schema"
    )

    def read(number: int) -> int:
        status: int = view(RequestFactory().get(URL)).status_code
        return status

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(read, range(3))) == [200] * 3
    assert spectacular_settings.TITLE == "Shop"


def test_a_document_of_the_project_is_left_alone() -> None:
    document: dict[str, Any] = {"paths": {}, "components": {}}

    assert complete_document(document, None, None, True) == {"paths": {}, "components": {}}
