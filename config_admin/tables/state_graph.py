"""`ce_state_graph`: the allowed state moves of an intent."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.db import models

from config_admin.tables.base_model import ControlPlaneRow, index
from config_admin.tables.model_fields import CodeField, make_enabled_field, not_blank, note, priority
from config_admin.validation import common, relations
from config_admin.validation.columns import NaturalKey, Reference, declare_column
from config_admin.validation.draft import Draft, Finding, SaveChecks
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.scope import ANY, BUILT_IN_STATES

Edge = Draft[rows.StateEdge]
#: How many rules outside the graph are reported.
_MAX_REPORTED = 5


def _check_self_edge(draft: Edge) -> Iterator[Finding]:
    start, end = code(draft.row.from_state), code(draft.row.to_state)
    if start and start == end and start != ANY:
        yield draft.error(
            "EDGE_SELF", "to_state", "A conversation may always stay in its state, so this edge is not needed."
        )


def _get_edge_key(edge: rows.StateEdge) -> tuple[str, str, str]:
    return code(edge.intent_code), code(edge.from_state), code(edge.to_state)


_check_duplicates = common.make_unique_check(_get_edge_key, None, "This edge exists already (row {other.pk}).")


def _list_edges_with_draft(draft: Edge) -> list[rows.StateEdge]:
    """The graph of the draft's intent with the draft."""
    return [*draft.others(relations.list_edges(draft.snapshot, draft.row.intent_code)), draft.row]


def _check_reachability(draft: Edge) -> Iterator[Finding]:
    state = code(draft.row.from_state)
    if draft.row.enabled and state != ANY and state not in BUILT_IN_STATES:
        # An edge of every intent may follow an edge of any.
        everywhere = code(draft.row.intent_code) == ANY
        edges = draft.snapshot.enabled_rows(rows.StateEdge) if everywhere else _list_edges_with_draft(draft)
        if not relations.leads_to(edges, state):
            yield draft.warning("STATE_UNREACHABLE", "from_state", f"No edge of this graph leads to {state}.")


def _get_move_key(rule: Any) -> tuple[str, str]:
    return code(rule.action), code(rule.intent_code)


def _check_rules(draft: Edge) -> Iterator[Finding]:
    if not draft.row.enabled:
        return
    after = _list_edges_with_draft(draft)
    by_intent = draft.snapshot.index(rows.Rule, _get_move_key, relations.rank)
    rules = by_intent.get(("SET_STATE", code(draft.row.intent_code)), ())
    moves = ((rule.pk, code(rule.state_code), code(rule.action_value)) for rule in rules)
    outside = (move for move in moves if not relations.allows_move(after, *move[1:]))
    for pk, start, end in islice(outside, _MAX_REPORTED):
        text = f"Rule {pk} moves from {start} to {end}, which this graph does not allow."
        yield draft.warning("RULE_OUTSIDE_GRAPH", None, text)


class CeStateGraph(ControlPlaneRow):
    """One allowed move. An intent without edges allows every move."""

    save_checks = SaveChecks(form=(_check_self_edge, _check_duplicates), fit=(_check_reachability, _check_rules))
    natural_key = NaturalKey(("intent_code", "from_state", "to_state"), is_unique=True)

    edge_id = models.BigAutoField("id", primary_key=True)
    intent_code = declare_column(
        CodeField(
            "intent",
            default="ANY",
            db_default="ANY",
            help_text="The intent of this state graph, or ANY for all intents.",
        ),
        reference=Reference.INTENT,
        reserved=(ANY,),
    )
    from_state = declare_column(
        CodeField("from state", help_text="A state, or ANY for every state."),
        reference=Reference.STATE,
        reserved=(ANY,),
    )
    to_state = declare_column(
        CodeField("to state", help_text="A state, or ANY for every target state."),
        reference=Reference.STATE,
        reserved=(ANY,),
    )
    priority = priority(help_text="Only the order of display.")
    enabled = make_enabled_field()
    description = note()

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_state_graph"
        verbose_name = "state graph edge"
        indexes = [index("ce_state_graph_from", "enabled", "intent_code", "from_state")]
        constraints = [
            *not_blank("intent_code", "from_state", "to_state"),
            models.UniqueConstraint(
                fields=["intent_code", "from_state", "to_state"],
                name="ce_state_graph_unique",
                violation_error_code="DUPLICATE",
                violation_error_message="This edge already exists.",
            ),
        ]
