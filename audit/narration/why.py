"""Why each row won or not: stored results, and results derived from the release."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from audit.record.events import Event
from convengine.engine.rules.explain import OUTRANKED, ExplainedRow, explain, find_row_fault
from convengine.engine.rules.verdict import ROW_INVALID
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DecisionKind
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json
from convengine.server.interfaces.configuration import configuration

#: Reasons of rows that matched, and did not win.
MATCHED = frozenset({"LOWER_PRIORITY", "LESS_SPECIFIC", "INTENT_COLLISION", "ALREADY_RUN", "AMBIGUOUS", OUTRANKED})
#: The table of each kind of decision.
_TABLES: Mapping[str, type[rows.Row]] = {
    DecisionKind.POLICY: rows.Policy,
    DecisionKind.CLASSIFIER: rows.Classifier,
    DecisionKind.SCHEMA: rows.OutputSchema,
    DecisionKind.TEMPLATE: rows.PromptTemplate,
    DecisionKind.RESPONSE: rows.Response,
    DecisionKind.CONTAINER: rows.ContainerConfig,
    DecisionKind.PENDING_ACTION: rows.PendingAction,
    DecisionKind.TOOL: rows.DirectTool,
    DecisionKind.RULE: rows.Rule,
}


@dataclass
class Decision:
    """One choice of a turn: a DECISION event, or one pass of a phase of rules."""

    kind: str
    event: Event
    payload: dict[str, Json]
    #: The source of the stage, and the number of the pass (rules only).
    source: str | None = None
    number: int | None = None
    winners: list[Json] = field(default_factory=list)


def explain_decisions(events: Sequence[Event], limit: int) -> dict[str, Json]:
    """The decisions of a turn, in order, each with every candidate row of the turn's release.

    At most `limit` rows per decision are listed, tested ones first; the others are counted by reason.
    """
    snapshot: Snapshot = configuration().at(events[0].row.config_version or 0)
    return {
        "configVersion": snapshot.config_version,
        "decisions": [explain_decision(decision, snapshot, limit) for decision in list_decisions(events)],
    }


def list_decisions(events: Sequence[Event]) -> Iterator[Decision]:
    """The decisions in a turn's events. The events of one pass of rules are one decision."""
    open_pass: Decision | None = None
    for event in events:
        if event.name in ("RULE_MATCH", "RULE_NO_MATCH"):
            source, number = event.row.stage.partition(" (")[2].rstrip(")"), event.payload.get("pass")
            if open_pass is None or (open_pass.source, open_pass.number) != (source, number):
                if open_pass:
                    yield open_pass
                open_pass = _new_pass(event, source, number)
            _add_event(open_pass, event)
            if "candidates" in event.payload and event.name == "RULE_NO_MATCH":
                yield open_pass
                open_pass = None
            continue
        if event.name == "DECISION":
            if open_pass:
                yield open_pass
                open_pass = None
            winner = event.payload.get("winner")
            yield Decision(event.payload["kind"], event, event.payload, winners=[winner] if winner is not None else [])
    if open_pass:
        yield open_pass


def _new_pass(event: Event, source: str, number: int | None) -> Decision:
    key = event.payload.get("key") or {
        "phase": event.payload.get("rulePhase"),
        "intent": event.payload.get("intent"),
        "state": event.payload.get("state"),
    }
    payload: dict[str, Json] = {"key": key, "candidates": [], "cut": {}}
    return Decision(DecisionKind.RULE.value, event, payload, source, number)


def _add_event(decision: Decision, event: Event) -> None:
    payload = event.payload
    if event.name == "RULE_MATCH":
        decision.winners.append(payload["ruleId"])
        decision.payload["candidates"] += payload.get("candidates") or [{"id": payload["ruleId"], "matched": True}]
    elif "candidates" in payload:
        stored = {candidate["id"] for candidate in decision.payload["candidates"]}
        decision.payload["candidates"] += [
            candidate for candidate in payload["candidates"] if candidate["id"] not in stored
        ]
        decision.payload["cut"] = payload.get("cut") or {}
        if "stoppedBy" in payload:
            decision.payload["stoppedBy"] = payload["stoppedBy"]
    elif "ruleId" in payload:
        # RulesStep/AUDIT_NO_MATCH = EACH: one event per rule that did not hold.
        decision.payload["candidates"].append(
            {
                "id": payload["ruleId"],
                "matched": False,
                "reason": payload.get("reason"),
                "operands": payload.get("operands") or [],
            }
        )


def explain_decision(decision: Decision, snapshot: Snapshot, limit: int) -> dict[str, Json]:
    """One decision with at most `limit` candidates, the others counted; with 0 no row is read."""
    row_type = _TABLES[decision.kind]
    text = decision.event.state.get("userText")
    if decision.payload["key"].get("queryRewritten"):
        text = decision.event.state.get("standaloneQuery")
    # The event names the winners; whatever else is known of a row agrees with that.
    winning = {str(winner) for winner in decision.winners}
    explained = [
        _call_winner(row) if str(row.row_id) in winning else _call_loser(row)
        for row in (explain(snapshot, decision.payload, text) if limit else [])
    ]
    tested = [row for row in explained if not row.derived]
    winners, losers = ([row for row in tested if row.matched is matched] for matched in (True, False))
    listed = [*winners, *losers, *islice((row for row in explained if row.derived), max(limit - len(tested), 0))][
        :limit
    ]
    rest = Counter(row.reason for row in explained) - Counter(row.reason for row in listed)
    return {
        "seq": decision.event.row.seq,
        "step": decision.event.step,
        "kind": decision.kind,
        "source": decision.source,
        "pass": decision.number,
        "table": row_type.table,
        "key": {key: value for key, value in decision.payload["key"].items() if key != "userText"},
        "winners": decision.winners,
        "cut": decision.payload.get("cut") or {},
        "candidates": [_build_candidate(row, snapshot, row_type) for row in listed],
        "omitted": dict(rest),
        "counts": {
            "chosen": len(winners),
            "matched": sum(row.reason in MATCHED for row in losers),
            "unmatched": sum(row.reason not in MATCHED for row in losers),
        },
    }


def _call_winner(row: ExplainedRow) -> ExplainedRow:
    return ExplainedRow(row.row_id, True, None, row.operands, derived=False)


def _call_loser(row: ExplainedRow) -> ExplainedRow:
    return replace(row, matched=False, reason=row.reason or OUTRANKED) if row.matched else row


def _build_candidate(explained: ExplainedRow, snapshot: Snapshot, row_type: type[rows.Row]) -> dict[str, Json]:
    row = snapshot.row(row_type, explained.row_id)
    fault = find_row_fault(snapshot, row) if row and explained.reason == ROW_INVALID else None
    return {
        "id": explained.row_id,
        "configVersion": snapshot.config_version,
        "description": getattr(row, "description", None),
        "matched": explained.matched,
        "reason": explained.reason,
        "operands": list(explained.operands),
        "derived": explained.derived,
        **({"fault": fault.to_json()} if fault else {}),
    }
