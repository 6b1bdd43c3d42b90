import json
import uuid
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from audit.models import CeAudit, CeLlmCallLog, CeTurnIndex
from audit.record.document import RateLimiter
from audit.record.events import StoredEvent, expand_events
from audit.record.queries import read_turns
from config_admin.models import CeResponse
from convengine.engine.steps.responses import step
from convengine.engine.steps.responses.stages import RESPONSE_EXACT
from convengine.engine.turn.codec import loads
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.record import change_entries, events
from tests.worlds import set_audit_setting

pytestmark = pytest.mark.django_db


def test_events_are_numbered_without_a_gap(caller: Caller) -> None:
    caller.say("hours")

    numbers = [event.seq for event in events()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) == CeAudit.objects.count()


def test_readers_see_whole_payloads_where_the_writer_kept_references(caller: Caller) -> None:
    answer = caller.say("hours", inputParams={"tier": "gold"})

    stored = CeAudit.objects.get(stage="ASSISTANT_OUTPUT").payload_json
    (shown,) = caller.get(stage="ASSISTANT_OUTPUT").json()["results"]
    assert stored["context"] == {"$folded": "context"}
    assert shown["payload"]["context"]["mcp"] == answer["context"]["mcp"]
    meta = shown["payload"]["_meta"]
    assert (meta["stage"], meta["turnNo"], meta["intent"], meta["step"]) == (
        "ASSISTANT_OUTPUT",
        1,
        "HOURS",
        "ResponseResolutionStep",
    )


def test_large_parts_are_shown_on_the_anchor_events_only(caller: Caller) -> None:
    caller.say("hours", inputParams={"tier": "gold"})

    by_stage = {event["stage"]: event["payload"]["_meta"] for event in caller.get(turn=1).json()["results"]}

    assert by_stage["USER_INPUT"]["userInputParams"] == {"tier": "gold"}
    assert by_stage["ENGINE_RETURN"]["session"]["intent"] == "HOURS"
    assert "session" not in by_stage["RESOLVE_RESPONSE"]


@pytest.mark.dialects
def test_pages_follow_one_another_without_gap_or_double(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit.timeline.event_views._PAGE", 7)
    for _ in range(3):
        caller.say("hours")

    seen, cursor = [], ""
    while True:
        page = caller.get(cursor=cursor).json()
        seen += [(event["turnNo"], event["seq"]) for event in page["results"]]
        cursor = page["next"]
        if not cursor:
            break
    back = caller.get(cursor=page["previous"]).json()

    assert seen == [(event.turn_no, event.seq) for event in events()]
    assert [(e["turnNo"], e["seq"]) for e in back["results"]] == seen[-len(page["results"]) - 7 : -len(page["results"])]


@pytest.mark.dialects
def test_stages_are_filtered_with_their_sources_and_by_stars(caller: Caller) -> None:
    caller.say("hours", inputParams={"vip": True})

    assert {e["stage"] for e in caller.get(stage="RULE_MATCH").json()["results"]} == {"RULE_MATCH (RulesStep)"}
    assert {e["stage"] for e in caller.get(stage="*_RESOLVED_BY_*").json()["results"]} == {
        "INTENT_RESOLVED_BY_CLASSIFIER"
    }


def test_the_trace_shows_steps_in_order_with_their_stages(caller: Caller) -> None:
    caller.say("hours")

    trace = caller.get("/trace").json()

    (turn,) = trace["turns"]
    assert [step["step"] for step in turn["steps"]][:3] == [
        "LoadOrCreateConversationStep",
        "ResetConversationStep",
        "PersistConversationBootstrapStep",
    ]
    assert (turn["intentFrom"], turn["intentTo"], turn["userText"], turn["status"]) == (
        "UNKNOWN",
        "HOURS",
        "hours",
        "OK",
    )
    policy = next(step for step in turn["steps"] if step["step"] == "PolicyEnforcementStep")
    assert [stage["stage"] for stage in policy["stages"]] == ["DECISION"]
    assert policy["sourceFile"] == "convengine/engine/steps/policy/step.py"
    assert trace["steps"] == turn["steps"]


def test_a_failed_step_is_marked_in_the_trace(caller: Caller) -> None:
    CeResponse.objects.filter(intent_code="HOURS").delete()
    caller.say("hours")

    steps = caller.get("/trace", turn=1).json()["steps"]

    assert (steps[-1]["step"], steps[-1]["status"]) == ("ResponseResolutionStep", "ERROR")
    assert "HOURS" in steps[-1]["error"]


def test_the_original_shape_is_an_array_with_payloads_as_text(caller: Caller) -> None:
    caller.say("hours")

    rows = caller.get(compat="1").json()

    assert set(rows[0]) == {"auditId", "conversationId", "stage", "payloadJson", "createdAt"}
    assert json.loads(rows[0]["payloadJson"])["step"] == "LoadOrCreateConversationStep"
    caller.conversation_id = str(uuid.uuid4())
    assert caller.get(compat="1").json() == []


@pytest.mark.dialects
def test_the_original_has_every_row_by_time_also_those_outside_of_turns(caller: Caller) -> None:
    caller.say("hours")
    caller.say("fees")
    caller.client.post(
        "/api/v1/conversation/feedback",
        data={"conversationId": caller.conversation_id, "feedbackType": "THUMBS_UP"},
        content_type="application/json",
        headers={"Authorization": f"Api-Key {caller.secret}"},
    )

    rows = caller.get(compat="1").json()

    assert len(rows) == len(events()) + CeAudit.objects.filter(turn_no=None).count()
    assert [row["createdAt"] for row in rows] == sorted(row["createdAt"] for row in rows)
    assert rows[-1]["stage"] == "MCP_USER_FEEDBACK"


def test_the_original_trace_has_the_steps_and_stages_of_the_whole_conversation(caller: Caller) -> None:
    caller.say("hours")
    CeResponse.objects.filter(intent_code="FEES").delete()
    caller.say("fees")

    found = caller.get("/trace", compat="1").json()

    assert set(found) == {"conversationId", "steps", "stages"}
    assert len(found["stages"]) == len(events())
    assert set(found["stages"][0]) == {"auditId", "stage", "createdAt", "payload"}
    step = found["steps"][-1]
    assert set(step) == {
        *("step", "stepClass", "sourceFile", "status", "startedAt", "endedAt", "durationMs", "error", "stages"),
    }
    assert (step["step"], step["status"]) == ("ResponseResolutionStep", "ERROR")
    assert set(step["stages"][0]) == {"auditId", "stage", "createdAt", "payload"}
    assert {one["status"] for one in found["steps"][:-1]} == {"OK"}
    caller.conversation_id = str(uuid.uuid4())
    assert caller.get("/trace", compat="1").json()["steps"] == []


def test_a_step_of_the_original_trace_that_never_ended_has_no_stages_of_the_next_turn(caller: Caller) -> None:
    caller.say("hours")
    change_entries(caller.conversation_id, 1, lambda entries: [one for one in entries if one["stage"] != "STEP_EXIT"])
    set_audit_setting("LEVEL", "STANDARD")
    caller.say("hours")

    found = caller.get("/trace", compat="1").json()["steps"]

    turn_of = {event.audit_id: event.turn_no for event in events()}
    assert {turn_of[one["auditId"]] for step in found for one in step["stages"]} == {1}


@pytest.mark.dialects
def test_a_text_of_events_is_found_in_any_case_of_any_letters(caller: Caller) -> None:
    caller.say("Straßencafé in MÜNCHEN")

    assert [len(caller.get(stage="USER_INPUT", q=text).json()["results"]) for text in ("münchen", "CAFÉ")] == [1, 1]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"turn": "x"}, "turn"),
        ({"turn": "0"}, "turn"),
        ({"turn": "9" * 5000}, "turn"),
        ({"cursor": "zz"}, "cursor"),
        ({"cursor": "a" + "9" * 5000 + ".1"}, "cursor"),
        ({"from": "soon"}, "from"),
        ({"expand": "all"}, "expand"),
        ({"expand": "meta", "page": "off"}, "expand"),
    ],
)
def test_query_parameters_that_are_wrong_are_named(caller: Caller, query: dict[str, str], field: str) -> None:
    caller.say("hours")

    response = caller.get(**query)

    assert (response.status_code, list(response.json()["fields"])) == (400, [field])


@pytest.mark.dialects
@pytest.mark.parametrize("persist_meta", ["true", "false"])
def test_steps_are_filtered_with_all_that_happened_in_them(caller: Caller, persist_meta: str) -> None:
    set_audit_setting("PERSIST_META", persist_meta)
    caller.say("hours", inputParams={"vip": True})
    caller.say("hours")
    (first, second) = caller.get("/trace").json()["turns"]

    found = caller.get(step="RulesStep").json()["results"]

    frames = [next(step for step in turn["steps"] if step["step"] == "RulesStep") for turn in (first, second)]
    happened = [(stage["turnNo"], stage["seq"]) for frame in frames for stage in frame["stages"]]
    named = [(one["turnNo"], one["seq"]) for one in found]
    assert [place for place in named if place in happened] == happened
    assert {one["stage"] for one in found if (one["turnNo"], one["seq"]) not in happened} == {"STEP_ENTER", "STEP_EXIT"}
    assert len(named) == len(happened) + 4
    both = caller.get(step=["RulesStep", "ResponseResolutionStep"], stage="STEP_EXIT", turn=1).json()["results"]
    assert len(both) == 2
    assert caller.get(step="RulesStep", page="off").json() == found
    assert caller.get(step="NoStep").json()["results"] == []


@pytest.mark.dialects
def test_steps_are_filtered_over_pages_and_where_their_frames_were_left_out(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_audit_setting("LEVEL", "STANDARD")
    caller.say("hours")
    caller.say("fees")
    at_once = caller.get(step="ResponseResolutionStep").json()["results"]
    monkeypatch.setattr("audit.timeline.event_views._PAGE", 7)

    seen, cursor = [], ""
    while True:
        page = caller.get(step="ResponseResolutionStep", cursor=cursor).json()
        seen += page["results"]
        cursor = page["next"]
        if not cursor:
            break

    assert seen == at_once
    assert [one["stage"] for one in seen].count("ASSISTANT_OUTPUT") == 2


def test_the_large_parts_are_shown_at_every_event_on_demand(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = caller.say("hours", inputParams={"vip": True})
    usual = caller.get().json()["results"]
    monkeypatch.setattr("audit.timeline.event_views._FULL_META_PAGE", 9)

    first = caller.get(expand="meta").json()
    following = caller.get(expand="meta", cursor=first["next"]).json()
    monkeypatch.setattr("audit.timeline.event_views._FULL_META_PAGE", len(usual))
    shown = caller.get(expand="meta").json()["results"]

    large = {"inputParams", "userInputParams", "contextDict", "session"}
    assert [*first["results"], *following["results"]] == shown[:18]
    for plain, whole in zip(usual, shown, strict=True):
        before, meta = plain["payload"].pop("_meta"), whole["payload"].pop("_meta")
        assert plain == whole
        assert meta.keys() == before.keys() | large
        assert {key: meta[key] for key in before} == before
        assert meta["session"]["intent"] == meta["intent"]
        assert plain["payload"].get("context", meta["contextDict"]) == meta["contextDict"]
    assert meta["contextDict"] == answer["context"]
    (set_state,) = caller.get(expand="meta", stage="SET_STATE").json()["results"]
    assert set_state["payload"]["_meta"]["userInputParams"] == {"vip": True}
    assert set_state["payload"]["_meta"]["session"]["state"] == set_state["payload"]["toState"]


@pytest.mark.dialects
@pytest.mark.parametrize("name", ["q", "stage"])
def test_what_no_database_takes_is_refused_by_its_name(caller: Caller, name: str) -> None:
    caller.say("hours")

    response = caller.get(**{name: "\0"})

    assert (response.status_code, list(response.json()["fields"])) == (400, [name])


def test_an_id_that_is_no_uuid_is_refused_and_an_unknown_one_not_found(caller: Caller) -> None:
    assert caller.get().status_code == 404
    caller.conversation_id = "nonsense"
    assert caller.get().status_code == 400


# --- what is recorded -------------------------------------------------------------------------------------------


def test_CIA_V3_the_inspection_shows_the_values_before_a_reset(caller: Caller) -> None:
    caller.say("hours")
    set_audit_setting("CACHE_INSPECTOR", "true")

    caller.say("/reset")

    stages = caller.stages(2)
    assert stages.index("CACHE_INSPECTION") < stages.index("CONVERSATION_RESET")
    inspected = CeAudit.objects.get(stage="CACHE_INSPECTION").payload_json
    assert inspected["cache_snapshot"]["intent_code"] == "HOURS"


def test_CIA_V4_keys_to_be_redacted_are_masked_everywhere(caller: Caller) -> None:
    set_audit_setting("CACHE_INSPECTOR", "true")
    caller.say("hours", inputParams={"card_number": "4111", "nested": {"Password": "x"}})
    caller.say("hours")

    stored = " ".join(json.dumps(payload) for payload in CeAudit.objects.values_list("payload_json", flat=True))
    assert "4111" not in stored
    assert '"x"' not in stored
    assert "***" in stored
    record = CeConversationHistory.objects.get(turn_no=2)
    assert (record.replayable, bool(record.replay_note)) == (False, True)


def test_CIA_V5_the_level_applies_to_the_inspection(caller: Caller) -> None:
    set_audit_setting("CACHE_INSPECTOR", "true")
    set_audit_setting("LEVEL", "ERROR_ONLY")

    caller.say("hours")

    assert not CeAudit.objects.filter(stage="CACHE_INSPECTION").exists()


def test_errors_only_still_keeps_the_evidence_and_every_reference_resolves(caller: Caller) -> None:
    set_audit_setting("LEVEL", "ERROR_ONLY")
    CeResponse.objects.filter(intent_code="HOURS").delete()

    caller.say("hours")

    assert caller.stages(1) == ["USER_INPUT", "STEP_ERROR", "ENGINE_KNOWN_FAILURE"]
    events = list(expand_events(read_turns(uuid.UUID(caller.conversation_id), [1])))
    assert events[-1].payload["_meta"]["session"]["intent"] == "HOURS"


def test_the_standard_level_leaves_steps_out_and_the_trace_derives_them(caller: Caller) -> None:
    set_audit_setting("LEVEL", "STANDARD")

    caller.say("hours")

    assert "STEP_ENTER" not in caller.stages(1)
    step = caller.get("/trace").json()["steps"][0]
    assert (step["step"], step["derived"]) == ("LoadOrCreateConversationStep", True)
    timing = CeAudit.objects.get(stage="PIPELINE_TIMING").payload_json
    assert timing["auditFiltered"] > 10


@pytest.mark.dialects
def test_stages_and_intents_can_be_excluded(caller: Caller) -> None:
    set_audit_setting("EXCLUDE_STAGES", "STEP_*, DECISION")

    caller.say("hours")

    assert not {"STEP_ENTER", "DECISION"} & set(caller.stages(1))


def test_without_meta_no_event_has_it_and_payloads_stay_whole(caller: Caller) -> None:
    set_audit_setting("PERSIST_META", "false")

    caller.say("hours", inputParams={"tier": "gold"})

    assert not any("_meta" in payload for payload in CeAudit.objects.values_list("payload_json", flat=True))
    events = caller.get(turn=1).json()["results"]
    assert not any("_meta" in event["payload"] for event in events)
    answer = next(event for event in events if event["stage"] == "ASSISTANT_OUTPUT")
    assert isinstance(answer["payload"]["context"], dict)
    assert "$folded" not in json.dumps(events)


def test_AUI_V6_the_rate_limit_never_drops_what_the_user_said(caller: Caller, settings: object) -> None:
    limit = {"max_events": 0, "window_ms": 1000, "per_conversation": True, "per_stage": True, "max_tracked_buckets": 9}
    settings.CONVENGINE = {**settings.CONVENGINE, "AUDIT_RATE_LIMIT": limit}  # type: ignore[attr-defined]

    caller.say("hours")

    assert caller.stages(1) == ["USER_INPUT"]


@pytest.mark.dialects
def test_what_was_left_out_is_counted_for_the_whole_turn_also_when_it_is_stored_step_by_step(caller: Caller) -> None:
    set_audit_setting("LEVEL", "STANDARD")
    caller.say("hours")
    at_once = CeAudit.objects.get(stage="PIPELINE_TIMING").payload_json["auditFiltered"]
    set_audit_setting("FLUSH", "STEP")
    caller.say("hours", reset=True)

    events = caller.get(turn=2).json()["results"]
    timing = next(event for event in events if event["stage"] == "PIPELINE_TIMING")
    assert timing["payload"]["auditFiltered"] == at_once


def test_the_rate_limit_is_asked_once_for_each_event_also_when_they_are_stored_step_by_step(
    caller: Caller, settings: object
) -> None:
    limit = {"max_events": 10, "window_ms": 60_000, "per_conversation": True, "per_stage": True}
    settings.CONVENGINE = {  # type: ignore[attr-defined]
        **settings.CONVENGINE,  # type: ignore[attr-defined]
        "AUDIT_RATE_LIMIT": {**limit, "max_tracked_buckets": 99},
    }
    set_audit_setting("FLUSH", "STEP")

    caller.say("hours")

    assert caller.stages(1).count("STEP_ENTER") == 10


def test_the_rate_limiter_counts_in_windows(settings: object) -> None:
    limit = {"max_events": 2, "window_ms": 1000, "per_conversation": True, "per_stage": True, "max_tracked_buckets": 2}
    settings.CONVENGINE = {**settings.CONVENGINE, "AUDIT_RATE_LIMIT": limit}  # type: ignore[attr-defined]
    now = [0.0]
    limiter = RateLimiter(lambda: now[0])

    first = [limiter.admits("c", "SET_STATE") for _ in range(3)]
    now[0] = 1.0

    assert first == [True, True, False]
    assert limiter.admits("c", "SET_STATE")


@pytest.mark.dialects
def test_an_event_that_cannot_be_encoded_leaves_a_marker(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    endless: dict[str, Any] = {}
    endless["itself"] = endless
    whole = step.ResponseResolutionStep.execute

    def execute(self: Any, session: Any, turn: Any) -> Any:
        turn.audit(session, RESPONSE_EXACT, value=endless)
        return whole(self, session, turn)

    monkeypatch.setattr(step.ResponseResolutionStep, "execute", execute)

    assert caller.say("hours")["success"] is True

    marker = CeAudit.objects.get(stage="AUDIT_EVENT_LOST").payload_json
    assert marker["stage"] == "RESPONSE_EXACT"
    assert CeConversationHistory.objects.get().audit_incomplete is True


@pytest.mark.dialects
def test_the_audit_is_append_only(caller: Caller) -> None:
    caller.say("hours")
    event = CeAudit.objects.first()
    assert event is not None

    with pytest.raises(TypeError, match="read-only"):
        event.save()
    with pytest.raises(TypeError, match="read-only"):
        event.delete()


@pytest.mark.dialects
@pytest.mark.parametrize("model", [CeAudit, CeTurnIndex, CeLlmCallLog])
def test_queries_and_sql_do_not_change_the_audit_either(caller: Caller, model: type[Any]) -> None:
    caller.say("hours")

    for change in (
        lambda: model.objects.update(turn_id=None),
        lambda: model.objects.all().delete(),
        lambda: model.objects.bulk_update([], ["turn_id"]),
    ):
        with pytest.raises(TypeError, match="append-only"):
            change()
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE {model._meta.db_table} SET turn_id = NULL")


@pytest.mark.dialects
def test_stored_payloads_are_json_objects(caller: Caller) -> None:
    caller.say("hours")

    rows = [loads(json.dumps(payload)) for payload in CeAudit.objects.values_list("payload_json", flat=True)]

    assert all(isinstance(row, dict) for row in rows)


def test_without_meta_payloads_hold_what_they_would_refer_to(caller: Caller) -> None:
    set_audit_setting("PERSIST_META", "false")
    answer = caller.say("hours", inputParams={"vip": True})

    match = CeAudit.objects.get(stage="RULE_MATCH (RulesStep)").payload_json
    assert match["context"]["mcp"] == answer["context"]["mcp"]
    assert match["schemaJson"] == match["context"]


@pytest.mark.parametrize("key", ["context", "candidates", "operands", "key", "set", "changed", "_meta", "stepList"])
def test_a_key_to_be_redacted_that_the_trail_itself_uses_leaves_it_readable(caller: Caller, key: str) -> None:
    set_audit_setting("REDACT_KEYS", key)

    caller.say("hours", inputParams={"tier": "gold"})
    caller.say("fees")

    assert caller.get().status_code == 200
    assert caller.get("/trace", turn=2).status_code == 200
    assert caller.get("/why", turn=2).status_code == 200


def test_without_the_writers_meta_a_payload_may_have_one_of_its_own() -> None:
    payloads = ({"step": "A", "stepClass": "x.A"}, {"_meta": {"tool": "t"}}, {"step": "A"})
    stages = ("STEP_ENTER", "TOOL_ORCHESTRATION_RESULT", "STEP_EXIT")
    rows = [
        StoredEvent(uuid.uuid4(), None, 1, 1, seq, stage, payload, timezone.now())
        for seq, (stage, payload) in enumerate(zip(stages, payloads, strict=True), start=1)
    ]

    assert [event.payload for event in expand_events(rows)] == [row.payload_json for row in rows]


def test_without_the_writers_meta_the_timing_says_how_much_was_left_out(caller: Caller) -> None:
    set_audit_setting("PERSIST_META", "false")
    set_audit_setting("LEVEL", "STANDARD")

    caller.say("hours")

    assert CeAudit.objects.get(stage="PIPELINE_TIMING").payload_json["auditFiltered"] > 40
