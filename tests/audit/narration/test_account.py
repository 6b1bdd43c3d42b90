"""The account of a turn: a maker for everything, words for what no shared world reaches, and no word that is not so."""

import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from audit.narration import Fact, RowRef, narrate_turn
from audit.narration.narrators import NARRATORS, PARTS
from audit.narration.wording import name_rows
from audit.record.events import Event, StoredEvent, expand_events
from audit.record.queries import read_turns
from audit.timeline.serializers import AccountSentenceSerializer
from config_admin.models import CeConfig, CeIntentClassifier, CeResponse, CeRule
from config_admin.releases.change_set import change_set
from config_admin.releases.compile import row_of
from convengine.engine.forms.stages import SCHEMA_EXTRACTION_DETERMINISTIC
from convengine.engine.pipeline.stages import (
    AUDIT_EVENT_LOST,
    ENGINE_KNOWN_FAILURE,
    ENGINE_UNKNOWN_FAILURE,
    STEP_HOOK_ERROR,
)
from convengine.engine.rules.stages import (
    CLEAR_CONTEXT,
    REMOVE_INPUT_PARAM,
    RULE_ERROR,
    RULE_PASS_CAP_REACHED,
    SET_CONTEXT,
    SET_PREFERENCE,
    SET_TASK,
)
from convengine.engine.stages import STAGES
from convengine.engine.state_graph.allowed_moves import RESPONSE_STATE_OVERRIDE
from convengine.engine.steps.actions.stages import PENDING_ACTION_EXECUTED, PENDING_ACTION_SKIPPED
from convengine.engine.steps.conversation.stages import CONTEXT_REPAIRED, CONTEXT_TRIMMED, INPUT_PARAM_IGNORED
from convengine.engine.steps.correction.stages import CORRECTION_STEP_CONFIRM_REFUSED, CORRECTION_STEP_PATCH_NOT_APPLIED
from convengine.engine.steps.forms.stages import SCHEMA_EXTRACTION_LLM_OUTPUT
from convengine.engine.steps.intents.stages import INTENT_CLASSIFIER_SUBSTITUTED, INTENT_MISSING, STATE_MISSING
from convengine.engine.steps.interaction.stages import DISAMBIGUATION_RESOLVED
from convengine.engine.steps.policy.step import POLICY_BLOCK
from convengine.engine.steps.responses.stages import (
    EXACT_RESPONSE_RENDERING,
    HAND_OVER_DISABLED,
    RESPONSE_TRANSFORM_FAILED,
)
from convengine.engine.steps.state_graph.step import STATE_GRAPH_REVERTED
from convengine.engine.steps.tools.stages import (
    KB_UNAVAILABLE,
    MCP_DB_SQL_EXECUTION,
    MCP_DUPLICATE_TOOL_CALL_SUPPRESSED,
    MCP_SERVER_UNAVAILABLE,
)
from convengine.engine.turn.snapshot import Snapshot, Table
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.stages import (
    CONFIG_ROW_INVALID,
    CONFIG_VALUE_INVALID,
    FACTS_CHANGED,
    RESPONSE_TRANSFORMED,
)
from convengine.server.interfaces.configuration import configuration
from tests.accounts import list_unfounded_sentences
from tests.api import Caller
from tests.cases import for_each
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


def event(name: str, seq: int = 1, /, **payload: Any) -> Event:
    return Event(StoredEvent(uuid.uuid4(), None, 1, 0, seq, name, payload, timezone.now()), payload, {}, None)


def narrate(*events: Event) -> list[str]:
    return [sentence.text for sentence in narrate_turn(events)]


def events_of(caller: Caller, turn_no: int) -> list[Event]:
    return list(expand_events(read_turns(uuid.UUID(caller.conversation_id), [turn_no])))


def forge_fact(fact: Fact) -> Iterator[Fact]:
    """The fact with another value, another text, and another row."""
    yield replace(fact, value="GHOST")
    yield replace(fact, text=f"{fact.text} ghost")
    if fact.row:
        yield replace(fact, row=fact.row._replace(pk=999))


def test_narrators_and_templates_name_stages_that_exist() -> None:
    assert set(NARRATORS) | set(PARTS) <= set(STAGES)
    for stage in STAGES.values():
        for template in stage.sentences:
            assert {*template.unless, *filter(None, [template.given])} <= set(STAGES), stage


def test_a_turn_is_told_from_its_message_to_its_answer() -> None:
    create_help_desk()
    caller = Caller()
    caller.say("hours please", inputParams={"vip": True})
    classifier = CeIntentClassifier.objects.get(intent_code="HOURS").pk
    rule, response = CeRule.objects.get().pk, CeResponse.objects.get(state_code="VIP").pk

    assert narrate(*events_of(caller, 1)) == [
        "A new conversation began.",
        "The user wrote “hours please”, and the caller sent the parameters vip.",
        f"Recognised the intent HOURS, because the message contains “hours” (phrase {classifier}).",
        f"Rule {rule} changed the state from Idle to Vip, because vip is true (before the answer).",
        f"Answered with answer {response}: “For you: always.”",
        "The turn left the conversation at intent HOURS, state Vip.",
    ]


def test_a_phrase_is_told_with_its_confidence_and_the_runner_up() -> None:
    create_help_desk()
    with change_set(reason="phrases"):
        CeIntentClassifier.objects.all().delete()
        for intent, text in (("HOURS", "When do you open?"), ("FEES", "Do fees open doors?")):
            CeIntentClassifier.objects.create(intent_code=intent, state_code="IDLE", rule_type="PHRASE", pattern=text)
    caller = Caller()
    caller.say("so when is it that you open")
    phrase = CeIntentClassifier.objects.get(intent_code="HOURS").pk

    (sentence,) = [text for text in narrate(*events_of(caller, 1)) if text.startswith("Recognised the intent")]

    assert sentence.startswith(
        "Recognised the intent HOURS, because the message is near to the phrase “When do you open?” "
        f"(phrase {phrase}); the confidence is "
    )


def test_where_no_phrase_is_sure_the_likeliest_intent_is_told() -> None:
    create_help_desk()
    with change_set(reason="phrases"):
        CeIntentClassifier.objects.create(
            intent_code="FEES", state_code="IDLE", rule_type="PHRASE", pattern="What do I pay for a copy?"
        )
    caller = Caller()
    caller.say("pay for copies of a passport")
    caller.say("?!")

    unsure, nothing = ([text for text in narrate(*events_of(caller, turn)) if "No phrase" in text] for turn in (1, 2))

    assert re.fullmatch(
        r"No phrase matches the message well enough: the likeliest intent, FEES, has a confidence of [\d.]+\s%, and "
        r"50\s% is needed\.",
        unsure[0],
    )
    assert nothing == ["No phrase matches the message."]
    assert (
        list(
            list_unfounded_sentences(
                narrate_turn(events_of(caller, 1)), events_of(caller, 1), configuration().current()
            )
        )
        == []
    )


def test_a_message_that_means_what_the_channel_does_not_have_is_told() -> None:
    create_help_desk()
    with change_set(reason="a channel for hours"):
        CeIntentClassifier.objects.create(
            intent_code="FEES", state_code="IDLE", rule_type="PHRASE", pattern="What do I pay for a copy?"
        )
        CeConfig.objects.create(config_type="Channel", config_key="INTENTS", config_value="HOURS")
    caller = Caller()
    caller.say("What do I pay for a copy, please?")

    (sentence,) = [text for text in narrate(*events_of(caller, 1)) if "channel" in text]
    assert re.fullmatch(
        r"The message means FEES \(confidence [\d.]+\s%\), but the channel does not have this intent\.", sentence
    )
    events = events_of(caller, 1)
    assert list(list_unfounded_sentences(narrate_turn(events), events, configuration().current())) == []


def test_a_sentence_names_its_events_and_its_rows() -> None:
    create_help_desk()
    caller = Caller()
    caller.say("hours please", inputParams={"vip": True})
    events = events_of(caller, 1)

    (sentence,) = [candidate for candidate in narrate_turn(events) if candidate.kind == "SET_STATE"]

    stages = {event.row.seq: event.name for event in events}
    assert {stages[seq] for seq in sentence.seqs} == {"SET_STATE", "RULE_MATCH"}
    assert [(row.table, row.pk) for row in sentence.rows] == [("ce_rule", CeRule.objects.get().pk)]
    assert AccountSentenceSerializer(sentence).data["parts"][0] == {
        "text": f"Rule {CeRule.objects.get().pk}",
        "seq": max(sentence.seqs),
        "path": ["ruleId"],
        "row": {"table": "ce_rule", "id": CeRule.objects.get().pk},
    }


def test_a_word_that_no_event_says_is_found() -> None:
    create_help_desk()
    caller = Caller()
    caller.say("hours please")
    events, snapshot = events_of(caller, 1), configuration().current()
    sentences = narrate_turn(events)
    assert list(list_unfounded_sentences(sentences, events, snapshot)) == []

    for number, sentence in enumerate(sentences):
        for place, part in enumerate(sentence.parts):
            if not isinstance(part, str):
                for forged in forge_fact(part):
                    wrong = replace(sentence, parts=(*sentence.parts[:place], forged, *sentence.parts[place + 1 :]))
                    assert list(list_unfounded_sentences([wrong], events, snapshot)), (number, forged)
    assert list(list_unfounded_sentences([replace(sentences[0], parts=("It was rule 7.",))], events, snapshot))


@for_each("payload", [{}, {"reason": "***"}])
@for_each("stage", sorted(STAGES.values()))
def test_what_was_erased_or_redacted_breaks_no_account(stage: Stage, payload: Mapping[str, Any]) -> None:
    texts = dict.fromkeys(
        ("candidates", "matchedByRule", "matchedIntents", "extracted", "kind", "responseType", "ruleId"), "***"
    )
    for said in (payload, {**payload, **texts}):
        assert all(narrate(event(stage, **said)))


#: Stages that no shared world reaches, with their sentences.
CASES: list[tuple[Stage, dict[str, Any], str]] = [
    (AUDIT_EVENT_LOST, {"stage": "SET_JSON", "reason": "too large"},
     "The database rejected the event SET_JSON: too large; it is missing from the audit trail."),
    (CLEAR_CONTEXT, {"ruleId": 4, "paths": ["a", "b"]}, "Rule 4 cleared a and b."),
    (CONFIG_ROW_INVALID, {"table": "ce_rule", "rowId": 4},
     "Row 4 of ce_rule is invalid, so the turn ignored it."),
    (CONFIG_VALUE_INVALID, {"configType": "AUDIT", "configKey": "LEVEL", "reason": "unknown"},
     "The setting AUDIT / LEVEL has an invalid value: unknown; its default was used."),
    (CONTEXT_REPAIRED, {"reason": "no object"},
     "Repaired the stored context, which was not readable: no object."),
    (CONTEXT_TRIMMED, {"dropped": ["mcp"], "bytes": 9, "maxBytes": 5},
     "Removed mcp from the context: its 9 bytes exceeded the limit of 5."),
    (CORRECTION_STEP_CONFIRM_REFUSED, {"missingFields": ["city"]},
     "The yes does not count as a confirmation yet. Still missing: city."),
    (CORRECTION_STEP_PATCH_NOT_APPLIED, {"reason": "FIELD_UNKNOWN", "field": "colour"},
     "The correction was not applied to colour: field unknown."),
    (SCHEMA_EXTRACTION_DETERMINISTIC,
     {"extracted": [{"field": "order", "value": 48392, "by": "x-extract"}, {"field": "vip", "value": True}],
      "rejected": [{"field": "email", "value": "x", "reason": "INVALID_EMAIL"}]},
     "The message gave order = 48392 and vip = true; not taken: email = x (it is not a valid e-mail address)."),
    (SCHEMA_EXTRACTION_LLM_OUTPUT, {"json": {"order": "48392"}},
     "The model read order = 48392 in the message."),
    (DISAMBIGUATION_RESOLVED, {"actionKey": "refund", "reply": "the second"},
     "The reply “the second” selects the action refund."),
    (ENGINE_UNKNOWN_FAILURE, {"reason": "LEASE_EXPIRED", "message": "gone"},
     "The turn failed: the server process ended or stood still before the turn ended. Nothing was saved."),
    (ENGINE_UNKNOWN_FAILURE, {"reason": "TURN_TIMEOUT", "message": "gone"},
     "The turn failed: it did not end within its time limit, so the server ended the process that ran it. "
     "Nothing was saved."),
    (ENGINE_UNKNOWN_FAILURE, {"exception": "KeyError", "message": "x"},
     "The turn failed unexpectedly with KeyError: x. Nothing was saved."),
    (ENGINE_KNOWN_FAILURE, {"errorCode": "TURN_INTERRUPTED"},
     "A newer message stopped the turn. Nothing was saved, and the user got no answer to this message."),
    (EXACT_RESPONSE_RENDERING, {"errorMessage": "no name", "fallbackUsed": "FALLBACK_TEXT"},
     "Could not fill in the placeholders of the answer: no name; used the fallback text instead."),
    (HAND_OVER_DISABLED, {"intents": ["HUMAN"]},
     "The user asked for a person, but what hands over is disabled: HUMAN."),
    (INPUT_PARAM_IGNORED, {"keys": ["mcp"]},
     "Ignored mcp: callers must not send these parameters, they are reserved for the engine."),
    (INTENT_CLASSIFIER_SUBSTITUTED, {"reason": "BEING_MADE"},
     "The classifier of the present phrases was still being made: the one before compared the message, and new "
     "phrases counted by their likeness."),
    (INTENT_CLASSIFIER_SUBSTITUTED, {"reason": "NO_VECTORS"},
     "The embedding model had given no vectors: a classifier that only knows words and letters compared the message."),
    (INTENT_MISSING, {"fallbackIntent": "UNKNOWN"}, "No intent was recognised, so it was set to Unknown."),
    (KB_UNAVAILABLE, {"knowledgeBase": "manuals"}, "The knowledge base manuals was not used."),
    (MCP_DB_SQL_EXECUTION, {"tool_code": "orders", "sql": "SELECT 1", "row_count": 1},
     "Ran a database statement for orders: SELECT 1 (rows: 1)."),
    (MCP_DUPLICATE_TOOL_CALL_SUPPRESSED, {"tool_code": "orders"},
     "Did not call orders again with the same arguments."),
    (MCP_SERVER_UNAVAILABLE, {"serverId": "crm", "error": "refused"},
     "The server crm did not answer: refused; its tools were not available."),
    (PENDING_ACTION_EXECUTED, {"pendingActionRef": "orders:cancel", "reused": True},
     "The action orders:cancel did not run again: it has already run, and its stored result was used."),
    (PENDING_ACTION_SKIPPED, {"reason": "ALREADY_CLAIMED", "actionKey": "cancel"},
     "The action cancel did not run: another turn started it, and its outcome is unknown."),
    (POLICY_BLOCK, {"reason": "TERMINAL"},
     "A policy has blocked this conversation, so its answer was repeated. A reset unblocks it."),
    (REMOVE_INPUT_PARAM, {"ruleId": 4, "removed": ["vip"]}, "Rule 4 removed the parameters vip."),
    (FACTS_CHANGED,
     {"by": "pricing:quote", "kind": "TASK", "facts": {"price": 5}, "parameters": {"vip": True}, "removed": ["old"]},
     "The task pricing:quote set price = 5 and the parameters vip = true and removed old."),
    (FACTS_CHANGED, {"by": "Tags", "kind": "HOOK", "fields": {"state": "DONE"}}, "The hook Tags changed state = DONE."),
    (RESPONSE_TRANSFORMED, {"by": "shout", "kind": "TRANSFORMER", "before": "Hi", "after": "HI"},
     "Then the transformer shout changed the answer to “HI”."),
    (RESPONSE_STATE_OVERRIDE, {"applied": False, "toIntent": "A", "toState": "B", "reason": "NO_EDGE"},
     "The model's answer asked for intent A and state B, which was rejected: NO_EDGE."),
    (RESPONSE_TRANSFORM_FAILED, {"transformer": "shout", "errorMessage": "loud"},
     "The transformer shout failed: loud; the answer was not changed."),
    (RULE_ERROR, {"ruleId": 4, "action": "SET_JSON", "errorMessage": "no path"},
     "The action SET_JSON of rule 4 failed: no path."),
    (RULE_PASS_CAP_REACHED, {"passes": 5},
     "Stopped the rules after 5 passes, because they kept changing the intent or the state."),
    (SET_CONTEXT, {"ruleId": 4, "values": {"tier": "gold"}}, 'Rule 4 set tier = gold in the context.'),
    (SET_PREFERENCE, {"ruleId": 4, "kind": "model", "toId": "small"},
     "Rule 4 set the model of the conversation to small."),
    (SET_TASK, {"ruleId": 4, "beanName": "crm", "beanMethodNames": ["mark"], "executionId": 7},
     "Rule 4 ran the task crm (mark)."),
    (SET_TASK, {"ruleId": 4, "beanName": "crm", "beanMethodNames": ["mark"], "executionId": 7, "reused": True},
     "Rule 4 did not run the task crm again: it has already run, and its stored result was used."),
    (STATE_GRAPH_REVERTED, {"fromState": "PAID", "toState": "ASSESS"}, "Reverted the move from Paid to Assess."),
    (STATE_MISSING, {"fallbackState": "UNKNOWN"}, "The conversation had no state, so it was set to Unknown."),
    (STEP_HOOK_ERROR, {"hookClass": "Timer", "step": "RulesStep", "errorMessage": "late"},
     "The hook Timer failed during “Rules”: late. The turn continued."),
]  # fmt: skip


@pytest.mark.parametrize(("stage", "payload", "expected"), CASES, ids=[f"{case[0]}" for case in CASES])
def test_what_no_shared_world_reaches_is_told_too(stage: Stage, payload: dict[str, Any], expected: str) -> None:
    found = event(stage, **payload)
    sentences = narrate_turn([found])

    assert [sentence.text for sentence in sentences] == [expected]
    assert list(list_unfounded_sentences(sentences, [found], configuration().current())) == []


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"taskBean": "orders"}, "The action refund failed in the task orders: LATE."),
        ({}, "The action refund failed: LATE."),
    ],
)
def test_an_action_that_failed_names_its_task(payload: dict[str, Any], expected: str) -> None:
    assert narrate(event("PENDING_ACTION_FAILED", pendingActionRef="refund", reason="LATE", **payload)) == [expected]


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({}, "The user left the form."),
        ({"answers": "LEAVE_QUESTION"}, "The user left the form, in answer to the question whether to stop."),
        ({"intent": "FEES"}, "The user left the form for FEES."),
        (
            {"intent": "FEES", "answers": "LEAVE_QUESTION"},
            "The user left the form for FEES, in answer to the question whether to stop.",
        ),
    ],
)
def test_a_form_that_was_left_names_the_question_that_was_answered(payload: dict[str, Any], expected: str) -> None:
    assert narrate(event("FORM_LEFT", schemaId=1, **payload)) == [expected]


def test_the_first_turn_of_a_session_tells_nothing_of_the_one_before() -> None:
    told = narrate(
        event("CONVERSATION_LOADED", 1, intent="REFUND", state="COLLECT"),
        event("SESSION_LIFECYCLE", 2, **{"from": "AWAITING_USER", "to": "RUNNING", "reason": "response"}),
        event("USER_INPUT", 3, text="what are your fees?"),
        event("FIELDS_READ", 4, asked="orderNumber", read=[], refused=[]),
        event("SESSION_LIFECYCLE", 5, **{"from": "RUNNING", "to": "COMPLETE", "reason": "new_task"}),
        event("SCHEMA_STATUS", 6, schemaComplete=True, schemaId=1),
    )

    assert told[:2] == [
        "The user wrote “what are your fees?”",
        "A new session began, because the message starts something new.",
    ]
    assert len(told) == 2 or "form" in told[2]


def tell_rule(pattern: str, kind: str = "CONDITION", **params: Any) -> str:
    """Why a rule with this condition changed the state."""
    create_help_desk()
    with change_set(reason="a rule"):
        CeRule.objects.update(rule_type=kind, match_pattern=pattern)
    caller = Caller()
    caller.say("hours", inputParams=params)
    events = events_of(caller, 1)
    assert list(list_unfounded_sentences(narrate_turn(events), events, configuration().current())) == []
    (sentence,) = [text for text in narrate(*events) if " changed the state " in text]
    return sentence.partition(" to Vip")[2]


_NOT = '{"combinator": "and", "not": true, "rules": [%s]}'
_VIP = '{"field": "params.vip", "operator": "%s", "value": "yes"}'


@pytest.mark.parametrize(
    ("pattern", "kind", "params", "because"),
    [
        (_NOT % _VIP % "is", "CONDITION", {"vip": "no"}, "vip is not “yes”"),
        (_NOT % _VIP % "contains", "CONDITION", {"vip": "no"}, "vip does not contain “yes”"),
        (_NOT % _VIP % "startsWith", "CONDITION", {"vip": "no"}, "it is not so that vip starts with “yes”"),
        (_NOT % '{"field": "params.vip", "operator": "isNotEmpty"}', "CONDITION", {}, "vip is empty"),
        (_NOT % (_NOT % _VIP % "is"), "CONDITION", {"vip": "yes"}, "vip is “yes”"),
        (
            _NOT % f'{_VIP % "is"}, {{"field": "message", "operator": "contains", "value": "hours"}}',
            "CONDITION", {"vip": "no"}, "vip is not “yes”",
        ),
        ("$[?(!(@.inputParams.vip == 'yes'))]", "JSON_PATH", {"vip": "no"}, "vip is not “yes”"),
        ("$[?(!(@.inputParams.vip))]", "JSON_PATH", {}, "vip is not set"),
    ],
)  # fmt: skip
def test_a_negated_condition_has_its_because(pattern: str, kind: str, params: dict[str, Any], because: str) -> None:
    told = tell_rule(pattern, kind, **params).replace('"', "“", 1).replace('"', "”", 1)

    assert told.startswith(f", because {because}")
    assert " and " not in told


def test_the_state_of_a_phrase_that_was_not_taken_says_why() -> None:
    create_help_desk()
    caller = Caller()
    caller.say("hours", inputParams={"vip": True})
    caller.say("hours please")
    caller.say("fees")
    told = [narrate(*events_of(caller, turn)) for turn in (1, 2, 3)]

    why = " Its state Idle was not taken, because the conversation was already in this intent, in state Vip."
    assert [any(text.endswith(why) for text in texts) for texts in told] == [False, True, False]
    events = events_of(caller, 2)
    assert list(list_unfounded_sentences(narrate_turn(events), events, configuration().current())) == []


def test_an_action_of_the_deployment_is_told_by_its_name() -> None:
    matched = event("RULE_MATCH (RulesStep)", 1, ruleId=4, candidates=[{"id": 4, "matched": True}])
    applied = event("RULE_APPLIED (RulesStep)", 2, ruleId=4, action="OPEN_TICKET", actionValue="now")

    assert narrate(matched, applied) == ["Rule 4 applied OPEN_TICKET with now."]


def test_an_action_that_waits_is_told_apart_from_one_that_is_settled_in_the_same_turn() -> None:
    opened = event("PENDING_ACTION_LIFECYCLE", 1, event="OPEN", actionKey="cancel", actionRef="orders:cancel")
    ran = event("PENDING_ACTION_EXECUTED", 3, taskBean="orders", taskMethods="cancel", pendingActionRef="orders:cancel")

    said = event("INTERACTION_POLICY_DECIDED", 2, policyDecision="EXECUTE_PENDING_ACTION", dialogueAct="AFFIRM")
    chosen = event("DISAMBIGUATION_RESOLVED", 2, actionKey="cancel", reply="the first")

    assert narrate(opened) == ["The action cancel waits for confirmation."]
    for later in (
        event("ENGINE_RETURN", 2, intent="CANCEL", state="COLLECT"),
        event("ENGINE_RETURN", 2, intent="HOURS", state="CONFIRM"),
        event("ENGINE_RETURN", 2, intent="UNKNOWN", state="INTENT_COLLISION"),
        event("FORM_LEAVE_ASKED", 2, schemaId=1),
        event("ASSISTANT_OUTPUT", 2, responseType="QUESTION", output="What should I change?"),
    ):
        left = replace(opened, state={"intent": "CANCEL", "state": "CONFIRM"})
        assert not [text for text in narrate(left, later) if "waits" in text]
        stays = event("ENGINE_RETURN", 3, intent="CANCEL", state="CONFIRM")
        assert [text for text in narrate(left, stays) if "waits" in text]
    assert narrate(opened, ran) == ["The action orders:cancel ran once, by the task orders."]
    assert narrate(said, ran) == ["The action orders:cancel ran once, by the task orders, because the user says yes."]
    assert narrate(chosen, ran)[-1] == (
        "The action orders:cancel ran once, by the task orders, because the user chose it with “the first”."
    )


def test_the_api_gives_the_same_words() -> None:
    create_help_desk()
    caller = Caller()
    caller.say("hours please")

    answer = caller.get("/account", turn=1).json()

    assert [one["text"] for one in answer["sentences"]] == narrate(*events_of(caller, 1))
    assert (answer["turnNo"], answer["conversationId"]) == (1, caller.conversation_id)
    assert caller.get("/account", turn=9).status_code == 404
    assert caller.get("/account").status_code == 400


def test_what_was_not_called_again_is_not_told_as_called() -> None:
    result = {"tool_code": "order.lookup", "status": "SUCCESS", "result": {"found": True}}

    assert narrate(event("TOOL_ORCHESTRATION_RESULT", **result, reused=True)) == [
        'Did not call the tool order.lookup again: the same call had already returned {"found": true}.'
    ]
    assert narrate(event("TOOL_ORCHESTRATION_RESULT", **result)) == ['The tool order.lookup returned {"found": true}.']


def test_an_intent_that_is_set_to_itself_is_told_to_have_stayed() -> None:
    (said,) = narrate(event("SET_INTENT", ruleId=61, fromIntent="UNKNOWN", toIntent="UNKNOWN"))

    assert said.startswith("Rule 61 kept the intent Unknown")


def test_a_question_in_between_is_no_answer_to_the_open_one() -> None:
    meaning = event("MESSAGE_INTENT_CLASSIFIED", 1, messageIntent="RESPONSE")
    digression = (
        event("MCP_SKIPPED", 2, status=None, reason="DIGRESSION", intent="VISA", state="IDLE"),
        event("DIGRESSION_ANSWERED", 3, intent="HOURS", rowId=4),
    )

    assert narrate(meaning) == []
    assert narrate(meaning, *digression) == ["Answered a question in between: HOURS, by phrase 4."]


def test_only_the_winner_is_the_reason_and_losers_are_named_as_losers() -> None:
    create_help_desk()
    with change_set(reason="more phrases"):
        first = CeIntentClassifier.objects.get(intent_code="HOURS")
        late = CeIntentClassifier.objects.create(
            intent_code="HOURS", state_code="IDLE", rule_type="CONTAINS", pattern="open", priority=first.priority + 5
        )
        early = CeIntentClassifier.objects.create(
            intent_code="HOURS", state_code="IDLE", rule_type="CONTAINS", pattern="when", priority=first.priority - 5
        )
    caller = Caller()
    caller.say("when are you open, your hours?")
    events = events_of(caller, 1)

    (sentence,) = [candidate for candidate in narrate_turn(events) if candidate.kind == "INTENT_CLASSIFICATION_MATCHED"]

    assert sentence.text == (
        f"Recognised the intent HOURS, because the message contains “when” (phrase {early.pk}). "
        f"Phrase {first.pk} matched too, with lower priority. Phrase {late.pk} matched too, with lower priority."
    )
    assert list(list_unfounded_sentences([sentence], events, configuration().current())) == []
    swapped = replace(
        sentence,
        parts=tuple(
            replace(part, text=f"phrase {late.pk}", value=str(late.pk), row=part.row._replace(pk=late.pk))
            if isinstance(part, Fact) and part.row and part.row.pk == early.pk and not part.column
            else part
            for part in sentence.parts
        ),
    )
    assert list(list_unfounded_sentences([swapped], events, configuration().current()))


def test_a_forged_outcome_is_found() -> None:
    create_help_desk()
    caller = Caller()
    caller.say("hours please", inputParams={"vip": True})
    events, snapshot = events_of(caller, 1), configuration().current()

    for sentence in narrate_turn(events):
        for true, false in (("changed the state", "kept the state"), ("Answered with", "Asked the user which intent")):
            forged = replace(
                sentence,
                parts=tuple(part.replace(true, false) if isinstance(part, str) else part for part in sentence.parts),
            )
            if forged != sentence:
                assert list(list_unfounded_sentences([forged], events, snapshot)), forged.text


def test_a_changed_answer_is_attributed_to_its_row_only_as_far_as_the_row_says_it() -> None:
    changed = event("RESPONSE_TRANSFORMED", 1, by="shout", kind="TRANSFORMER", before="Hi.", after="HI!", responseId=4)
    answer = event("ASSISTANT_OUTPUT", 2, output="HI!", responseType="EXACT", responseId=4)

    assert narrate(changed, answer) == [
        "Answered with answer 4: “Hi.”",
        "Then the transformer shout changed the answer to “HI!”",
    ]


def test_a_text_that_is_not_the_rows_is_not_attributed_to_it() -> None:
    answer = event("ASSISTANT_OUTPUT", 2, output="Sorry.", responseType="DERIVED", responseId=4)

    assert narrate(event("EXACT_RESPONSE_RENDERING", 1, fallbackUsed="FALLBACK_TEXT", responseId=4), answer)[-1] == (
        "Answered with the fallback text instead of answer 4: “Sorry.”"
    )
    assert narrate(event("RESPONSE_EXACT", 1, text="Sorry."), answer) == [
        "Answered with answer 4, by its fixed text, because no model is configured or no prompt template fits: “Sorry.”"
    ]
    failed = event("RESOLVE_RESPONSE_LLM_ERROR", 1, error="x")
    assert narrate(failed, event("RESPONSE_EXACT", 2, text="Sorry."), answer)[-1] == (
        "Answered with answer 4, by its fixed text, because the model gave no answer: “Sorry.”"
    )


def test_a_wish_for_a_person_is_no_misunderstanding_and_no_failed_answer() -> None:
    misunderstood, given_up = event("NOT_UNDERSTOOD", 1, count=1), event("FORM_GIVEN_UP", 3, field="day", misses=1)
    offered = event("HAND_OVER_OFFERED", 4, count=1)

    assert narrate(event("PERSON_WANTED", 4), given_up) == [
        "The user asked for a person.",
        "The form ended, so that a person can take over.",
    ]
    assert narrate(misunderstood, given_up, offered) == [
        "The message was not understood.",
        "Gave up the form after a failed answer for day.",
        "A person is needed, because the message was not understood.",
    ]


def test_a_question_of_the_form_is_told_in_its_words() -> None:
    for output in ("What should I change: day or size?", "Just to be sure: day: Friday. Shall I go ahead?"):
        asked = event("ASSISTANT_OUTPUT", 1, responseType="QUESTION", output=output)
        assert narrate(asked) == [f"Asked the user: “{output}”"]


@pytest.mark.parametrize(
    ("moves", "is_told"), [(["LEAVE"], False), (["LEAVE", "NEGATE"], True), (["NEGATE"], True), ([], True)]
)
def test_a_wish_to_stop_is_not_told_as_a_no(moves: list[str], is_told: bool) -> None:
    understood = event("MESSAGE_UNDERSTOOD", 1, moves=[{"move": move, "start": 0, "end": 4} for move in moves])
    act = event("DIALOGUE_ACT_CLASSIFIED", 2, dialogueAct="NEGATE", dialogueActSource="REGEX")
    decided = event("INTERACTION_POLICY_DECIDED", 3, policyDecision="REJECT_PENDING_ACTION", dialogueAct="NEGATE")
    rejected = event("PENDING_ACTION_REJECTED", 4, actionKey="cancel")

    told = narrate(understood, act, decided, rejected)

    assert [text for text in told if text == "The user says no."] == ["The user says no."] * is_told
    assert any("because the user says no" in text for text in told) is is_told


@pytest.mark.parametrize(
    ("moves", "doubtful", "told"),
    [
        (["SKIP"], [], "The user did not answer, but the form needs day."),
        (["GREET", "SKIP"], [], "The user did not answer, but the form needs day."),
        (["SKIP"], ["SKIP"], "The message was not understood; that makes 2 in a row."),
        (["GREET"], [], "The message was not understood; that makes 2 in a row."),
    ],
)
def test_a_user_who_does_not_want_to_answer_was_understood(moves: list[str], doubtful: list[str], told: str) -> None:
    listed = [[{"move": move, "start": 0, "end": 4} for move in each] for each in (moves, doubtful)]
    understood = event("MESSAGE_UNDERSTOOD", 1, moves=listed[0], doubtfulMoves=listed[1])
    masked = event("MESSAGE_UNDERSTOOD", 1, moves="***", doubtfulMoves="***")
    missed = event("NOT_UNDERSTOOD", 2, count=2, asked_field="day")

    assert narrate(understood, missed) == [told]
    assert narrate(masked, missed) == ["The message was not understood; that makes 2 in a row."]


def test_the_end_of_a_long_answer_begins_with_a_whole_word() -> None:
    question = " ".join(f"word{number}" for number in range(60))

    (told,) = narrate(event("RESPONSE_TRANSFORMED", 1, kind="DIGRESSION", by="DIGRESSION", after=question))

    assert re.search(r"“…word\d+ ", told)
    assert told.endswith("word59”.")


def test_a_message_with_the_words_of_a_phrase_is_not_only_near_to_it() -> None:
    create_help_desk()
    with change_set(reason="phrases"):
        CeIntentClassifier.objects.all().delete()
        CeIntentClassifier.objects.create(
            intent_code="HOURS", state_code="IDLE", rule_type="PHRASE", pattern="When do you open?"
        )

    for message, fits in (
        ("when do you open", "the message is the phrase “When do you open?”"),
        ("When do you open, please?", "the message has the telling words of the phrase “When do you open?”"),
        ("so when is it that you open", "the message is near to the phrase “When do you open?”"),
    ):
        caller = Caller()
        caller.say(message)
        (sentence,) = [text for text in narrate(*events_of(caller, 1)) if text.startswith("Recognised the intent")]
        assert f"because {fits} (" in sentence


@pytest.mark.parametrize(
    ("basis", "fits"),
    [
        (
            {"basis": "OPTION"},
            "the message names an option of its form, and is nearest to the phrase “When do you open?”",
        ),
        ({"basis": "PART"}, "a part of the message is near to the phrase “When do you open?”"),
        ({}, "the message is near to the phrase “When do you open?”"),
    ],
)
def test_a_match_by_an_option_or_by_a_part_is_not_near_to_the_phrase(basis: dict[str, str], fits: str) -> None:
    with change_set(reason="phrases"):
        row = CeIntentClassifier.objects.create(
            intent_code="HOURS", state_code="IDLE", rule_type="PHRASE", pattern="When do you open?"
        )
    compared = {"id": row.pk, "operands": [{"score": 0.8, "minScore": 0.5, **basis}]}
    others = {"id": row.pk + 1, "operands": [{"score": 0.2, "basis": "OPTION"}]}
    decided = event("DECISION", 1, kind="CLASSIFIER", winner=row.pk, candidates=[others, compared])
    matched = event("INTENT_CLASSIFICATION_MATCHED", 2, intent="HOURS", matchedByRule={str(row.pk): 1}, score=0.8)

    (told,) = narrate_turn([decided, matched], configuration().current())

    assert f"because {fits} (" in told.text


def test_an_accepted_offer_is_no_value_that_the_message_gave() -> None:
    context = {"tariff": "Comfort", "email": "ann@example.com"}
    read = event("FIELDS_READ", asked="tariff", read=["tariff"], refused=[], by={"tariff": "OFFER"})
    more = {"read": ["tariff", "email"], "by": {"tariff": "OFFER", "email": "KIND"}}

    assert narrate(replace(read, state={"context": context})) == [
        "The user accepted tariff, which the bot had offered."
    ]
    assert narrate(replace(read, state={"context": context}, payload={**read.payload, **more})) == [
        "The user accepted tariff, which the bot had offered; the message also gave email."
    ]


@pytest.mark.parametrize(
    ("state", "answers", "cause"),
    [
        ("INTENT_COLLISION", None, ", because the user answered the question which intent is meant"),
        ("COLLECT", "LEAVE_QUESTION", ", because the user had asked for it before the bot's question"),
        ("COLLECT", None, ""),
        ("DONE", None, ""),
    ],
)
def test_an_intent_that_the_user_chose_is_not_recognised_by_phrases(
    state: str, answers: str | None, cause: str
) -> None:
    loaded = event("CONVERSATION_LOADED", 1, intent="UNKNOWN", state=state)
    none, left, resolved = (
        event("INTENT_CLASSIFIER_NO_MATCH", 2),
        event("FORM_LEFT", 3, **({"answers": answers} if answers else {})),
        event("INTENT_RESOLVED_BY_CLASSIFIER", 4, resolvedIntent="FEES"),
    )

    assert narrate(loaded, none, left, resolved)[-1] == f"The intent is FEES{cause}."
    assert narrate(loaded, none)[1:] == ["No phrase matches the message."]


def test_a_reset_says_what_it_cleared() -> None:
    reset = event(
        "CONVERSATION_RESET", 1, reason="USER_TEXT_COMMAND", previousIntent="FEES", previousState="ASK",
        previousContext={"order": 1, "memory": {}, "email": "x"},
    )  # fmt: skip

    assert narrate(reset) == [
        "The conversation was reset, because the message is a reset command. "
        "Before, it was at intent FEES, state Ask. Cleared order and email."
    ]
    assert narrate(reset, event("FORM_CLEARED", 2, schemaId=4, cause="RESTART", fields=["order", "city"]))[1:] == [
        "Cleared city of form 4, because it begins again."
    ]


def test_a_pattern_is_told_by_the_words_that_it_matched_and_shown_on_demand() -> None:
    create_help_desk()
    with change_set(reason="a pattern"):
        phrase = CeIntentClassifier.objects.get(intent_code="FEES")
        phrase.rule_type, phrase.pattern = "REGEX", "how (much|dear)"
        phrase.save()
    caller = Caller()
    caller.say("so how much is it")

    (sentence,) = [
        candidate
        for candidate in narrate_turn(events_of(caller, 1))
        if candidate.kind == "INTENT_CLASSIFICATION_MATCHED"
    ]

    assert sentence.text == (
        f"Recognised the intent FEES, because the message contains “how much” (phrase {phrase.pk})."
    )
    assert sentence.patterns == (f"phrase {phrase.pk}: /how (much|dear)/",)


def test_conditions_are_shown_whole_where_the_sentence_shortens_them() -> None:
    create_help_desk()
    long = "word " * 60
    with change_set(reason="a long condition"):
        CeRule.objects.update(match_pattern=f"$[?(@.inputParams.note == '{long}')]")
    caller = Caller()
    caller.say("hours", inputParams={"note": long})

    sentence = next(each for each in narrate_turn(events_of(caller, 1)) if each.kind == "SET_STATE")

    assert long not in sentence.text
    assert long in sentence.conditions[-1]


def test_a_turn_ends_with_where_it_left_the_conversation() -> None:
    dialogue = {"_meta": {"contextDict": {"dialogue": {"asked_field": "email"}}}}

    assert narrate(event("ENGINE_RETURN", 1, intent="FEES", state="ASK", **dialogue)) == [
        "The turn left the conversation at intent FEES, state Ask; the bot asks for email."
    ]
    assert narrate(event("ENGINE_RETURN", 1, intent="FEES", state="ASK")) == [
        "The turn left the conversation at intent FEES, state Ask."
    ]


def test_a_row_whose_name_the_sentence_says_is_called_by_its_number() -> None:
    phrase = CeIntentClassifier(pk=7, intent_code="FEES", rule_type="CONTAINS", pattern="fees", description="fees")
    row = row_of(phrase)
    snapshot = Snapshot(1, {row.table: Table(row.table, [row])})
    reference = RowRef(row.table, 7)
    said = Fact("“fees”", "fees", 1, ("matchedByRule",), reference, "pattern")
    name = Fact("phrase 7", "7", 1, ("matchedByRule",), reference)

    assert name_rows(("because it contains ", said, " (", name, ")"), snapshot)[-2] == "phrase 7"
    assert name_rows(("because of ", name), snapshot) == ["because of ", "phrase “fees”"]
    assert name_rows((replace(name, text="Phrase 7"), " matched."), snapshot) == ["Phrase “fees”", " matched."]
