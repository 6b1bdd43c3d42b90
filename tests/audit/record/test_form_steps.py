"""The steps of forms in the index: what each turn asked, what it got, and how the form ended."""

from pathlib import Path

import pytest

from audit.models import CeTurnIndex
from audit.record.form_steps import FORM_STAGES, FormProgress, FormStep, encode_steps, split_steps
from config_admin.models import CeOutputSchema
from config_admin.releases.change_set import change_set
from convengine.engine.turn.turn import TurnRequest
from convengine.server.interfaces.configuration import configuration_files
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns.take_turn import take_turn

pytestmark = [pytest.mark.django_db]
BUNDLE = Path(__file__).parents[3] / "fixtures/bicycle_workshop.json"


def talk(messages: str) -> list[list[str]]:
    """The steps of each turn."""
    key = str(CeConversation().conversation_id)
    for message in messages.split("|"):
        take_turn(TurnRequest(key, message))
    steps = []
    for turn in CeConversationHistory.objects.filter(conversation_id=key).order_by("turn_no"):
        entries = CeTurnIndex.objects.filter(turn_id=turn.turn_id, kind=CeTurnIndex.STAGE, value__in=FORM_STAGES)
        steps.append([text for role in entries.values_list("role", flat=True) for text in split_steps(role)])
    return steps


def test_a_form_goes_from_field_to_field_until_it_is_done() -> None:
    configuration_files().import_file(BUNDLE)
    assert talk("rent a bicycle|3|banana|tomorrow at 10am|2 hours|yes|a@example.com|yes|thanks") == [
        ["2/STARTED:", "2/ASKED:numberOfBicycles"],
        ["2/GIVEN:numberOfBicycles", "2/ASKED:start"],
        ["2/MISSED:start"],
        ["2/GIVEN:start", "2/ASKED:duration"],
        ["2/GIVEN:duration", "2/ASKED:helmets"],
        ["2/GIVEN:helmets", "2/ASKED:emailAddress"],
        ["2/GIVEN:emailAddress", "2/FILLED:"],
        ["2/COMPLETED:"],
        [],
    ]


def test_a_form_ends_early() -> None:
    configuration_files().import_file(BUNDLE)
    assert talk("I have a puncture|blah|what is your address|stop|yes") == [
        ["1/STARTED:", "1/ASKED:bicycle"],
        ["1/REFUSED:bicycle"],
        [],
        ["1/LEFT:bicycle"],
        [],
    ]
    assert talk("sell my bicycle|x|y|z|w")[1:] == [
        ["3/MISSED:frameNumber"],
        ["3/MISSED:frameNumber"],
        ["3/GAVE_UP:frameNumber"],
        [],
    ]


def test_a_form_goes_on_after_an_interruption() -> None:
    configuration_files().import_file(BUNDLE)
    with change_set(reason="it goes on"):
        form = CeOutputSchema.objects.get(pk=2)
        form.json_schema = {**form.json_schema, "x-resume": True, "x-on-leave": "LEAVE"}
        form.save()
    assert talk("rent a bicycle|3|I have a puncture|stop|tomorrow at 10am")[2:] == [
        ["1/STARTED:", "1/ASKED:bicycle"],
        ["1/LEFT:bicycle"],
        ["2/GIVEN:start", "2/ASKED:duration"],
    ]


def test_steps_are_read_as_they_are_written() -> None:
    steps = [FormProgress(2, FormStep.ASKED, "a|b"), FormProgress(2, FormStep.FILLED)]
    assert encode_steps(steps) == "|2/ASKED:a_b|2/FILLED:|"
    assert [FormProgress.parse(text) for text in split_steps(encode_steps(steps))] == [
        FormProgress(2, FormStep.ASKED, "a_b"),
        steps[1],
    ]
    assert encode_steps([]) == ""
