from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from audit.record import session_state as folding
from convengine.engine.turn.session import Clarification, Session

KEYS = st.text(alphabet="ab/~.", min_size=1, max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(alphabet="xy", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, max_size=4)


def diff(old: dict[str, Any], new: dict[str, Any]) -> folding.Change:
    return folding.diff_sessions(Session("c", context=old), Session("c", context=new))


def test_null_and_absent_are_told_apart() -> None:
    assert diff({"a": 1, "b": 1}, {"a": None}) == {"set": {"/context/a": None}, "unset": ["/context/b"]}


def test_true_and_one_are_told_apart() -> None:
    assert diff({"a": 1}, {"a": True}) == {"set": {"/context/a": True}}


def test_the_session_can_be_had_back_from_the_document() -> None:
    session = Session("c", user_text="hi", intent="LOAN", context={"amount": 5})

    state = folding.apply_change(folding.build_empty_document(), folding.diff_sessions(None, session))

    shown = folding.read_folded(state, "session")
    assert (shown["intent"], shown["userText"], shown["resolvedUserInput"]) == ("LOAN", "hi", "hi")
    assert shown["context"] == {"amount": 5}
    assert folding.read_folded(state, "inputParams") == {}


def test_only_watched_fields_can_make_a_difference() -> None:
    session = Session("c")

    told = session.evolve(intent="X")

    assert told.has_same_state(told.evolve(steps=(1,)).evolve(payload=None))
    assert not told.has_same_state(told.evolve(intent="Y"))
    assert not session.has_same_state(Session("c"))


def test_what_the_context_or_the_turn_before_holds_is_not_repeated() -> None:
    params = {"memory_recall": "x", "memory_session_summary": "y", "previousTurn": {}, "a": 1}
    session = Session("c").with_params(params)

    assert folding.build_document(session)["inputParams"] == {"a": 1}


SESSIONS = st.builds(
    lambda input_params, **fields: Session("c", **fields).with_params(input_params),
    intent=st.sampled_from(["UNKNOWN", "LOAN"]),
    user_text=st.none() | st.just("hi"),
    context=DOCUMENTS,
    input_params=st.dictionaries(KEYS | st.sampled_from(["memory_recall", "session"]), VALUES, max_size=4),
    missing_required_fields=st.lists(st.sampled_from("ab"), max_size=2).map(tuple),
    clarification=st.none() | st.just(Clarification("Which?", "TWO")),
    last_llm_output=st.none() | st.just({"a": 1}) | st.just("text"),
    steps=st.just(()) | st.just((1,)),
)


@given(SESSIONS, SESSIONS)
def test_changes_between_sessions_fold_to_the_document_of_the_later(old: Session, new: Session) -> None:
    before = folding.apply_change(folding.build_empty_document(), folding.diff_sessions(None, old))

    assert before == folding.build_document(old)
    assert folding.apply_change(before, folding.diff_sessions(old, new)) == folding.build_document(new)
    assert folding.diff_sessions(new, new) == {}


@given(st.lists(DOCUMENTS, min_size=2, max_size=5))
def test_changes_that_are_merged_one_by_one_lead_to_the_last_document(documents: list[dict[str, Any]]) -> None:
    merged: folding.Change = {}
    for old, new in pairwise(documents):
        merged = folding.merge_changes(merged, folding.diff_documents(old, new))
    assert folding.apply_change(documents[0], merged) == documents[-1]


def test_a_value_that_was_removed_from_what_is_replaced_later_is_there_again() -> None:
    documents = [{"a": {"b": 1, "c": 1}}, {"a": {"c": 1}}, {"a": "text"}, {"a": {"b": 5}}]
    merged: folding.Change = {}
    for old, new in pairwise(documents):
        merged = folding.merge_changes(merged, folding.diff_documents(old, new))
    assert folding.apply_change(documents[0], merged) == {"a": {"b": 5}}


def test_changes_of_one_part_tell_that_part_only() -> None:
    old = Session("c", context={"b": {"c": 1, "d": 2}}).with_params({"a": 1, "memory_recall": "x"})
    new = old.with_params({"z": 2}).evolve(context={"b": {"c": 3, "d": 2}})

    assert folding.diff_sessions(old, new) == {"set": {"/inputParams/z": 2, "/context/b/c": 3}}
