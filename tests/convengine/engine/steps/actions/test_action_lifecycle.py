from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convengine.engine.steps.actions.action_lifecycle import ActionLifecycleStep, DisambiguationStep
from convengine.engine.turn.ports import TaskAnswer
from convengine.engine.turn.rows import Row
from convengine.engine.turn.session import Clarification, ReplyOverride, Session
from convengine.engine.turn.turn import Turn
from tests.builders import (
    CONVERSATION,
    make_action,
    make_config,
    make_intent,
    make_snapshot,
    make_turn,
    payload,
    run_step,
    stages,
)
from tests.convengine.engine.steps.actions.talk import Talk
from tests.examples import count_examples
from tests.fakes.clock import NOON, FrozenClock
from tests.fakes.ports import RecordingTasks

ROW = make_action("PAY", pending_action_id=7, intent_code="ORDER", state_code="CONFIRM", priority=10)
EXECUTE, REJECT, RECLASSIFY = "EXECUTE_PENDING_ACTION", "REJECT_PENDING_ACTION", "RECLASSIFY_INTENT"


SAME = (make_action("A", priority=10), make_action("B", priority=10))
ROWS = (
    make_intent("ORDER"),
    make_action("PAY", intent_code="ORDER", state_code="CONFIRM", priority=10),
    make_action("SHIP", intent_code="ORDER", state_code="CONFIRM", priority=20),
)
WELL, BADLY = TaskAnswer(1, context={"paid": True}), TaskAnswer(error_type="ValueError")
MOVES = st.lists(
    st.fixed_dictionaries(
        {
            "text": st.sampled_from(["yes", "yes", "no", "hello", "what?", "change it"]),
            "lost": st.sampled_from([False, False, True]),
            "answer": st.sampled_from([WELL, WELL, BADLY]),
            "minutes": st.sampled_from([0, 0, 1, 40]),
            "state": st.sampled_from([None, None, None, "CONFIRM", "DONE"]),
            "key": st.sampled_from([None, None, None, "PAY", "SHIP"]),
        }
    ),
    max_size=14,
)


def run(
    turn_no: int,
    *rows: Row,
    decision: str = RECLASSIFY,
    runtime: Mapping[str, Any] | None = None,
    minutes: int = 0,
    tasks: RecordingTasks | None = None,
    **fields: Any,
) -> tuple[Session, Turn]:
    turn = make_turn(
        make_snapshot(make_intent("ORDER"), *(rows or (ROW,))),
        turn_no=turn_no,
        clock=FrozenClock(NOON + timedelta(minutes=minutes)),
        tasks=tasks,
    )
    context = {**fields.pop("context", {}), **({"pending_action_runtime": runtime} if runtime else {})}
    params = {"policy_decision": decision, "skip_intent_resolution": decision != RECLASSIFY, **fields.pop("params", {})}
    values = {"intent": "ORDER", "state": "CONFIRM", **fields}
    session = Session(CONVERSATION, turn_no, context=context, **values).with_params(params)
    return run_step(ActionLifecycleStep(), session, turn), turn


def record(session: Session) -> Mapping[str, Any]:
    runtime: Mapping[str, Any] = session.context["pending_action_runtime"]
    return runtime


def events(turn: Turn) -> list[str]:
    return [e.payload["event"] for e in turn.trail.events if e.stage == "PENDING_ACTION_LIFECYCLE"]


def opened_at(turn_no: int, *rows: Row, **more: Any) -> Mapping[str, Any]:
    return record(run(turn_no, *rows, **more)[0])


def test_AL_V1_an_action_that_fits_is_opened_with_its_limits() -> None:
    session, turn = run(5)

    runtime = record(session)
    assert (runtime["status"], runtime["action_key"], runtime["action_ref"]) == ("OPEN", "PAY", "billing:refund")
    assert (runtime["created_turn"], runtime["expires_turn"], runtime["scope"]) == (5, 8, "ORDER|CONFIRM")
    assert runtime["expires_at_epoch_ms"] - runtime["created_at_epoch_ms"] == 30 * 60_000
    assert session.input_params["pending_action_runtime_status"] == "OPEN"
    assert payload(turn, "PENDING_ACTION_LIFECYCLE") == {
        "event": "OPEN",
        "status": "OPEN",
        "actionKey": "PAY",
        "actionRef": "billing:refund",
    }
    assert events(turn) == ["OPEN"]


def test_an_action_that_is_open_stays_as_it_is() -> None:
    before = opened_at(5)
    session, turn = run(6, runtime=before)

    assert record(session) == before
    assert events(turn) == []


def test_AL_V2_a_yes_confirms_it() -> None:
    session, turn = run(6, decision=EXECUTE, runtime=opened_at(5))

    assert (record(session)["status"], record(session)["in_progress_turn"]) == ("IN_PROGRESS", 6)
    assert events(turn) == ["IN_PROGRESS"]


def test_it_opens_and_is_confirmed_in_one_turn_where_that_is_the_first() -> None:
    session, turn = run(6, decision=EXECUTE)

    assert events(turn) == ["OPEN", "IN_PROGRESS"]
    assert session.input_params["pending_action_runtime_status"] == "IN_PROGRESS"


def test_AL_V3_a_yes_that_comes_too_late_runs_nothing() -> None:
    session, turn = run(8, decision=EXECUTE, runtime=opened_at(5))

    params = session.input_params
    assert (record(session)["status"], record(session)["expired_turn"]) == ("EXPIRED", 8)
    assert (params["policy_decision"], params["skip_intent_resolution"]) == (RECLASSIFY, False)
    assert (params["skip_pending_action_execution"], params["pending_action_result"]) == (True, "EXPIRED")
    assert payload(turn, "PENDING_ACTION_LIFECYCLE") == {
        "event": "EXPIRED",
        "status": "EXPIRED",
        "actionKey": "PAY",
        "actionRef": "billing:refund",
        "turn": 8,
    }


def test_AL_V4_a_yes_in_a_later_turn_opens_it_anew_and_confirms_it() -> None:
    late, _ = run(8, decision=EXECUTE, runtime=opened_at(5))
    session, turn = run(9, decision=EXECUTE, context=late.context)

    assert events(turn) == ["OPEN", "IN_PROGRESS"]
    assert (record(session)["expires_turn"], record(session)["created_turn"]) == (12, 9)


@pytest.mark.parametrize("minutes", [30, 31])
def test_AL_V5_it_expires_by_the_clock_as_well(minutes: int) -> None:
    _, turn = run(6, runtime=opened_at(5), minutes=minutes)

    assert events(turn) == ["EXPIRED"]
    assert events(run(6, runtime=opened_at(5), minutes=29)[1]) == []


def executed_at(turn_no: int = 5) -> Mapping[str, Any]:
    return {**opened_at(turn_no), "status": "EXECUTED", "executed_turn": turn_no}


def test_AL_V6_what_was_executed_is_not_run_again() -> None:
    before = executed_at()
    session, turn = run(6, decision=EXECUTE, runtime=before)

    assert (record(session), events(turn)) == (before, [])
    assert (session.input_params["policy_decision"], session.input_params["skip_intent_resolution"]) == (
        RECLASSIFY,
        False,
    )


@pytest.mark.parametrize("status", ["EXECUTED", "REJECTED"])
def test_a_key_in_the_request_opens_it_again(status: str) -> None:
    runtime = {**executed_at(), "status": status}
    _, turn = run(6, decision=EXECUTE, runtime=runtime, params={"pending_action_key": "pay"})

    assert events(turn) == ["OPEN", "IN_PROGRESS"]


def test_AL_V7_a_no_rejects_it() -> None:
    session, turn = run(6, decision=REJECT, runtime=opened_at(5))

    assert (record(session)["status"], record(session)["rejected_turn"]) == ("REJECTED", 6)
    assert events(turn) == ["REJECTED"]
    assert session.context["pending_action_ordinal"] == 2


def test_AL_V8_of_two_equal_ones_none_is_opened() -> None:
    session, turn = run(5, *SAME)

    assert "pending_action_runtime" not in session.context
    assert [candidate["reason"] for candidate in payload(turn, "DECISION")["candidates"]] == ["AMBIGUOUS", "AMBIGUOUS"]


def test_AL_V9_the_better_priority_decides() -> None:
    session, turn = run(5, make_action("A", priority=20), better := make_action("B", priority=10))

    assert record(session)["action_key"] == "B"
    assert payload(turn, "DECISION")["winner"] == better.pending_action_id


def test_AL_V10_leaving_the_state_ends_it() -> None:
    session, turn = run(6, runtime=opened_at(5), state="PAID", params={"pending_action_key": "PAY"})

    assert "pending_action_runtime" not in session.context
    assert "pending_action_key" not in session.input_params
    assert events(turn) == ["SCOPE_LEFT"]
    assert session.context["pending_action_ordinal"] == 2


def test_a_key_of_this_request_outlives_the_scope_that_was_left() -> None:
    key = {"pending_action_key": "PAY"}
    session, _ = run(6, runtime=opened_at(5), state="PAID", params=key, user_input_params=key)

    assert session.input_params["pending_action_key"] == "PAY"


def test_AL_V11_limits_work_in_a_long_conversation() -> None:
    before = opened_at(58)

    assert before["expires_turn"] == 61
    assert events(run(60, runtime=before)[1]) == []
    assert events(run(61, runtime=before)[1]) == ["EXPIRED"]


def test_AL_V12_switched_off_it_touches_nothing() -> None:
    context = {"pending_action_runtime": {"status": "OPEN", "scope": "X|Y"}}
    session, turn = run(6, ROW, make_config("ActionLifecycleStep/ENABLED", "false"), context=context, decision=EXECUTE)

    assert (session.context, events(turn)) == (context, [])


def test_AL_V13_without_limits_it_never_expires() -> None:
    unlimited = (make_config("ActionLifecycleStep/TTL_TURNS", "0"), make_config("ActionLifecycleStep/TTL_MINUTES", "0"))
    before = opened_at(5, ROW, *unlimited)

    assert (before["expires_turn"], before["expires_at_epoch_ms"]) == (-1, -1)
    assert events(run(5000, ROW, *unlimited, runtime=before, minutes=10**6)[1]) == []


def test_a_confirmed_action_whose_turn_did_not_end_is_open_again() -> None:
    stuck = {**opened_at(5), "status": "IN_PROGRESS", "in_progress_turn": 6}

    assert events(run(7, runtime=stuck)[1]) == ["INTERRUPTED"]
    assert events(run(7, decision=EXECUTE, runtime=stuck)[1]) == ["INTERRUPTED", "IN_PROGRESS"]
    assert events(run(7, decision=REJECT, runtime=stuck)[1]) == ["INTERRUPTED", "REJECTED"]


@pytest.mark.parametrize("status", ["EXPIRED", "FAILED"])
def test_what_ended_badly_is_opened_anew_by_a_later_turn(status: str) -> None:
    before = {**opened_at(5), "status": status}

    assert events(run(9, runtime=before)[1]) == ["OPEN"]
    assert events(run(9, decision=EXECUTE, runtime=before)[1]) == ["OPEN", "IN_PROGRESS"]
    assert events(run(9, decision=REJECT, runtime=before)[1]) == ["OPEN", "REJECTED"]


def test_a_no_to_what_expires_in_this_turn_leaves_it_expired() -> None:
    session, turn = run(8, decision=REJECT, runtime=opened_at(5))

    assert events(turn) == ["EXPIRED"]
    assert session.input_params["policy_decision"] == REJECT
    assert "pending_action_result" not in session.input_params


def test_another_action_takes_the_place_of_the_one_before() -> None:
    other = make_action("SHIP", priority=1)
    session, turn = run(6, ROW, other, runtime=opened_at(5))

    assert (record(session)["action_key"], events(turn)) == ("SHIP", ["OPEN"])


def test_what_was_executed_before_another_one_is_remembered_while_the_scope_holds() -> None:
    ship = make_action("SHIP", priority=20)
    by_key, _ = run(6, ROW, ship, runtime=executed_at(), params={"pending_action_key": "SHIP"})
    done = {**record(by_key), "status": "EXECUTED"}
    session, turn = run(7, ROW, ship, runtime=done, decision=EXECUTE)

    assert events(turn) == []
    assert session.input_params["policy_decision"] == RECLASSIFY


def test_a_status_that_nobody_knows_counts_as_no_record() -> None:
    assert events(run(6, runtime={"status": "MELTED"})[1]) == ["OPEN"]


@pytest.mark.parametrize("runtime", ["text", 7, {"status": None}, {}])
def test_a_branch_that_is_no_record_counts_as_none(runtime: Any) -> None:
    assert events(run(6, context={"pending_action_runtime": runtime})[1]) == ["OPEN"]


def test_a_record_without_its_newer_fields_is_filled_in() -> None:
    old = {"status": "OPEN", "action_key": "PAY", "action_ref": "billing:refund", "expires_turn": 9}
    session, turn = run(6, runtime=old, decision=EXECUTE)

    assert events(turn) == ["IN_PROGRESS"]
    assert record(session)["nonce"] == opened_at(6)["nonce"]


def test_the_key_may_come_in_any_case_and_the_record_has_the_rows_spelling() -> None:
    session, _ = run(6, *SAME, params={"pending_action_key": "b"})

    assert record(session)["action_key"] == "B"


@pytest.mark.parametrize(
    "context",
    [
        {"pending_action_key": "B"},
        {"pendingActionKey": "B"},
        {"pending_action": {"action_key": "B"}},
        {"pendingAction": {"type": "B"}},
    ],
)
def test_the_context_may_name_the_action(context: Any) -> None:
    assert record(run(6, *SAME, context=context)[0])["action_key"] == "B"


def test_what_the_context_proposes_is_opened_only_where_its_task_allows_that() -> None:
    context = {"pending_action": {"bean": "billing", "methods": "refund"}}
    other = make_action("X", state_code="ELSEWHERE")
    refused, _ = run(6, other, context=context, tasks=RecordingTasks())
    session, turn = run(6, other, context=context, tasks=RecordingTasks(from_context=frozenset({"billing"})))

    assert "pending_action_runtime" not in refused.context
    assert (record(session)["action_ref"], record(session)["action_key"]) == ("billing:refund", "")
    assert payload(turn, "DECISION")["winner"] is None


def test_nothing_is_opened_while_intent_or_state_are_unknown() -> None:
    everywhere = make_action("PAY")
    session, turn = run(6, everywhere, state="UNKNOWN")

    assert "pending_action_runtime" not in session.context
    assert payload(turn, "DECISION")["candidates"][0]["reason"] == "UNRESOLVED"
    wanted = make_config("InteractionPolicyStep/REQUIRE_RESOLVED_INTENT_AND_STATE", "false")
    assert events(run(6, everywhere, wanted, state="UNKNOWN")[1]) == ["OPEN"]


def test_without_any_action_in_the_configuration_no_decision_is_told() -> None:
    _, turn = run(6, make_config("A/B", "c"))

    assert turn.trail.events == []


def test_the_nonce_is_the_same_for_a_repetition_and_another_for_every_new_opening() -> None:
    first = opened_at(5)
    assert opened_at(6)["nonce"] == first["nonce"]

    late, _ = run(8, runtime=first)
    again = record(run(9, context=late.context)[0])
    previous, _ = run(6, runtime=first, state="PAID")
    back = record(run(7, context=previous.context)[0])
    others = [
        opened_at(5, epoch=1),
        opened_at(5, make_action("PAY", method_names="capture")),
        opened_at(5, make_action("PAY"), state="OTHER"),
        again,
        back,
    ]
    assert first["nonce"] not in {other["nonce"] for other in others}


@pytest.mark.parametrize("decision", [EXECUTE, RECLASSIFY])
def test_what_proposed_an_expired_action_and_asked_about_it_goes_with_it(decision: str) -> None:
    clarification = Clarification("Which?", "PENDING_ACTION_DISAMBIGUATION", from_previous_turn=True)
    context = {"pending_action": {"key": "PAY"}, "pendingActionKey": "PAY", "approval": {"granted": True}, "qty": 1}
    session, _ = run(
        8, runtime=opened_at(5), decision=decision, context=context, clarification=clarification,
        params={"pending_action_key": "PAY"},
    )  # fmt: skip

    assert set(session.context) == {"qty", "pending_action_runtime", "pending_action_ordinal"}
    assert "pending_action_key" not in session.input_params
    assert session.clarification is None


@settings(max_examples=count_examples(300))
@given(MOVES)
def test_an_action_runs_once_for_each_opening_and_only_when_it_was_confirmed(moves: list[dict[str, Any]]) -> None:
    talk = Talk(ROWS)
    done: set[tuple[str, str]] = set()
    for move in moves:
        if move["state"] and move["state"] != talk.state:
            talk.state, done = move["state"], set()
        talk.minutes += move["minutes"]
        talk.tasks = RecordingTasks({"billing:refund": move["answer"]})
        before = dict(talk.book.claims)
        params = {"pending_action_key": move["key"]} if move["key"] else {}
        session, turn = talk.say(move["text"], is_lost=move["lost"], **params)

        ran = len(talk.tasks.calls)
        assert ran == len(talk.book.claims) - len(before) <= 1
        if ran:
            assert move["text"] == "yes"
            assert "EXPIRED" not in str(session.input_params.get("pending_action_result"))
            assert talk.state == "CONFIRM"
        # Naming an action again, in so many words, opens it again.
        done = {run_key for run_key in done if run_key[0] != move["key"]}
        runtime = session.context.get("pending_action_runtime") or {}
        identity = (str(runtime.get("action_key")), str(runtime.get("action_ref")))
        assert not ran or identity not in done
        names = [stage for stage in stages(turn) if stage.startswith("PENDING_ACTION_") and "LIFECYCLE" not in stage]
        assert len(names) <= 1
        if not move["lost"] and "PENDING_ACTION_EXECUTED" in names:
            assert runtime["status"] == "EXECUTED"
            assert session.context["paid"] is True
            done.add(identity)


@settings(max_examples=count_examples(100))
@given(st.integers(1, 6), st.sampled_from([WELL, BADLY]))
def test_however_often_its_turn_is_lost_it_runs_once_and_ends_as_it_did(losses: int, answer: TaskAnswer) -> None:
    talk = Talk(ROWS, tasks=RecordingTasks({"billing:refund": answer}))
    for _ in range(losses):
        talk.say("yes", is_lost=True)
    session, _ = talk.say("yes")

    assert talk.tasks.calls == ["billing:refund"]
    assert session.input_params["pending_action_result"] == ("EXECUTED" if answer is WELL else "FAILED")


FLIGHT = make_action("cancel_flight", priority=10, description="Flight out")
HOTEL = make_action("cancel_hotel", priority=10, description="Hotel stay")
EXECUTE, REJECT, RECLASSIFY = "EXECUTE_PENDING_ACTION", "REJECT_PENDING_ACTION", "RECLASSIFY_INTENT"


def run_disambiguation(*rows: Row, decision: str = EXECUTE, **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(make_intent("TRAVEL"), *rows))
    skips = {"skip_intent_resolution": decision != RECLASSIFY}
    params = {"policy_decision": decision, **skips, **fields.pop("params", {})}
    values = {"intent": "TRAVEL", "state": "CONFIRM", **fields}
    session = Session(CONVERSATION, 6, **values).with_params(params)
    return run_step(DisambiguationStep(), session, turn), turn


def setting(name: str, value: str) -> Row:
    return make_config(f"DisambiguationStep/{name}", value)


def test_DIS_V1_two_actions_of_one_priority_are_asked_about() -> None:
    session, turn = run_disambiguation(FLIGHT, HOTEL)

    question = (
        "More than one action fits here. Which one do you mean: cancel_flight (Flight out), cancel_hotel (Hotel stay)?"
    )
    assert payload(turn, "DISAMBIGUATION_REQUIRED") == {
        "reason": "MULTIPLE_PENDING_ACTIONS",
        "question": question,
        "candidateCount": 2,
        "options": ["cancel_flight (Flight out)", "cancel_hotel (Hotel stay)"],
        "intent": "TRAVEL",
        "state": "CONFIRM",
        "questionSource": "TEMPLATE",
    }
    clarification = session.clarification
    assert clarification is not None
    assert (clarification.reason, clarification.question, clarification.asks) == (
        "PENDING_ACTION_DISAMBIGUATION",
        question,
        1,
    )
    assert clarification.options[1] == {"actionKey": "cancel_hotel", "label": "cancel_hotel (Hotel stay)"}
    params = session.input_params
    assert (params["policy_decision"], params["skip_intent_resolution"]) == (RECLASSIFY, True)
    assert params["pending_action_disambiguation_required"] is True
    assert session.reply_override == ReplyOverride(question, "DISAMBIGUATION")
    assert stages(turn) == ["DECISION", "DISAMBIGUATION_REQUIRED"]


def options(turn: Turn) -> Any:
    return payload(turn, "DISAMBIGUATION_REQUIRED")["options"]


def test_DIS_V2_different_priorities_need_no_question() -> None:
    session, turn = run_disambiguation(FLIGHT, make_action("cancel_hotel", priority=20))

    assert (session.clarification, stages(turn)) == (None, [])


def test_DIS_V3_only_the_best_priority_is_offered() -> None:
    _, turn = run_disambiguation(FLIGHT, HOTEL, make_action("cancel_all", priority=20))

    assert len(options(turn)) == 2


@pytest.mark.parametrize(
    "fields",
    [{"params": {"pending_action_key": "cancel_hotel"}}, {"context": {"pending_action_key": "cancel_hotel"}}],
)
def test_DIS_V4_a_key_needs_no_question(fields: Any) -> None:
    _, turn = run_disambiguation(FLIGHT, HOTEL, **fields)

    assert stages(turn) == []


def test_DIS_V5_of_many_a_few_are_offered_and_the_rest_can_be_named() -> None:
    session, turn = run_disambiguation(*(make_action(f"A{number}") for number in range(7)))

    event = payload(turn, "DISAMBIGUATION_REQUIRED")
    assert (len(event["options"]), event["candidateCount"], event["truncated"]) == (5, 7, True)
    assert session.clarification is not None
    assert [option.get("offered", True) for option in session.clarification.options] == [True] * 5 + [False] * 2


@pytest.mark.parametrize("decision", [REJECT, RECLASSIFY])
def test_DIS_V8_only_a_yes_is_asked_about(decision: str) -> None:
    session, turn = run_disambiguation(FLIGHT, HOTEL, decision=decision)

    assert (session.clarification, stages(turn)) == (None, [])


def test_rows_of_one_name_are_one_action() -> None:
    _, turn = run_disambiguation(make_action("PAY"), make_action("pay", method_names="other"))

    assert stages(turn) == []


def test_a_row_without_a_name_is_not_offered() -> None:
    _, turn = run_disambiguation(FLIGHT, HOTEL, make_action("", priority=10))

    assert len(options(turn)) == 2


def test_what_is_done_with_is_not_offered_again() -> None:
    done = {"status": "EXECUTED", "action_key": "cancel_flight", "action_ref": "billing:refund"}
    _, turn = run_disambiguation(FLIGHT, HOTEL, context={"pending_action_runtime": {**done, "scope": "TRAVEL|CONFIRM"}})

    assert options(turn) == ["cancel_hotel (Hotel stay)"]


def test_switched_off_nothing_is_asked() -> None:
    _, turn = run_disambiguation(FLIGHT, HOTEL, setting("ENABLED", "false"))

    assert stages(turn) == []


def test_the_question_is_the_analysts() -> None:
    text = "{{ candidate_count }} in {{ intent }}/{{ state }}: {{ action_keys }}?"
    session, _ = run_disambiguation(FLIGHT, HOTEL, setting("QUESTION_TEMPLATE", text))

    assert session.reply_override is not None
    assert session.reply_override.text == "2 in TRAVEL/CONFIRM: cancel_flight, cancel_hotel?"


@pytest.mark.parametrize("text", ["{{ options | nonsense }}", "{% if false %}x{% endif %}"])
def test_a_question_that_cannot_be_put_gives_way_to_the_built_in_one(text: str) -> None:
    session, _ = run_disambiguation(FLIGHT, HOTEL, setting("QUESTION_TEMPLATE", text))

    assert session.reply_override is not None
    assert session.reply_override.text.startswith("More than one action fits here.")


def earlier(*keys: str, asks: int = 1) -> Clarification:
    stored = tuple({"actionKey": key, "label": key} for key in keys or ("cancel_flight", "cancel_hotel"))
    return Clarification("Which one?", "PENDING_ACTION_DISAMBIGUATION", stored, from_previous_turn=True, asks=asks)


def test_a_reply_that_meant_nothing_is_asked_again() -> None:
    session, turn = run_disambiguation(FLIGHT, HOTEL, decision=RECLASSIFY, clarification=earlier())

    assert session.clarification is not None
    assert (session.clarification.asks, session.clarification.from_previous_turn) == (2, False)
    assert session.input_params["skip_intent_resolution"] is False
    assert "DISAMBIGUATION_REQUIRED" in stages(turn)


def test_a_message_that_found_its_meaning_elsewhere_is_not() -> None:
    question = earlier()
    session, turn = run_disambiguation(
        FLIGHT, HOTEL, decision=RECLASSIFY, clarification=question, params={"skip_intent_resolution": True}
    )

    assert (session.clarification, stages(turn)) == (question, [])


@pytest.mark.parametrize("decision", [EXECUTE, RECLASSIFY])
def test_after_some_asking_the_question_is_dropped(decision: str) -> None:
    session, turn = run_disambiguation(FLIGHT, HOTEL, decision=decision, clarification=earlier(asks=2))

    assert (session.clarification, session.reply_override, stages(turn)) == (None, None, [])
    assert session.input_params["policy_decision"] == decision


def test_how_often_it_is_asked_is_a_setting() -> None:
    session, _ = run_disambiguation(FLIGHT, HOTEL, setting("MAX_ASKS", "3"), clarification=earlier(asks=2))

    assert session.clarification is not None
    assert session.clarification.asks == 3


@pytest.mark.parametrize(
    "rows", [(FLIGHT,), (), (FLIGHT, HOTEL, setting("ENABLED", "false")), (FLIGHT, make_action("other", priority=10))]
)
def test_a_question_that_is_settled_or_another_by_now_is_dropped(rows: tuple[Row, ...]) -> None:
    session, turn = run_disambiguation(*rows, decision=RECLASSIFY, clarification=earlier())

    assert (session.clarification, stages(turn)) == (None, [])


def test_a_yes_where_the_choice_is_another_by_now_asks_anew() -> None:
    session, _ = run_disambiguation(FLIGHT, make_action("other", priority=10), clarification=earlier(asks=2))

    assert session.clarification is not None
    assert session.clarification.asks == 1


def test_a_confirmed_action_is_open_again_while_the_question_stands() -> None:
    runtime = {"status": "IN_PROGRESS", "action_key": "x", "action_ref": "a:b", "scope": "TRAVEL|CONFIRM"}
    session, turn = run_disambiguation(FLIGHT, HOTEL, context={"pending_action_runtime": runtime})

    assert session.context["pending_action_runtime"]["status"] == "OPEN"
    assert payload(turn, "PENDING_ACTION_LIFECYCLE")["event"] == "REVERTED"


def test_a_question_of_another_kind_is_left_alone() -> None:
    question = Clarification("Which city?", "AGENT", from_previous_turn=True)

    assert run_disambiguation(FLIGHT, decision=RECLASSIFY, clarification=question)[0].clarification is question
