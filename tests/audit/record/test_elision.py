import uuid
from datetime import timedelta
from time import sleep
from typing import Any

import pytest
from django.db.models import QuerySet

from audit.models import CeAudit
from audit.record.elision import KEY, follows, numbers, restore_elided_events, strip_implied, whole
from audit.record.expand import expand_events
from audit.record.queries import EventFilter, read_page, read_page_before, read_turns
from audit.replay.replay import find_replay_difference
from config_admin.models import CeResponse
from convengine.engine.pipeline.engine import Engine
from convengine.engine.pipeline.hooks import Hooks, StepHook
from convengine.engine.pipeline.order import order_steps
from convengine.engine.pipeline.step import Continue, Outcome, Step
from convengine.engine.pipeline.timing import NOBODY_ASKED, describe_steps
from convengine.engine.rules.phase_events import build_flags
from convengine.engine.steps.conversation.stages import CONTEXT_TRIMMED
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.session import Session
from convengine.engine.turn.trail import FOLDED_KEYS, AuditEvent
from convengine.engine.turn.turn import Turn
from convengine.server import wiring
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.database import allow_forging
from tests.record import events
from tests.worlds import create_help_desk, set_audit_setting

pytestmark = pytest.mark.django_db


def read_events(caller: Caller, **wanted: Any) -> list[tuple[Any, ...]]:
    """The events as the endpoint shows them, without what differs from turn to turn."""
    shown = caller.get(page="off", **wanted).json()
    return [(event["seq"], event["stage"], event["payload"].get("step")) for event in shown]


def test_beginnings_and_ends_that_say_nothing_more_are_no_rows_and_are_shown(caller: Caller) -> None:
    caller.say("hours")
    stored = list(CeAudit.objects.order_by("seq"))
    everything = read_events(caller)
    caller.conversation_id = str(uuid.uuid4())
    set_audit_setting("FLUSH", "STEP")
    caller.say("hours")

    rows = CeAudit.objects.filter(conversation_id=caller.conversation_id).order_by("seq")
    assert everything == read_events(caller)
    assert [(row.seq, row.stage) for row in rows] == [(seq, stage) for seq, stage, _ in everything]
    assert len(stored) < 0.6 * len(everything)
    assert [row.stage for row in stored if row.stage.startswith("STEP_")].count("STEP_ENTER") == 2


def test_an_event_that_was_put_in_has_its_moment_its_turn_and_its_release(caller: Caller) -> None:
    caller.say("hours")
    record = CeConversationHistory.objects.get()

    shown = read_turns(record.conversation_id, [1])

    times = [event.created_at for event in shown]
    assert times == sorted(times)
    assert times[0] >= record.created_at
    assert times[-1] - times[0] < timedelta(seconds=20)
    made = [event for event in shown if follows(event)]
    assert len(made) > 30
    assert {(event.turn_id, event.turn_no, event.config_version) for event in made} == {
        (record.turn_id, 1, record.config_version)
    }
    (timing,) = [event for event in shown if event.stage == "PIPELINE_TIMING"]
    assert numbers(timing.payload_json) == {event.seq for event in made}


def test_of_a_turn_that_failed_the_steps_before_are_shown(caller: Caller) -> None:
    CeResponse.objects.filter(intent_code="HOURS").delete()
    caller.say("hours")

    shown = read_events(caller)

    assert [seq for seq, *_ in shown] == list(range(1, len(shown) + 1))
    assert ("STEP_EXIT", "StateGraphStep") in {(stage, step) for _, stage, step in shown}
    assert ("STEP_EXIT", "ResponseResolutionStep") not in {(stage, step) for _, stage, step in shown}


@pytest.mark.parametrize(
    ("key", "value"), [("LEVEL", "STANDARD"), ("EXCLUDE_STAGES", "STEP_*"), ("PERSIST_META", "false")]
)
def test_what_settings_drop_is_not_put_in(caller: Caller, key: str, value: str) -> None:
    set_audit_setting(key, value)
    caller.say("hours")

    assert not any(map(follows, events()))


def test_what_was_dropped_is_not_mistaken_for_what_follows(caller: Caller) -> None:
    set_audit_setting("EXCLUDE_STAGES", "RULE_*")
    caller.say("hours")

    assert [row.seq for row in events()] == list(CeAudit.objects.order_by("seq").values_list("seq", flat=True))


@pytest.mark.parametrize("stages", [("STEP_EXIT",), ("step_*",), ("STEP_ENTER", "RESOLVE_RESPONSE"), ("*",)])
def test_a_filter_of_stages_finds_them_page_by_page_both_ways(caller: Caller, stages: tuple[str, ...]) -> None:
    for _ in range(3):
        caller.say("hours")
    key, wanted = uuid.UUID(caller.conversation_id), EventFilter(stages=stages)
    names = {"STEP_ENTER", "STEP_EXIT"} if "step_*" in stages else {event.stage for event in events()}
    names &= {*stages} if not {"*", "step_*"} & {*stages} else names
    all_of_them = [(event.turn_no, event.seq) for event in events() if event.stage in names]

    forth: list[tuple[int, int]] = []
    back: list[tuple[int, int]] = []
    more = True
    while more:
        found = read_page(key, wanted, forth[-1] if forth else None, 10)
        forth += [(row.turn_no or 0, row.seq) for row in found.rows]
        more = found.more
    more = True
    while more:
        found = read_page_before(key, wanted, back[0] if back else (99, 0), 10)
        back = [*((row.turn_no or 0, row.seq) for row in found.rows), *back]
        more = found.more

    assert forth == all_of_them
    assert back == all_of_them


def test_a_filter_of_times_finds_them(caller: Caller) -> None:
    for _ in range(3):
        caller.say("hours")
    second = events(turn_no=2)
    since, until = second[0].created_at, second[-1].created_at

    found = read_page(uuid.UUID(caller.conversation_id), EventFilter(since=since, until=until), None, 1000)

    assert [(row.turn_no, row.seq) for row in found.rows] == [(2, event.seq) for event in second]


def test_a_text_is_looked_for_in_what_is_stored(caller: Caller) -> None:
    caller.say("hours")

    assert not any(
        map(follows, read_page(uuid.UUID(caller.conversation_id), EventFilter(text="Step"), None, 1000).rows)
    )


@pytest.mark.parametrize("forged", [{KEY: "x"}, {KEY: [1, 2]}, {KEY: [0, 3, 999, 4]}, {KEY: [True, 3, 0, 4]}, "none"])
@pytest.mark.parametrize("steps", ["RulesStep", 7, None])
def test_a_damaged_timing_is_read_all_the_same(caller: Caller, forged: Any, steps: Any) -> None:
    caller.say("hours")
    row = CeAudit.objects.get(stage="PIPELINE_TIMING")
    with allow_forging("ce_audit"):
        payload = {**row.payload_json, "_meta": forged, "stepList": steps}
        QuerySet(CeAudit).filter(pk=row.pk).update(payload_json=payload)

    assert caller.get().status_code == 200
    assert len(list(restore_elided_events(CeAudit.objects.order_by("seq")))) == CeAudit.objects.count()
    assert caller.get("/trace").status_code == 200


@pytest.fixture
def long_talk(caller: Caller) -> uuid.UUID:
    """A conversation of three hundred turns, a second each."""
    caller.say("hours")
    key = uuid.UUID(caller.conversation_id)
    rows = list(CeAudit.objects.filter(conversation_id=key))
    CeAudit.objects.bulk_create(
        CeAudit(
            conversation_id=key,
            turn_id=uuid.uuid5(key, str(turn)),
            turn_no=turn,
            config_version=row.config_version,
            seq=row.seq,
            stage=row.stage,
            payload_json=row.payload_json,
            created_at=row.created_at + timedelta(seconds=turn - 1),
        )
        for turn in range(2, 301)
        for row in rows
    )
    return key


@pytest.mark.long
@pytest.mark.parametrize("stages", [("STEP_ENTER",), ("STEP_EXIT",), ()])
@pytest.mark.parametrize("bounds", [(None, None), (None, 20), (100, None), (100, 101), (100, 102)])
def test_a_page_reads_hardly_more_turns_than_it_shows(
    long_talk: uuid.UUID,
    stages: tuple[str, ...],
    bounds: tuple[int | None, int | None],
    django_assert_max_num_queries: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = CeAudit.objects.filter(turn_no=1).order_by("created_at").values_list("created_at", flat=True)[0]
    since, until = (None if at is None else start + timedelta(seconds=at) for at in bounds)
    wanted = EventFilter(stages=stages, since=since, until=until)
    read: list[Any] = []
    from_db = CeAudit.from_db

    def note_row(*values: Any) -> CeAudit:
        read.append(values)
        return from_db(*values)

    monkeypatch.setattr(CeAudit, "from_db", note_row)

    with django_assert_max_num_queries(4):
        found = read_page(long_talk, wanted, None, 100)
    with django_assert_max_num_queries(4):
        last = read_page_before(long_talk, wanted, (1000, 0), 100)

    assert found.rows
    assert last.rows
    assert len(read) <= 2 * 7 * CeAudit.objects.filter(turn_no=1).count()


class SlowStep(Step):
    name = "Slow one|x"
    rank = 150

    def execute(self, session: Session, turn: Turn) -> Continue:
        sleep(0.002)
        return Continue(session)


class Meddling(StepHook):
    """Tells events of its own, fails, takes its time and changes params, here and there."""

    def before_step(self, step_name: str, session: Session, turn: Turn) -> Session:
        changes = step_name.startswith(("D", "PipelineEnd"))
        return session.evolve(input_params={**session.input_params, "by": step_name}) if changes else session

    def after_step(self, step_name: str, session: Session, turn: Turn, outcome: Outcome) -> Session:
        if step_name.startswith("R"):
            turn.audit(session, CONTEXT_TRIMMED, note=step_name)
        if step_name.startswith("M"):
            raise ValueError("no")
        if step_name.startswith("G"):
            sleep(0.002)
        return session


@pytest.mark.parametrize("text", ["hours", "my cvv", "fees"])
def test_with_steps_and_hooks_of_a_deployment_each_event_stays_in_its_step(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    CeResponse.objects.filter(intent_code="FEES").delete()
    engine = Engine(order_steps([*wiring.steps(), SlowStep()]), Hooks([Meddling()]))
    monkeypatch.setattr(wiring, "engine", lambda: engine)
    caller.say(text)

    shown = list(expand_events(events()))

    assert [event.row.seq for event in shown] == list(range(1, len(shown) + 1))
    assert any(follows(event.row) for event in shown)
    running: str | None = None
    for event in shown:
        if event.name == "STEP_ENTER":
            assert running is None
            running = event.payload["step"]
        assert running in (event.step, None)
        if event.name in ("STEP_EXIT", "STEP_ERROR"):
            assert event.payload["step"] == running
            running = None
    assert SlowStep.name in {event.step for event in shown}
    assert find_replay_difference(CeConversationHistory.objects.get()) is None


STEPS = [
    {"step": "RulesStep", "startedAtMs": 0.1, "durationMs": 2.5, "success": False},
    {"step": "Ask", "startedAtMs": 2.61, "durationMs": 0.29, "success": True},
]
SEEN = {"context": {"$folded": "context"}, "schemaJson": {"$folded": "schemaJson"}}
RULES_STEP = "convengine.engine.steps.rules.step.RulesStep"
EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("STEP_ENTER", {"step": "RulesStep", "stepClass": RULES_STEP}),
    ("STEP_ENTER", {"step": "AskStep", "stepClass": "helpdesk.steps.AskStep"}),
    (
        "STEP_EXIT",
        {"step": "RulesStep", "stepClass": RULES_STEP, "outcome": "Continue", "durationMs": 0},
    ),
    (
        "STEP_EXIT",
        {"step": "RulesStep", "stepClass": RULES_STEP, "outcome": "Stop", "durationMs": 7},
    ),
    ("STEP_ERROR", {"step": "RulesStep", "stepClass": RULES_STEP, "errorType": "KeyError"}),
    (
        "PIPELINE_TIMING",
        {**describe_steps(STEPS), "stepList": STEPS, "wallMs": 3.0, **NOBODY_ASKED, "status": "FAILED"},
    ),
    ("PIPELINE_TIMING", {"totalMs": 99, "steps": "as told", "stepList": STEPS}),
    ("RULE_MATCH (RulesStep)", {"ruleId": 1, **SEEN, **build_flags(RulePhase.PRE_RESPONSE_RESOLUTION, "RulesStep")}),
    (
        "RULE_MATCH (RulesStep)",
        {"ruleId": 1, **SEEN, "context": {"a": 1}, **build_flags(RulePhase.PRE_RESPONSE_RESOLUTION, "RulesStep")},
    ),
    ("RULE_NO_MATCH (X)", {**build_flags(RulePhase.POST_AGENT_INTENT, "X"), "ruleExecutionOrigin": "ELSEWHERE"}),
    (
        "RULE_NO_MATCH (X)",
        {
            "intent": "A", "state": "B", "evaluatedState": "B", "pass": 1, "candidates": [
                {"id": 1, "matched": False, "reason": "TYPE_CONDITION_NOT_MET", "operands": [
                    {"path": "$.a", "result": True}, {"path": "$.b", "result": False}]},
                {"id": 4, "matched": False, "reason": "TYPE_CONDITION_NOT_MET"},
                {"id": 2, "matched": False, "reason": "CONFIG_ROW_INVALID"}, {"id": 3, "matched": False},
            ],
            "key": {"phase": "POST_AGENT_INTENT", "intent": "A", "state": "B"},
            **build_flags(RulePhase.POST_AGENT_INTENT, "X"),
        },
    ),
    (
        "RULE_MATCH (X)",
        {
            "ruleId": 1, "intent": "A", "state": "B", "pass": 2, "candidates": [{"id": 1, "matched": True}], **SEEN,
            "key": {"phase": "POST_AGENT_INTENT", "intent": "A", "state": "BEFORE"},
            **build_flags(RulePhase.POST_AGENT_INTENT, "X"),
        },
    ),
    ("USER_INPUT", {"text": "hello"}),
    ("DECISION", {"kind": "RESPONSE", "winner": 7, "candidates": [{"id": 7, "matched": True}]}),
    ("DECISION", {"kind": "RESPONSE", "winner": 7, "candidates": [{"id": 6, "matched": False}]}),
    ("DECISION", {"kind": "POLICY", "winner": None, "candidates": []}),
    ("ASSISTANT_OUTPUT", {"output": "hello", "responseType": "EXACT", **SEEN}),
    ("ASSISTANT_OUTPUT", {"output": "no", "responseType": "POLICY"}),
    (
        "PIPELINE_TIMING",
        {"stepList": STEPS, **describe_steps(STEPS), "wallMs": 3.0, "llmMs": 7, "llmCalls": 2, "toolMs": 0},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("stage", "payload"), EVENTS)
def test_what_was_left_out_comes_back(stage: str, payload: dict[str, Any]) -> None:
    assert whole(stage, strip_implied(stage, payload)) == payload


@pytest.mark.parametrize(("stage", "payload"), EVENTS)
def test_what_was_stored_whole_stays_so(stage: str, payload: dict[str, Any]) -> None:
    assert whole(stage, payload) == payload


def test_a_built_in_step_that_went_on_at_once_says_its_name_only() -> None:
    assert strip_implied(*EVENTS[2]) == {"step": "RulesStep"}


def test_a_step_of_the_deployment_says_where_it_lives() -> None:
    assert strip_implied(*EVENTS[1]) == EVENTS[1][1]


def test_a_rule_says_its_phase_and_the_rest_follows() -> None:
    assert strip_implied(*EVENTS[7]) == {"ruleId": 1, "rulePhase": "PRE_RESPONSE_RESOLUTION"}


HEARD: list[AuditEvent] = []
hear = HEARD.append


@pytest.mark.django_db
def test_readers_see_every_event_as_it_was_told(settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "TRAIL_LISTENERS": ["tests.audit.record.test_elision.hear"]}
    HEARD.clear()
    create_help_desk()
    caller = Caller()
    caller.say("hours", inputParams={"vip": True})

    shown = [(event["stage"], plainly(event["payload"])) for event in caller.get().json()["results"]]

    assert len(shown) > 30
    assert shown == [(event.stage, plainly(to_plain(event.payload))) for event in HEARD]


def plainly(payload: dict[str, Any]) -> dict[str, Any]:
    """The payload without what is folded."""
    return {key: value for key, value in payload.items() if key not in {*FOLDED_KEYS, "_meta"}}


def test_steps_as_they_were_stored_once_are_read() -> None:
    stored = {"stepList": [["RulesStep", 0.1, 2.5, False]]}

    assert whole("PIPELINE_TIMING", stored)["stepList"] == STEPS[:1]


@pytest.mark.parametrize("name", ["My Step", "A|B", "é Ünï", "Step", "", "a.", "StepStep", "!"])
def test_any_name_of_a_step_comes_back(name: str) -> None:
    steps = [{"step": name, "startedAtMs": 0.0, "durationMs": 1.25, "success": False}, STEPS[0]]
    payload = {**describe_steps(steps), "stepList": steps}

    assert whole("PIPELINE_TIMING", to_plain(strip_implied("PIPELINE_TIMING", payload))) == payload
