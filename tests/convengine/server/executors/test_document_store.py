"""The document store on the test database, whichever that is."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from convengine.server.executors import document_store
from convengine.server.executors.document_store import excerpt, put, search
from convengine.server.executors.models import CeDocument, CeDocumentCollection

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.fixture(autouse=True)
def _without_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words alone decide."""
    monkeypatch.setattr(document_store, "_by_meaning", lambda *_: [])


@pytest.fixture
def handbook() -> CeDocumentCollection:
    made = CeDocumentCollection.objects.create(name="handbook")
    put(made, "Delivery", "Orders are delivered within three working days.", {"page": 4})
    put(made, "Returns", "A purchase may be returned for thirty days. Delivery costs are not refunded.")
    put(made, "Opening hours", "The shop opens at nine. 100% of our staff like 'quotes' and \"marks\".")
    return made


def titles(query: str, *args: Any, **options: Any) -> list[str]:
    return [hit.document.title for hit in search(query, "default", *args, **options)]


def test_documents_are_found_by_their_words_in_other_forms_the_best_first(handbook: CeDocumentCollection) -> None:
    assert titles("How long does the delivery take?") == ["Delivery", "Returns"]
    assert titles("returning purchases") == ["Returns"]
    assert titles("nothing of that kind") == []


@pytest.mark.parametrize(
    "query", ["", "  ", "the of", "'", '"', "a & b | !c:*", "NEAR(x y)", "title: x", "-shop*", "x' OR 1=1 --", "^", "("]
)
def test_no_query_is_an_error(handbook: CeDocumentCollection, query: str) -> None:
    assert isinstance(titles(query), list)


def test_a_document_that_is_loaded_again_is_replaced_only_when_it_changed(handbook: CeDocumentCollection) -> None:
    same, unchanged = put(handbook, "Delivery", "Orders are delivered within three working days.", {"page": 4})
    other, changed = put(handbook, "Delivery", "Parcels take a week.", {"page": 4})

    assert (unchanged, changed, same.pk) == (False, True, other.pk)
    assert titles("parcel") == ["Delivery"]
    assert "Delivery" not in titles("working orders")


def test_what_was_taken_out_is_not_found(handbook: CeDocumentCollection) -> None:
    CeDocument.objects.filter(title="Delivery").delete()

    assert titles("delivery") == ["Returns"]


def test_only_collections_that_are_asked_for_and_alive_and_of_the_workspace_are_searched(
    handbook: CeDocumentCollection,
) -> None:
    notes = CeDocumentCollection.objects.create(name="notes")
    put(notes, "Note", "delivery")
    put(CeDocumentCollection.objects.create(name="handbook", workspace_id="other"), "Theirs", "delivery")
    gone = CeDocumentCollection.objects.create(name="gone", expires_at=timezone.now() - timedelta(seconds=1))
    put(gone, "Old", "delivery")

    assert sorted(titles("delivery")) == ["Delivery", "Note", "Returns"]
    assert titles("delivery", ["notes"]) == ["Note"]
    assert titles("delivery", ["nothing"]) == []
    assert [hit.document.title for hit in search("delivery", "other")] == ["Theirs"]


def test_the_number_of_answers_is_bounded(handbook: CeDocumentCollection) -> None:
    assert len(titles("delivery", limit=1)) == 1


def test_an_excerpt_is_the_part_that_says_most() -> None:
    body = "start " * 300 + "the delivery of parcels " + "end " * 300

    cut = excerpt(body, ["delivery", "parcels"])

    assert "delivery of parcels" in cut
    assert (cut[0], cut[-1], len(cut)) == ("…", "…", 602)
    assert excerpt("short", ["x"]) == "short"


def test_a_document_is_found_by_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    made = CeDocumentCollection.objects.create(name="bank")
    put(made, "Mortgages", "Borrow money to buy a house.")
    put(made, "Weather", "Rain is expected in the north.")

    assert [hit.document.title for hit in search("loan for an apartment", "default")][:1] == ["Mortgages"]
