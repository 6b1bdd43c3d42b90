"""Every key of `expect`: how it is written, and where a turn misses it (scenario format 6)."""

from collections.abc import Iterator, Mapping
from typing import Any

from convengine.scenarios import answer, calls, record
from convengine.scenarios.happened import Happened
from convengine.scenarios.judging import Expectation, Miss, by_name, by_path, value
from convengine.scenarios.reading import Node
from convengine.scenarios.tables import columns_of, models_of_worlds
from convengine.scenarios.wording import known

Json = Any


def read(node: Node) -> Mapping[str, Json]:
    """The checked expectations of a turn. Raises ScenarioFileError."""
    given = node.fields((), EXPECTATIONS)
    found = {key: EXPECTATIONS[key].read(inner) for key, inner in given.nodes.items()}
    # What holds unless a turn says otherwise; an expected error speaks for itself.
    return {"success": "error" not in found, "http_status": 200, **found}


def misses(expect: Mapping[str, Json], happened: Happened) -> Iterator[Miss]:
    """Everything that does not hold, in the order of the vocabulary."""
    for key, expectation in EXPECTATIONS.items():
        if key in expect:
            for miss in expectation.misses(expect[key], happened):
                yield Miss(f"expect.{key}{miss.where}", miss.expected, miss.got)


def _read_persisted(node: Node) -> Json:
    columns = columns_of(models_of_worlds()["ce_conversation"])
    for name, inner in node.entries().items():
        if name not in columns:
            raise inner.error(known(name, columns, "column of ce_conversation"))
    return node.matchers()


#: Every key, in the order in which a turn is judged: the answer first, then what led to it.
EXPECTATIONS: Mapping[str, Expectation] = {
    "http_status": Expectation(Node.matcher, value(lambda turn: turn.status)),
    "success": Expectation(Node.flag, value(lambda turn: turn.body.get("success"))),
    "error": answer.ERROR,
    "intent": Expectation(Node.matcher, value(lambda turn: turn.body.get("intent"))),
    "state": Expectation(Node.matcher, value(lambda turn: turn.body.get("state"))),
    "response": answer.RESPONSE,
    "decision": Expectation(Node.matcher, value(lambda turn: turn.body.get("decision"))),
    "reason": Expectation(Node.matcher, value(lambda turn: turn.body.get("reason"))),
    "lifecycle": Expectation(Node.matcher, value(lambda turn: (turn.conversation or {}).get("lifecycle"))),
    "session": Expectation(Node.path_matchers, lambda wanted, turn: by_path(wanted, turn.body.get("session"))),
    "context": Expectation(Node.path_matchers, lambda wanted, turn: by_path(wanted, turn.body.get("context"))),
    "input_params": Expectation(Node.matchers, by_name(lambda turn: turn.input_params)),
    "persisted": Expectation(_read_persisted, by_name(lambda turn: turn.conversation)),
    "llm_calls": calls.LLM_CALLS,
    "task_calls": calls.TASK_CALLS,
    "tool_calls": calls.TOOL_CALLS,
    "audit_stages_in_order": record.STAGES_IN_ORDER,
    "audit_stages_absent": record.STAGES_ABSENT,
    "audit_any_of": record.ANY_OF,
    "audit_counts": record.COUNTS,
    "audit_meta_absent": record.META_ABSENT,
    "trace_steps_in_order": record.STEPS_IN_ORDER,
    "trace_steps_absent": record.STEPS_ABSENT,
    "verbose": calls.VERBOSE,
}
