"""How far forms come: the steps of real conversations, by field and by state."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from audit.models import CeTurnCount
from audit.record.days import choose_days
from audit.record.form_steps import FormStep
from audit.record.outcomes import FormOutcome
from audit.reports.counting import count_new_turns
from audit.reports.funnel import Funnel, build_funnels, read_funnels
from audit.reports.report import FORM_OUTCOMES, ReportSelection
from convengine.engine.turn.turn import TurnRequest
from convengine.server.interfaces.configuration import configuration_files
from convengine.server.sessions.models import CeConversation
from convengine.server.turns.take_turn import take_turn

pytestmark = [pytest.mark.django_db]
BUNDLE = Path(__file__).parents[3] / "fixtures/bicycle_workshop.json"
TALKS = (
    "rent a bicycle|3|banana|tomorrow at 10am|2 hours|yes|a@example.com|yes",
    "rent a bicycle|2|tomorrow at 11am",
    "rent a bicycle|stop",
    "sell my bicycle|x|y|z",
)


def talk() -> None:
    configuration_files().import_file(BUNDLE)
    for messages in TALKS:
        key = str(CeConversation().conversation_id)
        for message in messages.split("|"):
            take_turn(TurnRequest(key, message))
    list(count_new_turns(timedelta()))


def read(intent: str = "") -> list[Funnel]:
    return read_funnels(ReportSelection(*choose_days(1, timezone.now()), intent=intent))


def test_a_form_loses_people_field_by_field() -> None:
    assert read() == []
    talk()
    rent, sell = read()
    assert (rent.intent, rent.completion, rent.started) == ("RENT_BICYCLE", 33.3, 3)
    fields = {known.path: known for known in rent.fields}
    assert list(fields) == ["numberOfBicycles", "start", "duration", "helmets", "emailAddress"]
    bicycles = fields["numberOfBicycles"].counts
    assert bicycles.steps == {FormStep.ASKED: 3, FormStep.GIVEN: 2, FormStep.LEFT: 1}
    assert bicycles.outcomes == {FormOutcome.LEFT: 1}
    assert fields["start"].counts.steps == {FormStep.ASKED: 2, FormStep.GIVEN: 2, FormStep.MISSED: 1}
    assert (fields["duration"].counts.get(FormOutcome.OPEN), fields["duration"].losses) == (1, 1)
    assert sell.counts.get(FormOutcome.GAVE_UP) == 1
    assert [funnel.intent for funnel in read("SELL_BICYCLE")] == ["SELL_BICYCLE"]


@pytest.mark.parametrize("step", [FormStep.LEFT, FormStep.GAVE_UP, FormStep.COMPLETED])
def test_a_turn_that_leaves_a_form_is_no_form_that_began(step: FormStep) -> None:
    completed = FORM_OUTCOMES[FormOutcome.COMPLETED]

    (funnel,) = build_funnels({(f"{CeTurnCount.FORM}{step}", "2:"): 3, (completed, "2:"): 7})

    assert (funnel.started, funnel.completion, funnel.counts.get(step)) == (7, 100.0, 3)
