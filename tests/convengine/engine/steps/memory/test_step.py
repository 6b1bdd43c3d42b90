from typing import Any

from convengine.engine.steps.memory.step import MemoryStep
from convengine.engine.turn.payload import TextPayload
from convengine.engine.turn.ports import MemoryAnswer, StoreFault
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import make_config, make_session, make_snapshot, make_turn, payload, stages
from tests.fakes.ports import FixedMemory


def run(*rows: Any, memory: FixedMemory | None = None, **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(*rows), memory=memory, conversation={"turn_count": 4})
    session = make_session(
        **{"intent": "A", "state": "B", "user_text": "hi", "payload": TextPayload("yo"), **fields},
    )
    return MemoryStep().execute(session, turn).session, turn


def test_the_summary_is_in_the_context_and_the_params_and_with_the_stores() -> None:
    memory = FixedMemory(MemoryAnswer(stores=("notes",)))

    session, turn = run(memory=memory)

    summary = "intent=A, state=B, user=hi, response=yo"
    assert session.context == {"memory": {"session_summary": summary}}
    assert session.input_params == {"memory_session_summary": summary}
    assert memory.written == [summary]
    assert payload(turn, "MEMORY_UPDATED") == {
        "summaryChars": len(summary), "recalled": False, "stores": ["ce_memory", "notes"], "intent": "A", "state": "B",
    }  # fmt: skip


def test_P2_10_2_V1_switched_off_nothing_is_kept_and_nothing_told() -> None:
    memory = FixedMemory()

    session, turn = run(make_config("MemoryStep/ENABLED", "false"), memory=memory, context={"a": 1})

    assert (session.context, session.input_params) == ({"a": 1}, {})
    assert (stages(turn), memory.written) == ([], [])


def test_the_context_summary_is_made_either_way() -> None:
    on, _ = run()
    off, _ = run(make_config("MemoryStep/ENABLED", "false"))

    assert on.context_summary == off.context_summary
    assert on.context_summary.endswith("\nTURNS: 5")


def test_the_settings_bound_the_summary() -> None:
    session, turn = run(make_config("MemoryStep/SUMMARY_MAX_CHARS", "100"), user_text="x" * 500)

    assert len(session.input_params["memory_session_summary"]) == 100
    assert payload(turn, "MEMORY_UPDATED")["summaryChars"] == 100


def test_a_store_that_cannot_be_written_is_told() -> None:
    memory = FixedMemory(MemoryAnswer(faults=(StoreFault("notes", "OSError", "full"),)))

    _, turn = run(memory=memory)

    assert stages(turn) == ["MEMORY_STORE_ERROR", "MEMORY_UPDATED"]
    assert payload(turn, "MEMORY_STORE_ERROR")["operation"] == "write"


def test_that_something_was_recalled_is_told() -> None:
    _, turn = run(input_params={"memory_recall": "x"})

    assert payload(turn, "MEMORY_UPDATED")["recalled"] is True
