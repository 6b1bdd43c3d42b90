"""The events of a phase of rules: RULE_MATCH, RULE_APPLIED, RULE_ERROR, RULE_NO_MATCH."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from convengine.engine.rules import vocabulary
from convengine.engine.rules.actions.contract import ActionFailed, ActionValueError, UnknownAction
from convengine.engine.rules.listing import Listing, tests_user_text
from convengine.engine.rules.settings import AUDIT_NO_MATCH
from convengine.engine.rules.stages import RULE_APPLIED, RULE_ERROR, RULE_MATCH, RULE_NO_MATCH, RULE_PASS_CAP_REACHED
from convengine.engine.rules.verdict import NOT_MET, PATTERN, ROW_INVALID, STOPPED, Verdict
from convengine.engine.text.compare import shorten
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.fault import Fault
from convengine.engine.turn.rows import OutputSchema, Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.trail import FOLDED
from convengine.engine.turn.turn import Candidate, Turn
from convengine.json_value import Json

_AGENT = "agentintentresolver"
_MESSAGE_SHOWN = 1000


class Visit(NamedTuple):
    """A tested rule and its result."""

    position: int
    rule: Rule
    verdict: Verdict

    @property
    def candidate(self) -> Candidate:
        """Its entry in the event of the pass; the comparisons of a match are in its own event."""
        operands = () if self.verdict.matched else self.verdict.operands
        return Candidate(self.rule.rule_id, self.verdict.matched, self.verdict.reason, operands)


@dataclass
class Pass:
    """One pass: the list at the start, and the tested rules."""

    number: int
    listing: Listing
    intent: str | None
    state: str | None
    tested: list[Visit] = field(default_factory=list)
    #: True when a match ended the list; it is the last tested rule.
    stopped: bool = False
    #: Rules that were skipped, with the more specific rule or form that decided about the intent or state before.
    overridden: dict[int, Rule | OutputSchema] = field(default_factory=dict)

    @property
    def end(self) -> int:
        """The index up to which the list was tested."""
        return self.tested[-1].position + 1 if self.stopped else len(self.listing)

    @property
    def all_matched(self) -> bool:
        are_all_tested = bool(self.listing) and len(self.tested) == len(self.listing)
        return are_all_tested and all(tested.verdict.matched for tested in self.tested)


@lru_cache(maxsize=1024)
def build_flags(phase: RulePhase, source: str) -> Mapping[str, Json]:
    """The keys of every rule stage."""
    return {
        "ruleExecutionSource": source,
        "ruleExecutionOrigin": "AGENT_INTENT_RESOLVER" if _AGENT in source.lower() else "RULES_STEP",
        "rulePhase": phase.value,
        "ruleAgentPostIntent": phase == RulePhase.POST_AGENT_INTENT,
        "ruleAgentPostMcp": phase == RulePhase.POST_AGENT_MCP,
        "ruleToolPostExecution": phase == RulePhase.POST_TOOL_EXECUTION,
    }


class PhaseEvents:
    """Writes the stages of one phase."""

    def __init__(self, phase: RulePhase, source: str, turn: Turn) -> None:
        self._phase = phase
        self._source = source
        self._turn = turn
        self.flags = build_flags(phase, source)

    def _audit(self, session: Session, stage: Stage, payload: Mapping[str, Json]) -> None:
        self._turn.trail.add(session, stage, {**payload, **self.flags}, self._source)

    def match(self, session: Session, rule: Rule, verdict: Verdict, done: Pass) -> None:
        payload = {
            "ruleId": rule.rule_id,
            "action": rule.action,
            "ruleType": rule.rule_type,
            "ruleStateCode": rule.state_code,
            "intent": session.intent,
            "state": session.state,
            "context": FOLDED,
            "schemaJson": FOLDED,
            "pass": done.number,
            "key": {"phase": self._phase.value, "intent": done.intent, "state": done.state},
            "candidates": [Candidate(rule.rule_id, True, None, verdict.operands).to_json()],
        }
        self._audit(session, RULE_MATCH, payload)

    def audit_action_done(self, session: Session, rule: Rule) -> None:
        payload = {
            "ruleId": rule.rule_id,
            "intent": session.intent,
            "type": rule.rule_type,
            "ruleStateCode": rule.state_code,
            "pattern": rule.match_pattern,
            "action": rule.action,
            "actionValue": _parse_json(rule.action_value),
        }
        self._audit(session, RULE_APPLIED, payload)

    def error(self, session: Session, rule: Rule, error: ActionValueError | ActionFailed) -> None:
        payload = {
            "ruleId": rule.rule_id,
            "action": rule.action,
            "errorType": error.error_type,
            "errorMessage": shorten(error.message, _MESSAGE_SHOWN),
        }
        if isinstance(error, ActionValueError):
            action = vocabulary.get_action(rule.action)
            remedy = error.remedy or (f"{rule.action} takes {action.value}." if action else "")
            payload["errorCode"] = error.code
            payload |= Fault(error.message, "action_value", rule.action_value, remedy).to_details()
        elif isinstance(error, UnknownAction):
            payload |= Fault(error.message, "action", rule.action, error.remedy).to_details()
        self._audit(session, RULE_ERROR, payload)

    def audit_pass_limit(self, session: Session, passes: int) -> None:
        """Record that the last pass that is allowed still changed intent or state."""
        payload = {**session.where, "passes": passes}
        self._audit(session, RULE_PASS_CAP_REACHED, payload)

    def audit_no_match(self, session: Session, done: Pass) -> None:
        """Record the rules of a pass that did not hold: one event, one for each, or none (RulesStep/AUDIT_NO_MATCH)."""
        mode = self._turn.config(session, AUDIT_NO_MATCH)
        if mode == "OFF" or done.all_matched:
            return
        if mode == "EACH" and len(done.listing):
            self._audit_each(session, done)
        else:
            for visit in done.tested:
                if visit.rule.rule_id in done.overridden:
                    self._audit_rule(session, done, visit.rule, visit.verdict)
            self._audit_summary(session, done)

    def _audit_summary(self, session: Session, done: Pass) -> None:
        """Write one event for the pass: the tested rules, and how many others there are, by reason."""
        listing, hits = done.listing, sum(tests_user_text(tested.rule) for tested in done.tested)
        cut = {
            **listing.cuts,
            ROW_INVALID: listing.cuts[ROW_INVALID] + sum(index < done.end for index, _, _ in listing.invalid()),
            PATTERN: listing.texts_before(done.end) - hits,
            STOPPED: len(listing) - done.end,
        }
        payload: dict[str, Json] = {
            "intent": done.intent,
            "state": done.state,
            "evaluatedState": session.state,
            "pass": done.number,
            "key": {
                "phase": self._phase.value,
                "intent": done.intent,
                "state": done.state,
                "userText": session.user_text,
            },
            "candidates": [tested.candidate.to_json() for tested in done.tested],
            "cut": {reason: count for reason, count in cut.items() if count},
        }
        if done.stopped:
            payload["stoppedBy"] = done.tested[-1].rule.rule_id
        self._audit(session, RULE_NO_MATCH, payload)

    def _audit_each(self, session: Session, done: Pass) -> None:
        """Write one event for each rule of the list that did not hold or was not tested."""
        tested = {visit.position: visit.verdict for visit in done.tested}
        invalid = {index for index, _, _ in done.listing.invalid()}
        for index, rule in enumerate(done.listing):
            verdict = tested.get(index)
            if verdict and verdict.matched:
                continue
            reason = STOPPED if index >= done.end else ROW_INVALID if index in invalid else NOT_MET
            self._audit_rule(session, done, rule, verdict or Verdict(False, reason), default=reason)

    def _audit_rule(
        self, session: Session, done: Pass, rule: Rule, verdict: Verdict, *, default: str | None = None
    ) -> None:
        """Write the event of one rule that did not hold. `default`: the reason if the verdict has none."""
        payload = {
            "ruleId": rule.rule_id,
            "type": rule.rule_type,
            "ruleStateCode": rule.state_code,
            "pattern": rule.match_pattern,
            "action": rule.action,
            "intent": done.intent,
            "state": done.state,
            "evaluatedState": session.state,
            "reason": verdict.reason or default,
            "ruleDbPhase": rule.phase,
            "pass": done.number,
            "operands": list(verdict.operands),
        }
        if protector := done.overridden.get(rule.rule_id):
            payload["overriddenBy" if isinstance(protector, Rule) else "overriddenBySchema"] = protector.pk
        self._audit(session, RULE_NO_MATCH, payload)


def _parse_json(value: str | None) -> Json:
    text = (value or "").strip()
    if text[:1] not in ("{", "["):
        return value
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return value
