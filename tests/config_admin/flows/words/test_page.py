"""The page *Words*: uses with their links, what would change, and one release of it."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.flows.words import page as words_page
from config_admin.releases.change_set import change_set
from config_admin.releases.head import newest
from tests.config_admin.builders import changed_rows, make
from tests.config_admin.test_cases.builders import make_test
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def address() -> str:
    create_help_desk()
    with change_set(reason="bikes"):
        for text in ("Bring your bike to us.", "We mend cars, bike, and boats.", "Bikes: {{ bike }}"):
            make(m.CeResponse, intent_code="HOURS", state_code="ANY", exact_text=text, description="")
    return reverse("admin:config_admin_ceresponse_words")


def read_texts() -> list[str]:
    return list(m.CeResponse.objects.filter(state_code="ANY").order_by("pk").values_list("exact_text", flat=True))


def test_uses_stand_with_links_and_what_is_done_by_hand(ben: Client, address: str) -> None:
    case = make_test("Mends", {"user": "mend my bike"})
    rows = m.CeResponse.objects.filter(state_code="ANY").order_by("pk")
    text = ben.get(address, {"word": "bike"}).content.decode()

    for row in rows:
        assert reverse("admin:config_admin_ceresponse_change", args=[row.pk]) in text
    assert reverse("admin:config_admin_cetestcase_change", args=[case.pk]) in text
    assert "“bike” is in 4 texts, 2 of them to change by hand" in text
    assert "by hand: a name in {{ }}" in text
    assert "“bikes” is in 1 text" in ben.get(address, {"word": "bikes"}).content.decode()
    text = ben.get(address, {"word": "tandem"}).content.decode()
    assert "No text has “tandem”" in text
    assert "in 0 texts" not in text
    assert (
        reverse("admin:config_admin_ceresponse_words") + "?word=bike" in ben.get("/admin/find/?q=bike").content.decode()
    )


def test_a_word_is_replaced_as_one_release_with_a_reason(ben: Client, address: str) -> None:
    sent = {"word": "bike", "new": "bicycle", "do": "replace"}
    before, in_force = read_texts(), newest()

    shown = ben.post(address, sent)
    assert read_texts() == before
    assert "2 rows get the other word, in one release." in shown.content.decode()
    assert "Enter a reason" in ben.post(address, sent | {"reason": " "}).content.decode()
    assert "Enter another word to write instead" in ben.post(address, sent | {"new": "bike"}).content.decode()

    done = ben.post(address, sent | {"reason": "one word", "in_force": in_force})
    assert done["Location"] == f"{address}?word=bike"
    assert read_texts() == ["Bring your bicycle to us.", "We mend cars, bicycle, and boats.", "Bikes: {{ bike }}"]
    assert newest() == in_force + 1
    assert len(changed_rows(newest())) == 2


def test_taken_out_only_where_no_hole_is_left_and_the_others_are_listed(ben: Client, address: str) -> None:
    sent = {"word": "bike", "do": "take_out"}
    text = ben.post(address, sent).content.decode()
    assert "1 row loses the word where that leaves no hole in a sentence, in one release." in text
    assert "To be mended by hand: 1 sentence would have a hole, and stays as it is" in text
    assert "Bring your […] to us." in text

    ben.post(address, sent | {"reason": "no bikes", "in_force": newest()})
    assert read_texts() == ["Bring your bike to us.", "We mend cars, and boats.", "Bikes: {{ bike }}"]
    again = ben.post(address, sent).content.decode()
    assert "No text changes by this." in again
    assert "Bring your […] to us." in again


def test_nobody_agrees_to_what_they_did_not_see(ben: Client, address: str) -> None:
    seen = newest()
    with change_set(reason="more"):
        make(m.CeResponse, intent_code="FEES", state_code="ANY", exact_text="A bike costs 5.", description="")
    sent = {"word": "bike", "new": "bicycle", "do": "replace", "reason": "one word", "in_force": seen}

    assert "was created meanwhile" in ben.post(address, sent).content.decode()
    assert "A bike costs 5." in read_texts()


def test_who_may_not_change_answers_only_reads(somebody: Callable[..., Client], address: str) -> None:
    quinn = somebody("quinn", "qa")
    sent = {"word": "bike", "new": "bicycle", "do": "replace", "reason": "one word", "in_force": newest()}

    assert quinn.get(address, {"word": "bike"}).status_code == 200
    assert "You may not change answers" in quinn.post(address, sent).content.decode()
    assert "Bring your bike to us." in read_texts()


def test_the_preview_says_how_many_of_the_sentences_it_lists(
    ben: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words_page, "NAMED", 1)
    with change_set(reason="more"):
        make(m.CeResponse, intent_code="FEES", state_code="ANY", exact_text="Your bike is new.", description="")
    text = ben.post(address, {"word": "bike", "do": "take_out"}).content.decode()

    assert "2 sentences would have a hole, and stay as they are. The first 1:" in text
    assert text.count("[…]") == 1


def test_many_uses_have_pages(ben: Client, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words_page, "PER_PAGE", 2)
    text = ben.get(address, {"word": "bike", "page": "2"}).content.decode()
    assert "Texts 3 to 3 of 3." in text
    assert "?word=bike&amp;page=1#uses-title" in text


def test_the_name_of_a_flow_is_replaced_too(ben: Client, address: str) -> None:
    intent = make(m.CeIntent, intent_code="MENDING", display_name="Mend a bike", description="")

    ben.post(address, {"word": "bike", "new": "bicycle", "do": "replace", "reason": "one word", "in_force": newest()})

    intent.refresh_from_db()
    assert intent.display_name == "Mend a bicycle"
