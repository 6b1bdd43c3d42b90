from convengine.engine.steps.conversation.cache_inspect_audit import CacheInspectAuditStep
from convengine.engine.turn.session import Session
from tests.builders import CONVERSATION, make_config, make_intent, make_snapshot, make_turn, payload

ON = make_config("AUDIT/CACHE_INSPECTOR", "true")


def test_CIA_V1_switched_off_it_takes_no_part() -> None:
    assert not CacheInspectAuditStep().active(Session(CONVERSATION), make_turn())


def test_CIA_V2_switched_on_it_shows_the_conversation_as_stored() -> None:
    turn = make_turn(make_snapshot(ON, make_intent("LOAN"), version=9))
    step, session = CacheInspectAuditStep(), Session(CONVERSATION)

    assert step.active(session, turn)
    step.execute(session, turn)

    inspected = payload(turn, "CACHE_INSPECTION")
    assert inspected["cache_snapshot"]["intent_code"] == "UNKNOWN"
    assert inspected["config_version"] == 9
    assert inspected["config_tables"]["ce_intent"] == 1
