import pytest

from convengine.engine.rules.listing import get_listing
from convengine.engine.rules.phase_events import Pass, Visit, build_flags
from convengine.engine.rules.verdict import NOT_MET, Verdict
from convengine.engine.turn.enums import RulePhase
from tests.builders import make_rule, make_snapshot

RULES = [make_rule(rule_id=n, rule_type="JSON_PATH", match_pattern="$.a") for n in (1, 2)]
PHASE = RulePhase.PRE_RESPONSE_RESOLUTION


def make_pass(*verdicts: Verdict, stopped: bool = False) -> Pass:
    tested = [Visit(index, RULES[index], verdict) for index, verdict in enumerate(verdicts)]
    return Pass(1, get_listing(make_snapshot(*RULES), PHASE, "X", "Y"), "X", "Y", tested, stopped)


HELD, FAILED = Verdict(True, None, ({"path": "$.a"},)), Verdict(False, NOT_MET, ({"path": "$.a"},))


@pytest.mark.parametrize(
    ("verdicts", "expected"), [((HELD, HELD), True), ((HELD, FAILED), False), ((HELD,), False), ((), False)]
)
def test_all_matched_means_every_rule_of_the_list(verdicts: tuple[Verdict, ...], expected: bool) -> None:
    assert make_pass(*verdicts).all_matched is expected


def test_a_pass_ends_behind_the_rule_that_stopped_it() -> None:
    assert make_pass(HELD, stopped=True).end == 1
    assert make_pass(HELD).end == 2


def test_what_a_match_compared_stands_in_its_own_event() -> None:
    held, failed = make_pass(HELD, FAILED).tested

    assert held.candidate.to_json() == {"id": 1, "matched": True}
    assert failed.candidate.to_json()["operands"] == [{"path": "$.a"}]


def test_the_agents_source_is_known_in_any_case() -> None:
    assert build_flags(PHASE, "x AGENTINTENTRESOLVER y")["ruleExecutionOrigin"] == "AGENT_INTENT_RESOLVER"
