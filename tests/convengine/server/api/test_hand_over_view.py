"""A person has the conversation: the bot stores messages, the desk answers, and gives the conversation back."""

import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.integrity.verify import verify_conversation
from config_admin.models import CeConfig, CeResponse, CeRule
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.api import Caller, make_key
from tests.dialogues.rows.worlds import make_flows
from tests.threads import Participant, travel_desk
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db

PERSON = {
    "code": "PERSON",
    "title": "Talk to a person",
    "kind": "handover",
    "locale": "en-GB",
    "phrases": ["I want a person"],
    "answer": "One moment.",
}


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    CeConfig.objects.create(config_type="HandOverStep", config_key="HAS_DESK", config_value="true")
    return Caller(make_key(scopes=["turns", "sessions", "audit"]))


def call(caller: Caller, what: str, key: str = "", **body: Any) -> Any:
    headers = {"Authorization": f"Api-Key {caller.secret}", **({"Idempotency-Key": key} if key else {})}
    path = f"/api/v1/conversation/{caller.conversation_id}/handover/{what}"
    return caller.client.post(path, body, content_type="application/json", headers=headers)


def test_a_person_answers_until_the_conversation_is_given_back(caller: Caller) -> None:
    caller.say("hours")

    call(caller, "messages", text="Ada here. One moment.", author="Ada")
    passed_on = caller.say("and the fees")
    call(caller, "end", author="Ada")
    answered = caller.say("and the fees")

    assert passed_on["payload"]["value"] == "Your message was passed on. A person will answer you here."
    assert (passed_on["stateReport"]["withPerson"], answered["stateReport"]["withPerson"]) == (True, False)
    assert answered["intent"] == "FEES"
    assert "RULE_MATCH" not in " ".join(caller.stages(3))
    assert [turn.status for turn in CeConversationHistory.objects.order_by("turn_no")] == ["OK"] * 5
    assert verify_conversation(uuid.UUID(caller.conversation_id)).intact


def test_nobody_answers_before_a_person_has_written(caller: Caller) -> None:
    """The notice of a chat: passed on at first, and again at the next hand-over."""
    make_flows(PERSON)

    def hand_over() -> list[bool]:
        reports = [caller.say(text)["stateReport"] for text in ("I want a person", "are you there")]
        call(caller, "messages", text="Ada here.")
        reports.append(caller.say("at last")["stateReport"])
        call(caller, "end")
        reports.append(caller.say("hours")["stateReport"])
        return [report[name] for report in reports for name in ("withPerson", "personAnswers")]

    expected = [True, False, True, False, True, True, False, False]
    assert [hand_over(), hand_over()] == [expected, expected]


def test_a_number_for_a_person_presses_no_button_of_an_earlier_answer(caller: Caller) -> None:
    answer = 'Hello. {{ button("Fees", "and the fees") }}'
    make_flows({**PERSON, "code": "GREETING", "kind": "answer", "phrases": ["good day to you"], "answer": answer})
    assert caller.say("good day to you")["stateReport"]["choices"]

    call(caller, "messages", text="How many of you are there?")
    caller.say("1")

    assert CeConversationHistory.objects.get(turn_no=3).user_input == "1"


def test_the_bot_asks_nothing_while_a_person_has_the_conversation() -> None:
    travel_desk()
    CeConfig.objects.create(config_type="HandOverStep", config_key="HAS_DESK", config_value="true")
    caller = Caller(make_key(scopes=["turns", "sessions"]))

    asked = caller.say("refund please")
    call(caller, "messages", text="One moment.")
    passed_on = caller.say("yes")

    assert asked["stateReport"]["confirm"]
    assert passed_on["stateReport"]["confirm"] is None


def test_a_late_message_still_reaches_the_person() -> None:
    travel_desk()
    CeConfig.objects.create(config_type="HandOverStep", config_key="HAS_DESK", config_value="true")
    writer = Participant()
    session_id = writer.say("trip")["session_id"]
    call(Caller(writer.secret, session_id), "messages", text="I look for it.")
    two_hours_ago = timezone.now() - timedelta(hours=2)
    CeConversation.objects.update(last_message_at=two_hours_ago, updated_at=two_hours_ago)

    late = writer.say("are you there?")

    assert (late["session_id"], late["turn"]["stateReport"]["withPerson"]) == (session_id, True)
    assert timezone.now() + timedelta(days=6) < datetime.fromisoformat(late["session"]["expires_at"])


def test_all_of_it_is_in_the_account(caller: Caller) -> None:
    caller.say("hours")
    call(caller, "messages", text="One moment.", author="Ada")
    caller.say("fine")
    call(caller, "end", author="Ada")

    accounts = [
        " ".join("".join(part["text"] for part in sentence["parts"]) for sentence in body["sentences"])
        for body in (caller.get("/account", turn=turn).json() for turn in (2, 3, 4))
    ]

    assert "A person wrote to the user: Ada." in accounts[0]
    assert "A person has the conversation: the bot stored the message and decided nothing." in accounts[1]
    assert "The help desk gave the conversation back to the bot: Ada." in accounts[2]


def test_a_repeated_call_says_it_once(caller: Caller) -> None:
    caller.say("hours")

    first, second = (call(caller, "messages", key="m-1", text="One moment.").json() for _ in range(2))

    assert first == second
    assert CeConversationHistory.objects.count() == 2


def test_a_key_is_for_one_conversation_and_one_address(caller: Caller) -> None:
    other = Caller(caller.secret)
    for writer in (caller, other):
        writer.say("hours")
    call(caller, "messages", key="m-1", text="One moment.")

    refused = [
        call(other, "messages", key="m-1", text="One moment."),
        call(caller, "end", key="m-1", text="One moment."),
    ]

    assert [answer.json()["errorCode"] for answer in refused] == ["IDEMPOTENCY_KEY_REUSED"] * 2


def test_a_reset_gives_the_conversation_back(caller: Caller) -> None:
    caller.say("hours")
    call(caller, "messages", text="One moment.")

    caller.say(reset=True)

    assert caller.say("and the fees")["intent"] == "FEES"


def test_a_hand_over_passes_the_conversation_to_a_person(caller: Caller) -> None:
    CeRule.objects.update(action_value="HAND_OVER")
    CeResponse.objects.filter(state_code="VIP").update(state_code="HAND_OVER")

    handed_over = caller.say("hours", inputParams={"vip": True})

    assert (handed_over["state"], handed_over["stateReport"]["withPerson"]) == ("HAND_OVER", True)
    assert caller.say("and the fees")["payload"]["value"].startswith("Your message was passed on")


def test_without_a_help_desk_the_bot_goes_on(caller: Caller) -> None:
    CeConfig.objects.update(config_value="false")
    caller.say("hours")
    call(caller, "messages", text="One moment.")

    answer = caller.say("and the fees")

    assert (answer["intent"], answer["stateReport"]["withPerson"]) == ("FEES", False)


def test_a_conversation_of_another_workspace_does_not_exist(caller: Caller) -> None:
    caller.say("hours")
    caller.secret = make_key(workspace_id="elsewhere", scopes=["sessions"])

    refused = call(caller, "messages", text="Hello")

    assert (refused.status_code, refused.json()["errorCode"]) == (404, "NOT_FOUND")
    assert not call(caller, "end").json()["success"]


@pytest.mark.parametrize("body", [{}, {"text": ""}, {"text": "a" * 10_001}, {"text": "Hi", "author": "a" * 101}])
def test_a_wrong_text_is_named(caller: Caller, body: dict[str, str]) -> None:
    caller.say("hours")

    refused = call(caller, "messages", **body)

    assert (refused.status_code, refused.json()["errorCode"]) == (400, "VALIDATION_ERROR")


@pytest.fixture
def desk(caller: Caller) -> Caller:
    """A key of the scope `desk`, and a conversation that a key of somebody else began."""
    caller.say("hours")
    return Caller(make_key(scopes=["desk"]), caller.conversation_id)


def read(desk: Caller, path: str = "") -> Any:
    address = path or f"/api/v1/conversation/{desk.conversation_id}/handover/messages"
    return desk.client.get(address, headers={"Authorization": f"Api-Key {desk.secret}"})


def hand_over(caller: Caller) -> None:
    make_flows(PERSON)
    caller.say("I want a person")


def test_a_desk_reads_and_answers_what_a_person_has(caller: Caller, desk: Caller) -> None:
    hand_over(caller)

    listed = read(desk, "/api/v1/handovers").json()["conversations"]
    said = read(desk).json()
    sent = call(desk, "messages", text="Ada here.", author="Ada")
    given_back = call(desk, "end")

    assert [(row["conversationId"], row["personAnswers"]) for row in listed] == [(caller.conversation_id, False)]
    assert [message["text"] for message in said["messages"] if message["speaker"] == "user"][-1] == "I want a person"
    assert said["withPerson"]
    assert (sent.status_code, given_back.status_code) == (200, 200)
    assert caller.say("and the fees")["intent"] == "FEES"


def test_a_desk_sees_nothing_that_no_person_has(caller: Caller, desk: Caller) -> None:
    """Before the hand-over, and after it was given back."""

    def try_all() -> list[int]:
        answers = [read(desk), call(desk, "messages", text="Hello"), call(desk, "end")]
        return [answer.status_code for answer in answers]

    before = try_all()
    hand_over(caller)
    call(desk, "end")

    assert [before, try_all()] == [[404] * 3] * 2
    assert read(desk, "/api/v1/handovers").json() == {"conversations": []}


def test_a_desk_stays_in_its_workspace(caller: Caller, desk: Caller) -> None:
    hand_over(caller)
    desk.secret = make_key(workspace_id="elsewhere", scopes=["desk"])

    assert [read(desk).status_code, call(desk, "messages", text="Hello").status_code] == [404, 404]
    assert read(desk, "/api/v1/handovers").json() == {"conversations": []}


def test_without_the_setting_no_person_has_a_conversation(caller: Caller, desk: Caller) -> None:
    hand_over(caller)
    setting = CeConfig.objects.get(config_key="HAS_DESK")
    setting.config_value = "false"
    setting.save()

    assert read(desk).status_code == 404
    assert read(desk, "/api/v1/handovers").json() == {"conversations": []}


@pytest.mark.parametrize("path", ["sessions?workspace_id=default", "sessions/{}", "conversation/{}"])
def test_a_desk_reads_no_session(caller: Caller, desk: Caller, path: str) -> None:
    hand_over(caller)

    assert read(desk, f"/api/v1/{path.format(caller.conversation_id)}").status_code == 403


def test_a_desk_may_repeat_the_call_that_gave_the_conversation_back(caller: Caller, desk: Caller) -> None:
    hand_over(caller)

    first, second = (call(desk, "end", key="e-1") for _ in range(2))

    assert [first.status_code, second.status_code] == [200, 200]
    assert first.json() == second.json()


def test_a_desk_reads_what_was_said_since(caller: Caller, desk: Caller) -> None:
    hand_over(caller)
    last = read(desk).json()["lastTurnNo"]
    caller.say("are you there")

    since = read(desk, f"/api/v1/conversation/{desk.conversation_id}/handover/messages?after={last}").json()

    assert [(message["speaker"], message["turnNo"]) for message in since["messages"]] == [
        ("user", last + 1),
        ("bot", last + 1),
    ]
