"""`LangGraph`: a turn as seven plain nodes without a model, saved by its PostgreSQL checkpointer.

Runs on the Python of an environment that has LangGraph: as a script it makes the tables, and granian serves it as a
plain Django view like `base`. Each thread has a checkpointer and a connection of its own, since the turns of one
checkpointer wait for each other.
"""

import json
import os
import threading
from collections.abc import Callable
from typing import Any, TypedDict

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, JsonResponse
from django.urls import path
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import START, StateGraph
from psycopg import Connection
from psycopg.rows import dict_row

from bench.rivals.tables import ANSWER, CONTEXT

TOPICS = {"parcel": "DELIVERY", "back": "RETURNS", "opening hours": "OPENING_HOURS", "warranty": "WARRANTY"}
_thread = threading.local()
settings.configure(SECRET_KEY="bench", ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF=__name__)
django.setup()


class State(TypedDict, total=False):
    message: str
    text: str
    intent: str
    state: str
    context: dict[str, Any]
    answer: dict[str, Any]
    turn_no: int


NODES: dict[str, Callable[[State], State]] = {
    "normalize": lambda state: {"text": " ".join(state["message"].lower().split())},
    "classify": lambda state: {"intent": next((TOPICS[word] for word in TOPICS if word in state["text"]), "UNKNOWN")},
    "choose_state": lambda state: {"state": "UNKNOWN" if state["intent"] == "UNKNOWN" else "IDLE"},
    "apply_rules": lambda state: {"context": {**CONTEXT, "topic": state["intent"]}},
    "choose_answer": lambda _: {"answer": ANSWER},
    "check_answer": lambda state: {"answer": {**state["answer"], "intent": state["intent"]}},
    "count_turn": lambda state: {"turn_no": state.get("turn_no", 0) + 1},
}


def connect() -> PostgresSaver:
    url = os.environ["DATABASE_URL"]
    return PostgresSaver(Connection.connect(url, autocommit=True, prepare_threshold=0, row_factory=dict_row))


def compile_graph() -> Any:
    graph = StateGraph(State)
    graph.add_sequence(list(NODES.items()))
    graph.add_edge(START, next(iter(NODES)))
    return graph.compile(checkpointer=connect())


def turn(request: HttpRequest) -> JsonResponse:
    given = json.loads(request.body)
    if not hasattr(_thread, "graph"):
        _thread.graph = compile_graph()
    config = {"configurable": {"thread_id": given["conversationId"]}}
    state = _thread.graph.invoke({"message": given["message"]}, config, durability=os.environ["DURABILITY"])
    answer = {"turnNo": state["turn_no"], "payload": state["answer"], "context": state["context"]}
    return JsonResponse({"success": True, **answer})


urlpatterns = [path("turn", turn)]
application = WSGIHandler()

if __name__ == "__main__":
    connect().setup()
