from typing import Any

import pytest

from audit.record.events import parse_entries, read_document
from audit.record.step_times import fold_steps, unfold_steps
from convengine.engine.turn.codec import dumps

STEP = {"step": "RulesStep", "stepClass": "convengine.rules.RulesStep"}


def make_event(seq: int, stage: str, payload: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"seq": seq, "stage": stage, "step": "RulesStep", "ms": seq * 2, "payload": payload or STEP, **more}


EXIT = {**STEP, "outcome": "Continue", "durationMs": 4}
TURN = [
    make_event(1, "STEP_ENTER", session={"intent": "LOAN"}),
    make_event(2, "STEP_EXIT", EXIT),
    make_event(3, "STEP_ENTER"),
    make_event(4, "RULE_APPLIED", {"ruleId": 7}),
    make_event(5, "STEP_EXIT", EXIT),
    make_event(6, "STEP_ENTER"),
    make_event(7, "STEP_EXIT", EXIT, changed={"set": {"/intent": "CARD"}}),
    make_event(8, "STEP_ENTER"),
    make_event(9, "STEP_ERROR"),
    make_event(10, "STEP_ENTER", {"step": "RulesStep", "stepClass": "***"}),
]


def test_steps_that_say_nothing_else_are_one_list_and_come_back_in_their_places() -> None:
    folded = fold_steps(TURN)

    assert folded[0]["steps"] == [
        [3, 6, "RulesStep", "convengine.rules", 5, 10, "Continue", 4],
        [6, 12, "RulesStep", "convengine.rules"],
        [8, 16, "RulesStep", "convengine.rules"],
    ]
    assert [entry["seq"] for entry in folded[1:]] == [1, 2, 4, 7, 9, 10]
    assert unfold_steps(folded) == TURN


def test_a_document_without_such_steps_is_as_it_was() -> None:
    others = [entry for entry in TURN if entry["stage"] == "RULE_APPLIED"]

    assert fold_steps(others) == others == unfold_steps(others)


def test_entries_that_were_swapped_stay_swapped() -> None:
    first, *others = fold_steps(TURN)
    others[1], others[2] = others[2], others[1]

    seqs = [entry["seq"] for entry in unfold_steps([first, *others])]

    assert seqs.index(4) < seqs.index(2)
    assert sorted(seqs) == list(range(1, 11))


@pytest.mark.parametrize(
    "steps", [None, {}, [1], [[1, 2]], [["3", 6, "RulesStep", "rules"]], [[3, 6, "A", "b", "5", 1, "C", 2]]]
)
def test_a_list_that_cannot_be_read_is_damage(steps: Any) -> None:
    text = dumps([{**fold_steps(TURN)[0], "steps": steps}, make_event(4, "RULE_APPLIED")])

    assert parse_entries(text)
    assert [entry["stage"] for entry in read_document(text)] == ["EVENTS_UNREADABLE", "RULE_APPLIED"]
