"""Dialogue 9, rule by rule: phrases as people type them."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from config_admin.models import CeIntentClassifier
from config_admin.releases.change_set import change_set
from tests.api import Caller
from tests.dialogues.rows.worlds import TABLE, find_event, make_caller, make_setting

pytestmark = pytest.mark.django_db

DENTIST = "I need to see a dentist"
INTENTS = ("TRACK", "CANCEL", "VISIT", "FLAT")
PHRASES = (
    ("TRACK", "Where is my order?"),
    ("TRACK", "track a parcel"),
    ("CANCEL", "Cancel my order"),
    ("VISIT", DENTIST),
    ("FLAT", "rent an apartment"),
)


def make_phrase(intent: str, text: str, **values: Any) -> dict[str, Any]:
    return {"intent_code": intent, "state_code": "READY", "rule_type": "PHRASE", "pattern": text, **values}


def make_shop(*more: dict[str, Any], settings: dict[str, Any] | None = None) -> Caller:
    return make_caller(
        TABLE,
        rows={
            "ce_intent": [{"intent_code": name, "description": name} for name in INTENTS],
            "ce_intent_classifier": [*(make_phrase(*phrase) for phrase in PHRASES), *more],
            "ce_response": [
                {"intent_code": "ANY", "state_code": "READY", "response_type": "EXACT", "exact_text": "{{ intent }}"}
            ],
            "ce_config": [make_setting(name, value) for name, value in (settings or {}).items()],
        },
    )


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        pytest.param(DENTIST, "VISIT", id="the phrase itself"),
        pytest.param("i NEED to see a DENTIST!!", "VISIT", id="folded"),
        pytest.param("dentist please", "VISIT", id="without the function words"),
        pytest.param("cancelling orders", "CANCEL", id="by stem"),
        pytest.param("my order, could you cancel it", "CANCEL", id="in any order"),
        pytest.param("see a dentsit", "VISIT", id="near-misses of longer words"),
        pytest.param("my order, where is it?", "TRACK", id="weighted by how telling a word is"),
        pytest.param("purple elephants", "UNKNOWN", id="below the bound nothing is claimed"),
        pytest.param("I need to see", "UNKNOWN", id="words that tell nothing claim nothing"),
    ],
)
def test_a_message_is_matched_on_its_content_words(text: str, intent: str) -> None:
    assert make_shop().say(text)["intent"] == intent


def test_the_phrase_is_kept_as_typed_with_one_row_per_phrase(admin_client: Client) -> None:
    make_shop()

    assert CeIntentClassifier.objects.get(intent_code="VISIT").pattern == DENTIST
    assert DENTIST in admin_client.get(reverse("admin:config_admin_ceintentclassifier_changelist")).content.decode()


@pytest.mark.parametrize(
    ("settings", "text", "state"),
    [
        pytest.param({}, "rent a canoe", "UNKNOWN", id="without SYNONYMS another word means something else"),
        pytest.param({"Phrases/SYNONYMS": '[["unit", "apartment"]]'}, "rent a unit", "READY", id="SYNONYMS count"),
        pytest.param({"Phrases/SYNONYMS": '[["flat", "apartment"]]'}, "a flat", "READY", id="also without other words"),
        pytest.param(
            {"Phrases/SYNONYMS": '[["apartment", "roof over my head"]]'},
            "a roof over my head",
            "READY",
            id="also of several words",
        ),
        pytest.param(
            {"Phrases/MIN_CONFIDENCE": "0.99"}, "a dentist or a parcel", "UNKNOWN", id="MIN_CONFIDENCE is the bound"
        ),
        pytest.param({}, "track or cancel my order", "READY", id="one that leads by more than MARGIN is meant"),
        pytest.param(
            {"Phrases/MARGIN": "0.8"}, "track or cancel my order", "INTENT_COLLISION", id="two within MARGIN collide"
        ),
    ],
)
def test_a_setting_decides(settings: dict[str, Any], text: str, state: str) -> None:
    assert make_shop(settings=settings).say(text)["state"] == state


def test_telling_words_of_other_intents_lower_the_score() -> None:
    caller = make_shop()
    caller.say("see a dentist")
    caller.say("see a dentist about a parcel")

    scores = [find_event(caller, turn, "INTENT_CLASSIFICATION_MATCHED")["score"] for turn in (1, 2)]
    assert scores[0] > scores[1]


def test_why_shows_the_nearest_phrase_and_the_runner_up() -> None:
    caller = make_shop()
    caller.say("see a dentist about a parcel")

    event = find_event(caller, 1, "INTENT_CLASSIFICATION_MATCHED")
    phrase = CeIntentClassifier.objects.get(intent_code="VISIT")
    assert event["matchedByRule"] == {str(phrase.pk): "VISIT"}
    assert (event["intent"], event["runnerUp"]) == ("VISIT", "TRACK")
    assert 0 < event["runnerUpScore"] < event["score"] < 1


@pytest.mark.parametrize(
    ("order", "intent"),
    [
        pytest.param(None, "TRACK", id="by default a pattern goes before a phrase"),
        pytest.param("PHRASE, REGEX", "VISIT", id="ORDER may put phrases first"),
    ],
)
def test_patterns_and_phrases_are_asked_in_the_order_of_the_setting(order: str | None, intent: str) -> None:
    pattern = make_phrase("TRACK", "(?i)dentist", rule_type="REGEX")
    caller = make_shop(pattern, settings={"Classifier/ORDER": order} if order else None)

    assert caller.say(DENTIST)["intent"] == intent


def test_an_edited_phrase_counts_from_the_next_message_on() -> None:
    caller = make_shop()
    caller.say("my tooth hurts")
    with change_set():
        CeIntentClassifier.objects.create(**make_phrase("VISIT", "my tooth hurts"))

    assert caller.say("my tooth hurts")["intent"] == "VISIT"


def test_start_a_flow_writes_phrases() -> None:
    make_caller()

    assert set(CeIntentClassifier.objects.filter(intent_code="DENTIST").values_list("rule_type", "pattern")) == {
        ("PHRASE", DENTIST), ("PHRASE", "book an appointment"),
    }  # fmt: skip


def test_the_faq_import_writes_phrases_that_are_answered_and_return(admin_client: Client) -> None:
    caller = make_caller()
    lines = "Question\tAnswer\nIs there a garden?\tYes, behind the house."
    sent = admin_client.post(reverse("admin:config_admin_ceintent_faq"), {"text": lines})
    sent = admin_client.post(
        sent.request["PATH_INFO"],
        {"text": lines, "_make": "1", "previewed": sent.context["plan"].digest, "reason": "faq"},
    )
    assert sent.status_code == 302, sent.content.decode()[:3000]

    assert CeIntentClassifier.objects.filter(rule_type="PHRASE", pattern="Is there a garden?").exists()
    caller.say("book an appointment")
    answer = caller.say("is there a garden?")
    assert answer["payload"]["value"].startswith("Yes, behind the house.\n\nLet us go on.")
    assert answer["intent"] == "DENTIST"
