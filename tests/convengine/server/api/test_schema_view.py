"""The OpenAPI document is written once for a process, and served as bytes."""

from typing import Any

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from convengine.server.api import schema_view

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

    monkeypatch.setattr(schema_view, "_documents", {})
    monkeypatch.setattr(schema_view.SchemaView, "generator_class", Counting)
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
