"""What a customer may read of a conversation: what was said, understood and done."""

import re

import pytest
from django.urls import reverse

from audit.export.conversation import write_customer_copy
from audit.models import CeAccessLog
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.sign_in import sign_in
from tests.worlds import create_pizza_form

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller() -> Caller:
    create_pizza_form()
    caller = Caller()
    for text in ("a party", "on 4 March 2030", "maybe small"):
        caller.say(text)
    return caller


def copy(caller: Caller) -> list[list[str]]:
    records = CeConversationHistory.objects.filter(conversation_id=caller.conversation_id).order_by("turn_no")
    return [part.splitlines() for part in write_customer_copy(list(records)).split("\n\n")]


def test_each_turn_has_its_time_words_and_what_was_understood(caller: Caller) -> None:
    first, second, third = copy(caller)

    assert re.fullmatch(r"\d+ \w+ \d{4}, \d\d:\d\d", first[0])
    assert first[1:3] == ["You: a party", "We understood: Pizza party"]
    assert first[3].startswith("Answer: ")
    assert second[1:3] == ["You: on 4 March 2030", "We understood: Day: Monday 4 March 2030"]
    assert third[2] == "We understood: perhaps Size: Small"


def test_it_names_no_row_release_or_code(caller: Caller) -> None:
    text = "\n".join(line for turn in copy(caller) for line in turn)

    assert not re.search(r"ce_|release|PARTY|COLLECT|intent", text)


def test_the_page_has_the_wanted_turns_to_copy_and_is_in_the_access_log(caller: Caller) -> None:
    qa = sign_in("qa", "qa")

    page = qa.get(reverse("admin:audit_ceaudit_customer", args=[caller.conversation_id]), {"from": "2", "to": "2"})

    assert page.context["text"].count("You: ") == 1
    assert 'data-copy="copy"' in page.content.decode()
    assert CeAccessLog.objects.filter(reader="qa", kind=CeAccessLog.Kind.EXPORT).exists()
