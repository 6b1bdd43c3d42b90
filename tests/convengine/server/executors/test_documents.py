from typing import Any

import pytest

from convengine.engine.turn.ports import ToolAnswer
from convengine.server.executors.document_store import put
from convengine.server.executors.models import CeDocumentCollection
from convengine.server.executors.port import BuiltInTools
from convengine.server.extensions.registry import Registry
from tests.builders import make_config, make_session, make_snapshot

pytestmark = pytest.mark.django_db


def search(args: Any, *config: Any, workspace: str = "default") -> ToolAnswer:
    tools = BuiltInTools(make_snapshot(*config), Registry(), workspace=workspace)
    return tools.run("handbook.search", "RAG", args, make_session())


@pytest.fixture(autouse=True)
def _shelves() -> None:
    for name in ("handbook", "internal"):
        made = CeDocumentCollection.objects.create(name=name)
        put(made, f"Delivery ({name})", "Three days.", {"page": 4})


def test_a_search_gives_documents_with_where_they_are_from() -> None:
    result = search({"query": "delivery", "collection": "handbook"}).result

    (document,) = result["documents"]
    assert result["count"] == 1
    assert (document["title"], document["collection"], document["excerpt"], document["metadata"]) == (
        "Delivery (handbook)",
        "handbook",
        "Three days.",
        {"page": 4},
    )


def test_a_tool_searches_no_more_than_its_collections() -> None:
    only = make_config("DocumentRetrieval/COLLECTIONS.handbook.search", "handbook")

    assert search({"query": "delivery"}).result["count"] == 2
    assert search({"query": "delivery"}, only).result["count"] == 1
    assert search({"query": "delivery", "collection": ["handbook"]}, only).result["count"] == 1
    assert search({"query": "delivery", "collection": "internal"}, only).error_type == "COLLECTION_REFUSED"


def test_another_workspace_has_other_documents() -> None:
    assert search({"query": "delivery"}, workspace="other").result == {"documents": [], "count": 0}


@pytest.mark.parametrize("args", [{}, {"query": " "}, {"query": "x", "limit": 0}, {"query": "x", "limit": "many"}])
def test_arguments_that_make_no_search_are_told(args: Any) -> None:
    assert search(args).error_type == "INVALID_ARGS"
