from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from convengine.server.sessions.models import CeConversationHistory
from tests.sign_in import sign_in
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


def make_client(group: str) -> Client:
    return sign_in(group, group)


def page(client: Client, path: str = "") -> str:
    return client.get(path or reverse("admin:audit_ceaudit_talk")).content.decode()


def say(client: Client, text: str, path: str = "") -> Any:
    return client.post(path or reverse("admin:audit_ceaudit_talk"), {"message": text})


def test_a_message_is_answered_by_the_configuration_in_force_and_the_page_says_why() -> None:
    create_help_desk()
    ana = make_client("analyst")
    first = say(ana, "hours")
    assert first.status_code == 302

    told = page(ana, first["Location"])
    record = CeConversationHistory.objects.get()
    assert record.user_input == "hours"
    assert str(record.assistant_output["value"]) in told
    assert "How the last answer was chosen" in told
    assert "Intent" in told

    say(ana, "hours again", first["Location"])
    assert sorted(CeConversationHistory.objects.values_list("turn_no", flat=True)) == [1, 2]


@pytest.mark.parametrize(("text", "remedy"), [("  ", "Enter a message."), ("x" * 20_000, "Enter a shorter message.")])
def test_a_message_that_cannot_be_taken_is_kept_in_the_line_beside_the_remedy(text: str, remedy: str) -> None:
    create_help_desk()
    answer = say(make_client("analyst"), text)

    assert answer.status_code == 200
    assert remedy in answer.content.decode()
    assert f'value="{text}"' in answer.content.decode()
    assert not CeConversationHistory.objects.exists()


def test_a_conversation_costs_the_same_however_many_turns_it_has(django_assert_max_num_queries: Any) -> None:
    create_help_desk()
    ana = make_client("analyst")
    path = say(ana, "hours")["Location"]
    page(ana, path)
    with django_assert_max_num_queries(10):
        page(ana, path)
    for _ in range(8):
        say(ana, "hours", path)
    with django_assert_max_num_queries(10):
        page(ana, path)


def test_who_only_reads_does_not_try() -> None:
    qa = make_client("qa")

    assert qa.get(reverse("admin:audit_ceaudit_talk")).status_code == 403
    assert "Try a conversation" not in page(qa, reverse("admin:index"))
