"""The account of a turn: a maker for everything, words for what no shared world reaches, and no word that is not so."""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from audit.account import account
from audit.account.makers import MAKERS
from audit.expand import Event, expanded
from audit.models import CeAudit
from audit.queries import whole_turns
from config_admin.models import CeIntentClassifier, CeResponse, CeRule
from convengine import conf
from convengine.domain.enums import DecisionKind
from convengine.domain.stages import Stage
from tests.accounts import unfounded
from tests.api import Caller
from tests.worlds import desk

pytestmark = pytest.mark.django_db


def event(name: str, seq: int = 1, /, **payload: Any) -> Event:
    return Event(CeAudit(stage=name, seq=seq, payload_json=payload, config_version=0), payload, {}, None)


def told(*events: Event) -> list[str]:
    return [sentence.text for sentence in account(events)]


def events_of(caller: Caller, turn_no: int) -> list[Event]:
    return list(expanded(whole_turns(uuid.UUID(caller.conversation_id), [turn_no])))


def test_each_stage_and_each_kind_of_decision_has_its_maker() -> None:
    kinds = {f"{Stage.DECISION}:{kind}" for kind in DecisionKind if kind != DecisionKind.RULE}

    assert set(MAKERS) == {stage.value for stage in Stage if stage != Stage.DECISION} | kinds


def test_a_turn_is_told_from_its_message_to_its_answer() -> None:
    desk()
    caller = Caller()
    caller.say("hours please", inputParams={"vip": True})
    classifier = CeIntentClassifier.objects.get(intent_code="HOURS").pk
    rule, response = CeRule.objects.get().pk, CeResponse.objects.get(state_code="VIP").pk

    assert told(*events_of(caller, 1)) == [
        "A new conversation began.",
        "The user wrote “hours please”, and the caller sent vip.",
        "Took the message as NEW_REQUEST: the user brings up something to be done (by the patterns, 70% sure).",
        f"Understood as HOURS, because the message contains “hours” (classifier {classifier}).",
        f"Rule {rule} moved the state from IDLE to VIP, because input param vip is true (before the answer).",
        f"Answered with response {response}: “For you: always.”",
    ]


def test_a_sentence_names_its_events_and_its_rows() -> None:
    desk()
    caller = Caller()
    caller.say("hours please", inputParams={"vip": True})
    events = events_of(caller, 1)

    (sentence,) = [one for one in account(events) if one.kind == "SET_STATE"]

    stages = {one.row.seq: one.name for one in events}
    assert {stages[seq] for seq in sentence.seqs} == {"SET_STATE", "RULE_MATCH"}
    assert [(row.table, row.pk) for row in sentence.rows] == [("ce_rule", CeRule.objects.get().pk)]
    assert sentence.as_json()["parts"][0] == {
        "text": f"Rule {CeRule.objects.get().pk}",
        "seq": max(sentence.seqs),
        "path": ["ruleId"],
        "row": {"table": "ce_rule", "id": CeRule.objects.get().pk},
    }


def test_a_word_that_no_event_says_is_found() -> None:
    desk()
    caller = Caller()
    caller.say("hours please")
    events, snapshot = events_of(caller, 1), conf.load("SNAPSHOT").current()
    sentences = account(events)
    assert list(unfounded(sentences, events, snapshot)) == []

    for number, sentence in enumerate(sentences):
        for place, part in enumerate(sentence.parts):
            if not isinstance(part, str):
                wrong = replace(sentence, parts=(*sentence.parts[:place], replace(part, value="GHOST")))
                assert list(unfounded([wrong], events, snapshot)), (number, part)
    assert list(unfounded([replace(sentences[0], parts=("It was rule 7.",))], events, snapshot))


@pytest.mark.parametrize("payload", [{}, {"reason": "***"}], ids=["erased", "redacted"])
@pytest.mark.parametrize("stage", sorted(Stage))
def test_what_was_erased_or_redacted_breaks_no_account(stage: Stage, payload: Mapping[str, Any]) -> None:
    texts = dict.fromkeys(
        ("candidates", "matchedByRule", "matchedIntents", "extracted", "kind", "responseType", "ruleId"), "***"
    )
    for said in (payload, {**payload, **texts}):
        assert all(told(event(stage, **said)))


#: Stages that no shared world reaches, with what is told of them.
CASES: list[tuple[Stage, dict[str, Any], str]] = [
    (Stage.AUDIT_EVENT_LOST, {"stage": "SET_JSON", "reason": "too large"},
     "The database refused the event SET_JSON: too large; it is not in the record."),
    (Stage.CLEAR_CONTEXT, {"ruleId": 4, "paths": ["a", "b"]}, "Rule 4 forgot a and b."),
    (Stage.CONFIG_ROW_INVALID, {"table": "ce_rule", "rowId": 4},
     "The row 4 of ce_rule cannot be used as it is written, so the turn went on without it."),
    (Stage.CONFIG_VALUE_INVALID, {"configType": "AUDIT", "configKey": "LEVEL", "reason": "unknown"},
     "The setting AUDIT / LEVEL cannot be used as it is written: unknown; its default held."),
    (Stage.CONTEXT_REPAIRED, {"reason": "no object"},
     "Put the stored context right, which could not be read: no object."),
    (Stage.CONTEXT_TRIMMED, {"dropped": ["mcp"], "bytes": 9, "maxBytes": 5},
     "Dropped mcp of the context, which had grown to 9 bytes of 5."),
    (Stage.CORRECTION_STEP_CONFIRM_REFUSED, {"missingFields": ["city"]},
     "Did not take the yes as a confirmation, because city is still missing."),
    (Stage.CORRECTION_STEP_PATCH_NOT_APPLIED, {"reason": "FIELD_UNKNOWN", "field": "colour"},
     "Saw that the user corrects something, but could not apply it: FIELD_UNKNOWN (colour)."),
    (Stage.SCHEMA_EXTRACTION_DETERMINISTIC,
     {"extracted": [{"field": "order", "value": 48392, "by": "x-extract"}, {"field": "vip", "value": True}],
      "rejected": [{"field": "email", "value": "x", "reason": "format"}]},
     "Read order = 48392 and vip = true out of the message; email = x (format) was refused."),
    (Stage.SCHEMA_EXTRACTION_LLM_OUTPUT, {"json": {"order": "48392"}},
     "The model read order = 48392 out of the message."),
    (Stage.DISAMBIGUATION_RESOLVED, {"actionKey": "refund", "reply": "the second"},
     "The answer “the second” means the action refund."),
    (Stage.ENGINE_UNKNOWN_FAILURE, {"reason": "LEASE_EXPIRED", "message": "gone"},
     "The turn failed: the process that ran it ended before the turn did. Nothing of it was saved."),
    (Stage.ENGINE_UNKNOWN_FAILURE, {"exception": "KeyError", "message": "x"},
     "So the turn failed unexpectedly with KeyError: x, and nothing of it was saved."),
    (Stage.ENGINE_KNOWN_FAILURE, {"errorCode": "TURN_INTERRUPTED"},
     "The turn was stopped by a newer message, and nothing of it was saved."),
    (Stage.EXACT_RESPONSE_RENDERING, {"errorMessage": "no name", "fallbackUsed": "plain"},
     "Could not fill in the text of the answer as it is: no name; used plain in its place."),
    (Stage.INPUT_PARAM_IGNORED, {"keys": ["mcp"]},
     "Left out mcp, which the caller sent and which belong to the engine."),
    (Stage.INTENT_AGENT_SKIPPED, {"reason": "LLM_NOT_CONFIGURED"},
     "Did not ask the model for the intent: no model is configured."),
    (Stage.INTENT_MISSING, {"fallbackIntent": "UNKNOWN"}, "No intent was found, so it is UNKNOWN."),
    (Stage.KB_UNAVAILABLE, {"knowledgeBase": "manuals"}, "The knowledge base manuals was left out."),
    (Stage.MCP_DB_SQL_EXECUTION, {"tool_code": "orders", "sql": "SELECT 1", "row_count": 1},
     "Ran a statement for orders: SELECT 1; 1 rows came."),
    (Stage.MCP_DUPLICATE_TOOL_CALL_SUPPRESSED, {"tool_code": "orders"},
     "Did not call orders again with the same arguments."),
    (Stage.MCP_SERVER_UNAVAILABLE, {"serverId": "crm", "error": "refused"},
     "The server crm did not answer: refused; its tools were left out."),
    (Stage.PENDING_ACTION_EXECUTED, {"taskBean": "orders", "reused": True},
     "Did not run the task orders again: it had run already, and its result counts."),
    (Stage.PENDING_ACTION_SKIPPED, {"reason": "ALREADY_CLAIMED", "actionKey": "cancel"},
     "Did not run the action cancel: another turn has begun it, and nobody knows how that ended."),
    (Stage.POLICY_BLOCK, {"reason": "TERMINAL"},
     "Answered again with what had blocked the conversation: it takes no messages until it is reset."),
    (Stage.REMOVE_INPUT_PARAM, {"ruleId": 4, "removed": ["vip"]}, "Rule 4 dropped vip."),
    (Stage.RESPONSE_STATE_OVERRIDE, {"applied": False, "toIntent": "A", "toState": "B", "reason": "NO_EDGE"},
     "The model's answer wanted A / B, which was refused: NO_EDGE."),
    (Stage.RESPONSE_TRANSFORM_FAILED, {"transformer": "shout", "errorMessage": "loud"},
     "The transformer shout failed: loud; the answer stayed as it was."),
    (Stage.RULE_ERROR, {"ruleId": 4, "action": "SET_JSON", "errorMessage": "no path"},
     "The action SET_JSON of rule 4 could not be done: no path."),
    (Stage.RULE_PASS_CAP_REACHED, {"passes": 5},
     "Stopped the rules after 5 passes: they went on changing intent or state."),
    (Stage.SET_CONTEXT, {"ruleId": 4, "values": {"tier": "gold"}}, 'Rule 4 remembered {"tier": "gold"}.'),
    (Stage.SET_PREFERENCE, {"ruleId": 4, "kind": "model", "toId": "small"},
     "Rule 4 chose small as the model of the conversation."),
    (Stage.STATE_GRAPH_REVERTED, {"fromState": "PAID", "toState": "ASSESS"}, "Took the move from PAID to ASSESS back."),
    (Stage.STATE_MISSING, {"fallbackState": "UNKNOWN"}, "There was no state, so it is UNKNOWN."),
    (Stage.STEP_HOOK_ERROR, {"hookClass": "Timer", "step": "RulesStep", "errorMessage": "late"},
     "The hook Timer failed beside RulesStep: late. The turn went on."),
]  # fmt: skip


@pytest.mark.parametrize(("stage", "payload", "expected"), CASES, ids=[f"{case[0]}" for case in CASES])
def test_what_no_shared_world_reaches_is_told_too(stage: Stage, payload: dict[str, Any], expected: str) -> None:
    found = event(stage, **payload)
    sentences = account([found])

    assert [sentence.text for sentence in sentences] == [expected]
    assert list(unfounded(sentences, [found], conf.load("SNAPSHOT").current())) == []


def test_an_action_of_the_deployment_is_told_by_its_name() -> None:
    matched = event("RULE_MATCH (RulesStep)", 1, ruleId=4, candidates=[{"id": 4, "matched": True}])
    applied = event("RULE_APPLIED (RulesStep)", 2, ruleId=4, action="OPEN_TICKET", actionValue="now")

    assert told(matched, applied) == ["Rule 4 did OPEN_TICKET with now."]


def test_an_action_that_waits_is_told_apart_from_one_that_is_settled_in_the_same_turn() -> None:
    opened = event("PENDING_ACTION_LIFECYCLE", 1, event="OPEN", actionKey="cancel", actionRef="orders:cancel")
    ran = event("PENDING_ACTION_EXECUTED", 2, taskBean="orders", taskMethods="cancel", pendingActionRef="orders:cancel")

    assert told(opened) == ["Waited for a yes to the action cancel (orders:cancel)."]
    assert told(opened, ran) == ["Ran the task orders (cancel) once, because the user said yes."]


def test_the_api_gives_the_same_words() -> None:
    desk()
    caller = Caller()
    caller.say("hours please")

    answer = caller.get("/account", turn=1).json()

    assert [one["text"] for one in answer["sentences"]] == told(*events_of(caller, 1))
    assert (answer["turnNo"], answer["conversationId"]) == (1, caller.conversation_id)
    assert caller.get("/account", turn=9).status_code == 404
    assert caller.get("/account").status_code == 400


def test_what_was_not_called_again_is_not_told_as_called() -> None:
    result = {"tool_code": "order.lookup", "status": "SUCCESS", "result": {"found": True}}

    assert told(event("TOOL_ORCHESTRATION_RESULT", **result, reused=True)) == [
        'Did not call the tool order.lookup again: it had given {"found": true} for the same.'
    ]
    assert told(event("TOOL_ORCHESTRATION_RESULT", **result)) == ['The tool order.lookup gave {"found": true}.']


def test_an_intent_that_is_set_to_itself_is_told_to_have_stayed() -> None:
    (said,) = told(event("SET_INTENT", ruleId=61, fromIntent="UNKNOWN", toIntent="UNKNOWN"))

    assert said.startswith("Rule 61 set the intent to UNKNOWN, which it was")
