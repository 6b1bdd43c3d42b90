import uuid

import pytest

from audit.narration import narrate_turn
from audit.narration.explanation import list_empty_values
from audit.record.events import expand_events
from audit.record.queries import read_turns
from config_admin.models import CeResponse
from config_admin.releases.change_set import change_set
from tests.api import Caller
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


def test_a_gap_in_an_answer_is_told_and_listed() -> None:
    create_help_desk()
    answer = CeResponse.objects.get(intent_code="FEES")
    with change_set(reason="a gap"):
        answer.exact_text = "Order {{ number }} is a {{ item.name }} for {{ price | default('free') }}."
        answer.save()
    caller = Caller()
    caller.say("fees", inputParams={"number": ""})

    (gap,) = list_empty_values(10)

    assert (gap.table, gap.row, set(gap.names)) == ("ce_response", answer.pk, {"number", "item.name"})
    told = narrate_turn(list(expand_events(read_turns(uuid.UUID(caller.conversation_id), [1]))))
    assert [sentence.text for sentence in told if sentence.kind == "TEMPLATE_VALUE_EMPTY"] == [
        f"The text of answer {answer.pk} has gaps, because these names had no value: number and item.name."
    ]
