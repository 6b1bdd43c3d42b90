from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from convengine.domain import folding
from convengine.domain.session import Session

KEYS = st.text(alphabet="ab/~.", min_size=1, max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(alphabet="xy", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, max_size=4)


@given(DOCUMENTS, DOCUMENTS)
def test_a_change_applied_to_the_old_document_gives_the_new_one(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert folding.apply(old, folding.difference(old, new)) == new


@given(DOCUMENTS)
def test_equal_documents_have_no_change(document: dict[str, Any]) -> None:
    assert folding.difference(document, document) == {}


def test_null_and_absent_are_told_apart() -> None:
    assert folding.difference({"a": 1, "b": 1}, {"a": None}) == {"set": {"/a": None}, "unset": ["/b"]}


def test_true_and_one_are_told_apart() -> None:
    assert folding.difference({"a": 1}, {"a": True}) == {"set": {"/a": True}}


def test_the_session_can_be_had_back_from_the_document() -> None:
    session = Session("c", user_text="hi", intent="LOAN", context={"amount": 5})

    state = folding.apply(folding.empty(), folding.difference(folding.empty(), folding.document(session)))

    shown = folding.folded(state, "session")
    assert (shown["intent"], shown["userText"], shown["resolvedUserInput"]) == ("LOAN", "hi", "hi")
    assert shown["context"] == {"amount": 5}
    assert folding.folded(state, "inputParams") == {}


def test_only_watched_fields_can_make_a_difference() -> None:
    session = Session("c")

    told = session.evolve(intent="X")

    assert told.told_alike(told.evolve(step_infos=(1,)).evolve(payload=None))
    assert not told.told_alike(told.evolve(intent="Y"))
    assert not session.told_alike(Session("c"))


def test_what_the_context_or_the_turn_before_holds_is_not_repeated() -> None:
    session = Session(
        "c", input_params={"memory_recall": "x", "memory_session_summary": "y", "previousTurn": {}, "a": 1}
    )

    assert folding.document(session)["inputParams"] == {"a": 1}
