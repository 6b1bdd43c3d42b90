"""Put a world into an empty database: rows, state graph, and the initial conversation."""

import uuid
from collections.abc import Sequence

from django.db import transaction

from convengine.engine.turn.payload import TextPayload, to_document
from convengine.scenarios import tables
from convengine.scenarios.scenario import MAIN, Edge, Edit, Scenario, Start
from convengine.server.sessions.models import CeConversation, CeConversationHistory


def build(scenario: Scenario) -> dict[str, uuid.UUID]:
    """Store the world. Returns a new id for each conversation of the turns. Raises ScenarioFileError."""
    ids = {name: uuid.uuid4() for name in (MAIN, *(turn.conversation for turn in scenario.turns))}
    # One transaction, so that everything is in one release.
    with transaction.atomic():
        for table, rows in scenario.tables.items():
            tables.insert(table, rows)
        tables.insert("ce_state_graph", [_edge_row(edge) for edge in scenario.edges])
        if scenario.start:
            _begin(ids[MAIN], scenario.start)
    return ids


def edit(edits: Sequence[Edit]) -> None:
    """Change rows as in the admin. Raises ScenarioFileError."""
    for one in edits:
        if one.kind == "insert":
            tables.insert(one.table, [one.values])
        elif one.kind == "update":
            tables.update(one.table, one.where, one.values)
        else:
            tables.delete(one.table, one.where)


def _edge_row(edge: Edge) -> tables.Row:
    intent = {"intent_code": edge.intent} if edge.intent else {}
    return {"from_state": edge.start, "to_state": edge.end, **intent}


def _begin(key: uuid.UUID, start: Start) -> None:
    turns = len(start.history)
    row = CeConversation.objects.create(
        conversation_id=key, remote_jid=str(key), last_turn_no=turns, turn_count=turns, version=turns, **start.row
    )
    for number, (user, assistant) in enumerate(start.history, start=1):
        CeConversationHistory.objects.create(
            conversation=row,
            turn_no=number,
            user_input=user,
            assistant_output=to_document(TextPayload(assistant)),
            config_version=0,
            intent_code=row.intent_code,
            state_code=row.state_code,
        )
