"""What a phase of rules leaves in the trail: RULE_MATCH, RULE_APPLIED, RULE_ERROR, RULE_NO_MATCH (pipeline-2 7.5)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from convengine.domain.catalogue.rules import AUDIT_NO_MATCH
from convengine.domain.enums import RulePhase
from convengine.domain.fault import Fault
from convengine.domain.rows import Rule
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import excerpt
from convengine.domain.trail import FOLDED
from convengine.domain.turn import Candidate, Turn
from convengine.rules import cuts, vocabulary
from convengine.rules.actions.contract import ActionFailed, ActionValueError, UnknownAction
from convengine.rules.listing import Listing, by_user_text
from convengine.rules.verdict import NOT_MET, ROW_INVALID, Verdict

Json = Any
_AGENT = "agentintentresolver"
_MESSAGE_SHOWN = 1000


class Visit(NamedTuple):
    """A rule that was tested, and what came out."""

    place: int
    rule: Rule
    verdict: Verdict

    @property
    def candidate(self) -> Candidate:
        """As it stands in the event of the pass; what a match compared is in its own event."""
        operands = () if self.verdict.matched else self.verdict.operands
        return Candidate(self.rule.rule_id, self.verdict.matched, self.verdict.reason, operands)


@dataclass
class Pass:
    """One pass: the list as it was at the start, and what was tested of it."""

    number: int
    listing: Listing
    intent: str | None
    state: str | None
    tested: list[Visit] = field(default_factory=list)
    #: True when a match ended the list; the last rule tested is the one.
    stopped: bool = False

    @property
    def end(self) -> int:
        """The place up to which the list was gone through."""
        return self.tested[-1].place + 1 if self.stopped else len(self.listing)

    @property
    def all_matched(self) -> bool:
        """True when there were rules and each of them held."""
        return len(self.tested) == len(self.listing) > 0 and all(tested.verdict.matched for tested in self.tested)


@lru_cache(maxsize=1024)
def flags(phase: RulePhase, source: str) -> Mapping[str, Json]:
    """The keys that every rule stage carries."""
    return {
        "ruleExecutionSource": source,
        "ruleExecutionOrigin": "AGENT_INTENT_RESOLVER" if _AGENT in source.lower() else "RULES_STEP",
        "rulePhase": phase.value,
        "ruleAgentPostIntent": phase == RulePhase.POST_AGENT_INTENT,
        "ruleAgentPostMcp": phase == RulePhase.POST_AGENT_MCP,
        "ruleToolPostExecution": phase == RulePhase.POST_TOOL_EXECUTION,
    }


class Teller:
    """Writes the stages of one phase run."""

    def __init__(self, phase: RulePhase, source: str, turn: Turn) -> None:
        self._phase = phase
        self._source = source
        self._turn = turn
        self.flags = flags(phase, source)

    def _audit(self, session: Session, stage: Stage, payload: Mapping[str, Json]) -> None:
        self._turn.trail.add(session, stage, {**payload, **self.flags}, self._source)

    def match(self, session: Session, rule: Rule, verdict: Verdict, done: Pass) -> None:
        """A rule holds."""
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
            "candidates": [Candidate(rule.rule_id, True, None, verdict.operands).stored()],
        }
        self._audit(session, Stage.RULE_MATCH, payload)

    def applied(self, session: Session, rule: Rule) -> None:
        """Its action is done."""
        payload = {
            "ruleId": rule.rule_id,
            "intent": session.intent,
            "type": rule.rule_type,
            "ruleStateCode": rule.state_code,
            "pattern": rule.match_pattern,
            "action": rule.action,
            "actionValue": _as_json(rule.action_value),
        }
        self._audit(session, Stage.RULE_APPLIED, payload)

    def error(self, session: Session, rule: Rule, error: ActionValueError | ActionFailed) -> None:
        """Its action could not be done."""
        payload = {
            "ruleId": rule.rule_id,
            "action": rule.action,
            "errorType": error.error_type,
            "errorMessage": excerpt(error.message, _MESSAGE_SHOWN),
        }
        if isinstance(error, ActionValueError):
            payload["errorCode"] = error.code
            payload |= Fault(error.message, "action_value", rule.action_value, error.remedy or _remedy(rule)).named()
        elif isinstance(error, UnknownAction):
            payload |= Fault(error.message, "action", rule.action, error.remedy).named()
        self._audit(session, Stage.RULE_ERROR, payload)

    def cap_reached(self, session: Session, passes: int) -> None:
        """The rules would go on changing intent or state."""
        payload = {"intent": session.intent, "state": session.state, "passes": passes}
        self._audit(session, Stage.RULE_PASS_CAP_REACHED, payload)

    def no_match(self, session: Session, done: Pass) -> None:
        """The rules of a pass that did not hold: one event, or one for each, or none (RulesStep/AUDIT_NO_MATCH)."""
        mode = self._turn.config(session, AUDIT_NO_MATCH)
        if mode == "OFF" or done.all_matched:
            return
        if mode == "EACH" and len(done.listing):
            self._each(session, done)
        else:
            self._summary(session, done)

    def _summary(self, session: Session, done: Pass) -> None:
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
            "candidates": [tested.candidate.stored() for tested in done.tested],
            "cut": {reason: count for reason, count in self._cut(done).items() if count},
        }
        if done.stopped:
            payload["stoppedBy"] = done.tested[-1].rule.rule_id
        self._audit(session, Stage.RULE_NO_MATCH, payload)

    def _cut(self, done: Pass) -> Mapping[str, int]:
        hits = sum(by_user_text(tested.rule) for tested in done.tested)
        return {
            **done.listing.cuts,
            ROW_INVALID: done.listing.cuts[ROW_INVALID]
            + sum(place < done.end for place, _, _ in done.listing.invalid()),
            cuts.PATTERN: done.listing.texts_before(done.end) - hits,
            cuts.STOPPED: len(done.listing) - done.end,
        }

    def _each(self, session: Session, done: Pass) -> None:
        tested = {one.place: one.verdict for one in done.tested}
        invalid = {place for place, _, _ in done.listing.invalid()}
        for place, rule in enumerate(done.listing):
            verdict = tested.get(place)
            if verdict and verdict.matched:
                continue
            reason = cuts.STOPPED if place >= done.end else ROW_INVALID if place in invalid else NOT_MET
            payload = {
                "ruleId": rule.rule_id,
                "type": rule.rule_type,
                "ruleStateCode": rule.state_code,
                "pattern": rule.match_pattern,
                "action": rule.action,
                "intent": done.intent,
                "state": done.state,
                "evaluatedState": session.state,
                "reason": (verdict.reason if verdict else None) or reason,
                "ruleDbPhase": rule.phase,
                "pass": done.number,
                "operands": list(verdict.operands) if verdict else [],
            }
            self._audit(session, Stage.RULE_NO_MATCH, payload)


def _remedy(rule: Rule) -> str:
    """What the action wants as its value."""
    action = vocabulary.action(rule.action)
    return f"{rule.action} takes {action.value}." if action else ""


def _as_json(value: str | None) -> Json:
    """The value as JSON where it is JSON, else as it is."""
    text = (value or "").strip()
    if text[:1] not in ("{", "["):
        return value
    try:
        return json.loads(text)
    except ValueError:
        return value
