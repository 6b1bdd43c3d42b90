"""What new phrases would change: stored messages and tests, before anything is saved."""

import pytest
from django.utils import timezone

from config_admin.flows.teaching.effect import ChangeKind, LessonEffect, find_effect
from config_admin.flows.teaching.lesson import Lesson, drop_known_phrases, find_state
from config_admin.models import CeIntentClassifier
from config_admin.releases import head
from config_admin.test_cases.documents import store_test
from convengine.server.interfaces.configuration import configuration
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def help_desk() -> None:
    create_help_desk()
    for intent, text in (("FEES", "how much is the monthly membership"), ("HOURS", "when is the library open")):
        CeIntentClassifier.objects.create(intent_code=intent, state_code="IDLE", rule_type="PHRASE", pattern=text)


def run(*phrases: str, intent: str = "HOURS", **messages: int) -> LessonEffect:
    texts = {name.replace("_", " "): count for name, count in messages.items()}
    return find_effect(Lesson(intent, "IDLE", phrases), texts, timezone.now())


def test_messages_that_nobody_understood_are_caught() -> None:
    effect = run("is there parking", parking=3, is_there_a_parking=1, wifi_password=2)
    caught = effect.list_changed(ChangeKind.CAUGHT)
    assert [(message.text, message.times) for message in caught] == [("parking", 3), ("is there a parking", 1)]
    assert (effect.messages, effect.is_safe, effect.missing) == (6, True, [])


def test_messages_that_are_taken_from_another_intent_are_named() -> None:
    effect = run("monthly membership", monthly_membership=4)
    assert [message.before for message in effect.changed] == [("FEES",)]
    assert not effect.is_safe


def test_a_phrase_that_leads_elsewhere_is_named() -> None:
    effect = run("what are the fees")
    assert [phrase for phrase, intents in effect.missing if "FEES" in intents] == ["what are the fees"]


def test_nothing_is_stored() -> None:
    before, rows = head.newest(), CeIntentClassifier.objects.count()
    run("is there parking", parking=1)
    assert (head.newest(), CeIntentClassifier.objects.count()) == (before, rows)


def test_a_test_whose_result_changes_is_named() -> None:
    expected = [{"user": "parking", "expect": {"intent": "UNKNOWN"}}]
    case = store_test({"title": "Parking is not ours", "turns": expected}, editor="ann")
    store_test({"title": "Fees", "turns": [{"user": "fees", "expect": {"intent": "FEES"}}]}, editor="ann")
    effect = run("is there parking")
    assert [(test.test_case_id, test.passes) for test in effect.tests] == [(case.pk, False)]


def test_a_phrase_that_the_checks_refuse_is_an_error() -> None:
    assert run("is there parking", intent="NOWHERE").errors


def test_the_digest_changes_with_the_configuration() -> None:
    first = run("is there parking")
    assert run("is there parking").digest == first.digest
    CeIntentClassifier.objects.create(
        intent_code="FEES", state_code="IDLE", rule_type="PHRASE", pattern="membership card"
    )
    assert run("is there parking").digest != first.digest


def test_known_phrases_and_repetitions_are_left_out() -> None:
    snapshot = configuration().current()
    given = ["When is the library open", "is there parking", "Is there parking", " "]
    assert drop_known_phrases(snapshot, "HOURS", given) == ["is there parking"]


def test_phrases_lead_to_the_state_of_the_others() -> None:
    snapshot = configuration().current()
    assert (find_state(snapshot, "HOURS"), find_state(snapshot, "NEW")) == ("IDLE", "UNKNOWN")


def test_the_state_of_an_intent_whose_phrases_are_switched_off_is_theirs() -> None:
    CeIntentClassifier.objects.filter(intent_code="FEES").update(enabled=False)
    assert find_state(configuration().current(), "FEES") == "IDLE"
