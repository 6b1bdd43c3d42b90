"""Recorded turns run again by the API: jobs, what they find, and what is refused."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import IntegrityError
from django.test import Client, override_settings
from django.utils import timezone

from audit.erasure.erase import EraseOrder, erase_conversation
from audit.models import CeAccessLog, CeAudit, CeReplayJob
from audit.record import retention
from audit.replay.jobs import replays
from audit.replay.replay import find_replay_difference
from config_admin.models import CeRelease, CeResponse
from convengine.engine.turn.codec import loads
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.threads.external_changes import record_external_turn
from convengine.server.threads.hand_over import answer_as_person, give_back
from tests.api import Caller, make_key
from tests.record import change_payload, events
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("changeable_turns")]
FOR_REAL = pytest.mark.django_db(transaction=True)


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    found = Caller()
    for text in ("hours", "fees"):
        found.say(text)
    return found


def ask(caller: Caller, secret: str = "", **body: Any) -> Any:
    return caller.client.post(
        "/api/v1/replay",
        data={"mode": "RECORDED", "conversationId": caller.conversation_id, **body},
        content_type="application/json",
        headers={"Authorization": f"Api-Key {secret or caller.secret}"},
    )


def get_replay(caller: Caller, key: Any, secret: str = "") -> Any:
    headers = {"Authorization": f"Api-Key {secret or caller.secret}"}
    return caller.client.get(f"/api/v1/replay/{key}", headers=headers)


def run_replay(caller: Caller, **body: Any) -> Any:
    """What came of a replay. It runs in this thread, which alone sees what a test has written."""
    key = ask(caller, **body).json()["id"]
    replays.run(uuid.UUID(key))
    return get_replay(caller, key).json()


def changed_answer() -> int:
    CeResponse.objects.filter(intent_code="HOURS", state_code="IDLE").update(exact_text="Ten to six.")
    response = CeResponse.objects.get(intent_code="HOURS", state_code="IDLE")
    response.exact_text = "Ten to four."
    response.save()
    return int(CeRelease.objects.order_by("-config_version").values_list("config_version", flat=True)[0])


@FOR_REAL
def test_a_replay_runs_behind_the_call_and_finds_the_turns_equal(caller: Caller) -> None:
    before = CeAudit.objects.count()
    answer = ask(caller, expectations=[{"turnIndex": 0, "expectedIntent": "hours", "expectedState": "idle"}])
    replays.queue.finish()
    found = get_replay(caller, answer.json()["id"]).json()

    assert answer.status_code == 202
    assert answer.headers["Location"] == f"/api/v1/replay/{answer.json()['id']}"
    assert answer.json()["passed"] is None
    assert (found["status"], found["passed"], found["assertionFailures"], found["diff"]) == ("DONE", True, [], [])
    assert [(turn["turnIndex"], turn["turnNo"], turn["userText"]) for turn in found["turns"]] == [
        (0, 1, "hours"),
        (1, 2, "fees"),
    ]
    turn = found["turns"][1]
    assert (turn["intent"], turn["state"], turn["equal"], turn["errorCode"]) == ("FEES", "IDLE", True, None)
    assert turn["payload"] == {"type": "TEXT", "value": "No fees."}
    assert "RESPONSE_EXACT" in turn["stages"]
    assert CeAudit.objects.count() == before
    assert not CeAccessLog.objects.exists()


def test_expectations_are_held_against_the_run_and_an_index_outside_is_a_failure(caller: Caller) -> None:
    wanted = [
        {"turnIndex": 0, "expectedIntent": "HOURS", "expectedState": "idle"},
        {"turnIndex": 0, "expectedIntent": "OTHER", "expectedState": None},
        {"turnIndex": 1},
        {"turnIndex": -1, "expectedIntent": "FEES"},
    ]
    found = run_replay(caller, turns=[2], expectations=wanted)

    assert found["passed"] is False
    assert found["assertionFailures"] == [
        "turn 0: expected intent HOURS, got FEES",
        "turn 0: expected intent OTHER, got FEES",
        "turn 1 is out of range",
        "turn -1 is out of range",
    ]


def test_a_record_that_says_otherwise_is_a_failure_with_the_first_event_and_the_path(caller: Caller) -> None:
    (event,) = events("RESPONSE_EXACT", turn_no=1)
    change_payload(caller.conversation_id, 1, event.seq, text="Forged.")
    found = run_replay(caller)

    assert found["passed"] is False
    failure = f"turn 0: it differs from its record, first at event {event.seq} (RESPONSE_EXACT)"
    assert found["assertionFailures"] == [failure]
    (difference,) = found["diff"]
    (changed,) = difference["changed"]
    assert (difference["turnIndex"], difference["added"], difference["removed"]) == (0, [], [])
    assert (changed["stage"], changed["paths"]) == (
        "RESPONSE_EXACT",
        [{"path": "text", "recorded": "Forged.", "replayed": "Nine to five."}],
    )


def test_what_if_tells_what_another_release_changes_and_passes_without_expectations(caller: Caller) -> None:
    release = changed_answer()
    found = run_replay(caller, mode="WHAT_IF", configVersion=release, onMiss="FAIL")

    assert (found["passed"], found["configVersion"], found["assertionFailures"]) == (True, release, [])
    assert [turn["equal"] for turn in found["turns"]] == [False, True]
    assert found["turns"][0]["payload"]["value"] == "Ten to four."
    (difference,) = found["diff"]
    assert difference["answer"]["recorded"]["value"] == "Nine to five."
    assert difference["answer"]["replayed"]["value"] == "Ten to four."
    assert {"path": "text", "recorded": "Nine to five.", "replayed": "Ten to four."} in [
        place for one in difference["changed"] for place in one["paths"]
    ]
    assert run_replay(caller, mode="WHAT_IF")["configVersion"] == release


def answer_elsewhere(caller: Caller) -> None:
    """Two turns of a person at the desk, one of another system, and one of the bot."""
    key = caller.conversation_id
    answer_as_person(key, "default", "Ada here.", "Ada")
    give_back(key, "default", "", "Ada")
    record_external_turn(key, "default", "a coffee", "Served.", "COUNTER")
    caller.say("hours")


@pytest.mark.parametrize("mode", ["RECORDED", "WHAT_IF"])
def test_turns_that_were_answered_elsewhere_replay_equal(caller: Caller, mode: str) -> None:
    answer_elsewhere(caller)
    expected = [{"turnIndex": 2, "expectedIntent": "FEES"}, {"turnIndex": 3, "expectedIntent": "UNKNOWN"}]

    found = run_replay(caller, mode=mode, expectations=expected)

    assert (found["passed"], found["assertionFailures"], found["diff"]) == (True, [], [])
    assert [turn["equal"] for turn in found["turns"]] == [True] * 6
    assert [find_replay_difference(turn) for turn in CeConversationHistory.objects.all()] == [None] * 6
    desk = found["turns"][2]
    assert (desk["payload"]["value"], desk["stages"][0]) == ("Ada here.", caller.stages(3)[0])
    assert loads(desk["contextJson"])["handover"] is True
    assert [turn["userText"] for turn in found["turns"]] == ["hours", "fees", "", "", "a coffee", "hours"]


def test_an_answer_from_outside_whose_events_are_gone_is_a_failure(caller: Caller) -> None:
    answer_elsewhere(caller)
    CeConversationHistory.objects.filter(turn_no=3).update(events=None)

    found = run_replay(caller)

    assert found["assertionFailures"] == ["turn 2: it cannot be replayed: The events of the turn are gone."]
    assert [turn["equal"] for turn in found["turns"]] == [True, True, False, True, True, True]


def test_a_turn_without_a_recording_is_a_failure_and_the_others_run(caller: Caller) -> None:
    CeConversationHistory.objects.filter(turn_no=1).update(recording=None, replay_note="Too large.")
    found = run_replay(caller)

    assert found["assertionFailures"] == ["turn 0: it cannot be replayed: Too large."]
    assert [turn["intent"] for turn in found["turns"]] == ["ERROR", "FEES"]


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"mode": "SCRIPT", "messages": ["hi"]}, "REPLAY_NOT_OFFERED", "mode"),
        ({"messages": ["hi"]}, "REPLAY_NOT_OFFERED", "messages"),
        ({"mode": "WHAT_IF", "onMiss": "LIVE"}, "REPLAY_NOT_OFFERED", "onMiss"),
        ({"mode": "WHAT_IF", "onMiss": "STUB"}, "REPLAY_NOT_OFFERED", "onMiss"),
        ({"mode": "OTHER"}, "VALIDATION_ERROR", "mode"),
        ({"mode": []}, "VALIDATION_ERROR", "mode"),
        ({"configVersion": 1}, "VALIDATION_ERROR", "configVersion"),
        ({"mode": "WHAT_IF", "configVersion": 999_999}, "VALIDATION_ERROR", "configVersion"),
        ({"mode": "WHAT_IF", "configVersion": "1"}, "VALIDATION_ERROR", "configVersion"),
        ({"turns": [1, 9]}, "VALIDATION_ERROR", "turns"),
        ({"turns": []}, "VALIDATION_ERROR", "turns"),
        ({"turns": list(range(1, 102))}, "VALIDATION_ERROR", "turns"),
        ({"turn": [1]}, "VALIDATION_ERROR", "turn"),
    ],
)
def test_what_is_not_offered_or_wrong_is_refused_by_its_field(
    caller: Caller, body: dict[str, Any], code: str, field: str
) -> None:
    answer = ask(caller, **body)

    assert (answer.status_code, answer.json()["errorCode"]) == (400, code)
    assert set(answer.json()["fields"]) == {field}
    if code == "REPLAY_NOT_OFFERED":
        assert "convengine test" in answer.json()["fields"][field][0]
    assert not CeReplayJob.objects.exists()


def test_conversations_and_replays_of_another_workspace_do_not_exist(caller: Caller) -> None:
    other = make_key("other")
    key = ask(caller).json()["id"]

    assert ask(caller, other).status_code == 404
    assert get_replay(caller, key, other).status_code == 404
    assert get_replay(caller, uuid.uuid4()).status_code == 404
    assert get_replay(caller, "x").status_code == 400
    assert ask(caller, make_key(scopes=["turns"])).status_code == 403
    assert ask(caller, "nobody.knows").status_code == 401


def test_a_replay_that_ends_while_the_next_one_is_stored_does_not_fail_it(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    save, refusals = CeReplayJob.save, [IntegrityError("ce_replay_one_of_an_owner")]

    def refuse_once(job: CeReplayJob, **options: Any) -> None:
        if refusals:
            raise refusals.pop()
        save(job, **options)

    monkeypatch.setattr(CeReplayJob, "save", refuse_once)

    assert ask(caller).status_code == 202


def test_a_key_has_one_replay_at_a_time_and_one_of_a_dead_process_is_lost(caller: Caller) -> None:
    first = ask(caller).json()["id"]
    refused = ask(caller)
    assert (refused.status_code, refused.json()["errorCode"]) == (429, "REPLAY_BUSY")
    assert ask(caller, make_key()).status_code == 202

    CeReplayJob.objects.filter(pk=first).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert get_replay(caller, first).json()["status"] == "LOST"
    assert "ended" in get_replay(caller, first).json()["message"]
    assert ask(caller).status_code == 202

    replays.run(uuid.UUID(first))
    assert get_replay(caller, first).json()["status"] == "LOST"


def test_a_run_that_breaks_is_told_as_failed_without_its_cause(caller: Caller) -> None:
    job = CeReplayJob.objects.get(pk=ask(caller).json()["id"])
    job.asked |= {"configVersion": 999_999}
    job.save()
    replays.run(job.pk)
    found = get_replay(caller, job.pk).json()

    assert (found["status"], found["passed"]) == ("FAILED", None)
    assert "999999" not in found["message"]
    assert ask(caller).status_code == 202


def test_erasing_a_conversation_takes_its_replays_out_and_nothing_is_run_again(caller: Caller) -> None:
    finished = run_replay(caller)["id"]
    waiting = ask(caller).json()["id"]
    for _ in erase_conversation(uuid.UUID(caller.conversation_id), EraseOrder("ada", "asked")):
        pass
    replays.run(uuid.UUID(waiting))

    assert not CeReplayJob.objects.exists()
    assert get_replay(caller, finished).status_code == 404
    answer = ask(caller)
    assert answer.status_code == 404
    assert "erased" in answer.json()["message"]
    assert not CeReplayJob.objects.exists()


def test_results_are_kept_for_a_week_and_go_with_their_conversation(caller: Caller) -> None:
    kept, old = (run_replay(caller, turns=[1])["id"] for _ in range(2))
    CeReplayJob.objects.filter(pk=old).update(created_at=timezone.now() - timedelta(days=8))
    assert {"replays": 1} in list(retention.remove_old())
    assert str(CeReplayJob.objects.get().pk) == kept

    CeConversation.objects.all().delete()
    assert not CeReplayJob.objects.exists()


@override_settings(REST_FRAMEWORK={})
def test_nobody_replays_without_a_key_in_a_project_with_the_usual_rest_settings(caller: Caller) -> None:
    key = ask(caller).json()["id"]
    begun = Client().post(
        "/api/v1/replay",
        {"mode": "RECORDED", "conversationId": caller.conversation_id},
        content_type="application/json",
    )

    assert (begun.status_code, Client().get(f"/api/v1/replay/{key}").status_code) == (401, 401)


def test_a_person_needs_the_right_and_the_token_and_is_noted(caller: Caller) -> None:
    user = User.objects.create_user("quinn", is_staff=True)
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    body = {"mode": "RECORDED", "conversationId": caller.conversation_id}

    def send(**headers: str) -> Any:
        return client.post("/api/v1/replay", data=body, content_type="application/json", headers=headers)

    assert send().status_code == 403
    user.groups.add(Group.objects.get(name="qa"))
    assert send().status_code == 403
    token = "a" * 32
    client.cookies["csrftoken"] = token
    answer = send(**{"X-CSRFToken": token})
    assert answer.status_code == 202, answer.content
    replays.run(uuid.UUID(answer.json()["id"]))
    assert client.get(f"/api/v1/replay/{answer.json()['id']}").json()["passed"] is True
    noted = CeAccessLog.objects.values_list("reader", "kind", "conversation_id")
    assert set(noted) == {("quinn", "REPLAY", uuid.UUID(caller.conversation_id))}
    assert len(noted) == 2
    assert CeReplayJob.objects.get().owner == "user:quinn"
