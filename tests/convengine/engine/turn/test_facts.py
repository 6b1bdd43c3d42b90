from convengine.engine.turn.facts import audit_changed_facts
from convengine.engine.turn.payload import TextPayload
from tests.builders import make_session, make_turn, payload, stages


def test_code_that_changes_facts_says_so() -> None:
    turn, before = make_turn(), make_session(context={"a": 1, "old": 2})
    after = before.without_context("old").with_params({"vip": True}).evolve(state="DONE")

    audit_changed_facts(before, after, turn, by="Tags", kind="HOOK")

    assert payload(turn, "FACTS_CHANGED") == {
        "by": "Tags", "kind": "HOOK", "parameters": {"vip": True}, "removed": ["old"], "fields": {"state": "DONE"},
    }  # fmt: skip


def test_code_that_changes_the_answer_says_so() -> None:
    turn, before = make_turn(), make_session().evolve(payload=TextPayload("Hi"))

    audit_changed_facts(before, before.evolve(payload=TextPayload("Ho")), turn, by="Tags", kind="HOOK")

    assert payload(turn, "RESPONSE_TRANSFORMED") == {"by": "Tags", "kind": "HOOK", "before": "Hi", "after": "Ho"}
    assert stages(turn) == ["RESPONSE_TRANSFORMED"]


def test_code_that_changes_nothing_is_silent() -> None:
    turn, session = make_turn(), make_session(context={"a": 1})

    audit_changed_facts(session, session.with_params({}), turn, by="Tags", kind="HOOK")

    assert stages(turn) == []
