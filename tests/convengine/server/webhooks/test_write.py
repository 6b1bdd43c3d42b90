"""Each event comes from a real turn, in its commit; and from nothing else."""

import json
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from jsonschema import Draft202012Validator

from audit.erasure.erase import EraseOrder, erase_conversation
from audit.models import CeWhatIf
from audit.replay.replay import find_replay_difference
from audit.what_if.jobs import start_run, what_ifs
from config_admin import models as m
from config_admin.drafts.open_draft import open_draft
from config_admin.drafts.publish_draft import publish_draft
from config_admin.releases.change_set import change_set
from convengine.engine.errors import TurnConflict
from convengine.engine.pipeline.hooks import Hooks, StepHook
from convengine.engine.turn.turn import TurnRequest
from convengine.server import wiring
from convengine.server.extensions.registry import TaskEntry, registry
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.threads.idle_sessions import close_idle_sessions
from convengine.server.turns.take_turn import take_turn
from convengine.server.webhooks.events import build_schema
from convengine.server.webhooks.models import CeWebhookDelivery
from tests.api import Caller, make_key
from tests.config_admin.test_cases.builders import make_test, run_tests
from tests.convengine.server.threads.sessions import session
from tests.convengine.server.webhooks.conftest import MakeWebhook
from tests.sign_in import sign_in_superuser
from tests.threads import Participant, travel_desk
from tests.worlds import set_audit_setting

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
SCHEMA = Draft202012Validator(build_schema(), format_checker=Draft202012Validator.FORMAT_CHECKER)
GIVE_UP = "sell my bicycle|x|y|z"


def read_events(**values: Any) -> list[dict[str, Any]]:
    """The bodies of deliveries, in order, which fit their schema."""
    bodies = [json.loads(row.body) for row in CeWebhookDelivery.objects.filter(**values).order_by("pk")]
    for body in bodies:
        SCHEMA.validate(body)
    return bodies


def list_types(**values: Any) -> list[str]:
    return [body["type"] for body in read_events(**values)]


def talk(messages: str, caller: Caller | None = None) -> Caller:
    caller = caller or Caller()
    for message in messages.split("|"):
        assert caller.say(message)["success"]
    return caller


@pytest.fixture
def refunds() -> Iterator[None]:
    """The travel desk with its task."""
    registry.add_task("refunds", TaskEntry({"pay": lambda call: {"paid": True}}))
    travel_desk()
    yield
    del registry.tasks["refunds"]


@pytest.mark.usefixtures("workshop")
def test_a_form_that_is_given_up_and_its_hand_over(make_webhook: MakeWebhook) -> None:
    make_webhook()
    caller = talk(f"{GIVE_UP}|are you there?")

    given_up, handed_over = read_events()
    turn = CeConversationHistory.objects.get(turn_no=4)
    common = {
        "conversationId": caller.conversation_id,
        "workspace": "default",
        "channel": "api",
        "turnNo": 4,
        "turnId": str(turn.turn_id),
        "intent": "TALK_TO_MECHANIC",
        "state": "HAND_OVER",
        "configVersion": turn.config_version,
    }
    assert (given_up["type"], handed_over["type"]) == ("form.given_up", "conversation.handed_over")
    assert given_up["data"] == common | {"form": 3, "field": "frameNumber", "misses": 3}
    reply = "One moment, a mechanic takes over."
    assert handed_over["data"] == common | {"message": "z", "reply": reply}
    assert given_up["timestamp"] == turn.created_at.isoformat()


@pytest.mark.usefixtures("workshop")
def test_a_message_to_a_person(make_webhook: MakeWebhook) -> None:
    with change_set():
        m.CeConfig.objects.create(config_type="HandOverStep", config_key="HAS_DESK", config_value="true")
    make_webhook(events=["conversation.handed_over", "handover.message"])
    talk(f"{GIVE_UP}|hello?")

    handed_over, message = (event["data"] for event in read_events())
    assert message["message"] == "hello?"
    assert message["turnNo"] == handed_over["turnNo"] + 1


@pytest.mark.usefixtures("refunds")
def test_an_action_that_ran(make_webhook: MakeWebhook) -> None:
    make_webhook()
    writer = Participant()
    writer.say("refund please")
    answer = writer.say("yes")

    (event,) = read_events(event="action.executed")
    assert event["data"]["action"] == "refunds:pay"
    assert event["data"]["participant"] == writer.remote_jid
    assert event["data"]["turnId"] == answer["turn"]["turnId"]


@pytest.mark.usefixtures("refunds")
def test_a_conversation_that_ends_in_a_turn_by_a_call_and_by_time(make_webhook: MakeWebhook) -> None:
    make_webhook(events=["conversation.ended"])
    writer = Participant()
    first = writer.say("trip")["session_id"]
    # Done, and another task begins in the same turn.
    second = writer.say("visa")["session_id"]
    writer.call("post", f"/{second}/close", {"reason": "solved"})
    idle = session(timedelta(days=30), context_summary="")
    list(close_idle_sessions())

    ends = [event["data"] for event in read_events()]
    assert [(end["conversationId"], end["lifecycle"], end["reason"]) for end in ends] == [
        (first, "COMPLETE", "new_task"),
        (second, "COMPLETE", "solved"),
        (str(idle.pk), "ABORTED", "stale"),
    ]
    assert (ends[0]["turnNo"], "turnId" in ends[0], "turnId" in ends[1]) == (2, True, False)


@pytest.mark.usefixtures("workshop")
def test_a_release_is_published_with_its_change(make_webhook: MakeWebhook) -> None:
    make_webhook(workspace_id="acme", events=["release.published"])
    draft = m.CeDraft.objects.create(title="Later")
    with open_draft(draft.pk, "ada", writing=True), change_set():
        m.CeIntent.objects.filter(pk="SELL_BICYCLE").update(description="Sell")
    assert read_events() == []

    release = publish_draft(draft.pk, reason="agreed")
    (event,) = read_events()
    assert event["data"] == {
        "configVersion": release.pk,
        "origin": "DRAFT",
        "author": release.author,
        "reason": "Later: agreed",
    }


@pytest.mark.usefixtures("workshop")
def test_a_webhook_gets_what_it_wants_of_its_workspace(make_webhook: MakeWebhook) -> None:
    every, acme, off = make_webhook(), make_webhook(workspace_id="acme"), make_webhook(is_enabled=False)
    ends = make_webhook(events=["conversation.ended"])
    talk(GIVE_UP)
    talk(GIVE_UP, Caller(make_key("acme")))

    counts = [CeWebhookDelivery.objects.filter(webhook=hook).count() for hook in (every, acme, off, ends)]
    assert counts == [4, 2, 0, 0]
    assert {body["data"]["workspace"] for body in read_events(webhook=acme)} == {"acme"}


@pytest.mark.usefixtures("workshop")
def test_an_event_has_one_id_for_all_webhooks(make_webhook: MakeWebhook) -> None:
    make_webhook(), make_webhook()
    talk(GIVE_UP)

    ids = CeWebhookDelivery.objects.filter(event="form.given_up").values_list("event_id", flat=True)
    assert (len(ids), len(set(ids))) == (2, 1)


@pytest.mark.usefixtures("workshop")
def test_texts_are_masked_as_in_the_record(make_webhook: MakeWebhook) -> None:
    with change_set():
        set_audit_setting("REDACT_PATTERNS", r"\d{8,}")
    make_webhook(events=["conversation.handed_over"])
    talk("sell my bicycle|x|y|call 4915112345")

    (event,) = read_events()
    assert event["data"]["message"] == "call ***"
    assert "4915112345" not in CeWebhookDelivery.objects.get().body


@pytest.mark.usefixtures("refunds")
@pytest.mark.parametrize(("key", "value"), [("REDACT_KEYS", "participant"), ("REDACT_PATTERNS", r"ada@\S+")])
def test_a_participant_is_masked_in_a_turn_and_outside(make_webhook: MakeWebhook, key: str, value: str) -> None:
    with change_set():
        set_audit_setting(key, value)
    make_webhook(events=["conversation.ended"])
    writer = Participant(remote_jid="ada@shop.example")
    writer.say("trip")
    # The first one ends in the turn, the second by a call.
    second = writer.say("visa")["session_id"]
    writer.call("post", f"/{second}/close", {"reason": "solved"})

    assert [event["data"]["participant"] for event in read_events()] == ["***", "***"]
    assert not CeWebhookDelivery.objects.filter(body__contains=writer.remote_jid).exists()


@pytest.mark.usefixtures("workshop")
def test_a_turn_without_an_event_costs_nothing() -> None:
    caller = talk("sell my bicycle")
    with CaptureQueriesContext(
        connection,
    ) as queries:
        caller.say("x")
    assert [query["sql"] for query in queries if "webhook" in query["sql"]] == []


@pytest.mark.usefixtures("workshop")
def test_a_turn_that_is_not_stored_leaves_no_event(make_webhook: MakeWebhook, monkeypatch: pytest.MonkeyPatch) -> None:
    make_webhook()
    caller = talk("sell my bicycle|x|y")

    class Interferes(StepHook):
        def before_step(self, step_name: str, session: Any, turn: Any) -> Any:
            CeConversation.objects.update(version=99)
            return session

    with monkeypatch.context() as changed:
        changed.setattr(wiring.engine(), "_hooks", Hooks([Interferes()]))
        with pytest.raises(TurnConflict):
            take_turn(TurnRequest(caller.conversation_id, "z"))
    assert CeConversationHistory.objects.get(turn_no=4).status == "FAILED"
    assert read_events() == []

    talk("z", caller)
    assert list_types() == ["form.given_up", "conversation.handed_over"]


@pytest.mark.usefixtures("workshop")
def test_replays_what_if_runs_tests_drafts_and_the_simulator_send_nothing(make_webhook: MakeWebhook) -> None:
    caller = talk(GIVE_UP)
    make_webhook()
    released = m.CeRelease.objects.count()

    turn = CeConversationHistory.objects.get(conversation_id=caller.conversation_id, turn_no=4)
    assert find_replay_difference(turn) is None
    run = CeWhatIf(owner="user:ada", configuration="live", last=100)
    start_run(run)
    what_ifs.run(run.pk)
    make_test("Sell", *({"user": text, "expect": {}} for text in GIVE_UP.split("|")))
    assert run_tests().total == 1
    draft = m.CeDraft.objects.create(title="Later")
    with open_draft(draft.pk, "ada", writing=True), change_set():
        m.CeIntent.objects.filter(pk="SELL_BICYCLE").update(description="Sell")
    assert run_tests(f"draft:{draft.pk}").total == 1
    client = sign_in_superuser()
    page = client.post(reverse("admin:audit_ceaudit_simulate"), {"try-line": GIVE_UP.split("|")})
    assert "a mechanic takes over" in page.content.decode()

    assert (m.CeRelease.objects.count(), read_events()) == (released, [])


@pytest.mark.usefixtures("workshop")
def test_an_erasure_takes_the_deliveries_of_the_conversation(make_webhook: MakeWebhook) -> None:
    make_webhook()
    caller, other = talk(GIVE_UP), talk(GIVE_UP)

    for _ in erase_conversation(uuid.UUID(caller.conversation_id), EraseOrder("ada", "asked for")):
        pass

    left = CeWebhookDelivery.objects.values_list("conversation_id", flat=True)
    assert set(left) == {other.conversation_id}
