"""Clauses that no table explains are the moves that they mean; those that look like questions ask or wish."""

import pytest

from convengine.engine.turn.ports import UnrecordedDecisions
from convengine.engine.understanding.clauses import Force
from convengine.engine.understanding.field import field_spec
from convengine.engine.understanding.finders import FINDERS
from convengine.engine.understanding.language import get_tables
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.principles import Principle, switch_off
from convengine.engine.understanding.understand import Understanding, add_learned_moves, understand

SPECS = [field_spec("day", {"type": "string", "format": "date"}), field_spec("guests", {"type": "integer"})]


def read(text: str, locale: str = "en-GB") -> Understanding:
    return add_learned_moves(understand(text, get_tables(locale), FINDERS, SPECS, learned=UnrecordedDecisions()))


def list_kinds(text: str, locale: str = "en-GB") -> set[MoveKind]:
    return {move.kind for move in read(text, locale).moves}


@pytest.mark.parametrize(
    ("text", "locale", "kind"),
    [
        ("we are very pleased with all of it", "en-GB", MoveKind.AFFIRM),
        ("I would never accept such terms", "en-GB", MoveKind.NEGATE),
        ("I'd much prefer chatting to one of your workers", "en-GB", MoveKind.PERSON),
        ("let's give up on the entire thing", "en-GB", MoveKind.LEAVE),
        ("your kindness means a lot to me", "en-GB", MoveKind.THANK),
        ("that question went over my head", "en-GB", MoveKind.REPEAT),
        ("hol mir mal jemanden von euren Leuten", "de-DE", MoveKind.PERSON),
        ("damit sind wir absolut zufrieden", "de-DE", MoveKind.AFFIRM),
        ("ich muss kurz in meiner Tasche suchen", "de-DE", MoveKind.WAIT),
    ],
)
def test_what_no_table_explains_is_the_move_that_it_means(text: str, locale: str, kind: MoveKind) -> None:
    (move,) = read(text, locale).moves
    assert move.kind is kind
    assert move.probability < 1
    with switch_off(Principle.LEARNED_MOVES):
        assert kind not in list_kinds(text, locale)


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("could you squeeze us in there on Friday? how full is the town on Friday?", 0.5),
        ("can you check if they have a lift", 0.7),
        ("tell me the address of your shop", 0.7),
        ("I want to know the price of a lesson", 0.7),
        ("wann macht der Laden auf", 0.7),
    ],
)
def test_a_question_that_is_learned_has_its_probability_and_the_one_that_it_needs(text: str, needed: float) -> None:
    asking = [move for move in read(text).moves if move.kind is MoveKind.ASK]

    assert asking
    assert needed in {move.needed for move in asking}
    assert all(move.needed <= move.probability < 1 for move in asking if move.needed)


@pytest.mark.parametrize(
    "text",
    ["my support clerk never called back", "Grace Hill", "the tap in our kitchen drips", "Lake Wallington", "for four"],
)
def test_a_tale_a_name_and_a_value_are_no_moves(text: str) -> None:
    assert read(text).moves == ()


def test_words_of_a_table_that_are_all_of_a_clause_are_sure() -> None:
    assert [move.probability for move in read("yes please").moves] == [1.0]


def test_several_moves_of_the_tables_are_the_one_that_the_clause_means() -> None:
    assert list_kinds("that's all correct") == {MoveKind.AFFIRM}
    assert list_kinds("no hang on") == {MoveKind.NEGATE, MoveKind.WAIT}


@pytest.mark.parametrize("text", ["I am not pleased with all of it", "if they are pleased with all of it"])
def test_what_denies_or_supposes_is_no_yes(text: str) -> None:
    assert MoveKind.AFFIRM not in list_kinds(text)


@pytest.mark.parametrize("text", ["never stop this", "never cancel anything", "do not cancel the whole thing"])
def test_who_denies_to_leave_stays_and_who_does_not_want_to_go_on_leaves(text: str) -> None:
    understanding = read(text)
    assert MoveKind.LEAVE not in {move.kind for move in (*understanding.moves, *understanding.doubtful_moves)}
    assert MoveKind.LEAVE in list_kinds("I won't go any further with this")


@pytest.mark.parametrize(
    ("text", "force"),
    [
        ("could you squeeze us in on Friday?", Force.STATES),
        ("do you have anything for 4 people on Friday?", Force.STATES),
        ("hätten Sie am Freitag noch etwas für uns?", Force.STATES),
        ("is the shop very full on Friday?", Force.ASKS),
        ("how expensive is a ticket on Friday", Force.ASKS),
        ("haben die Läden am Freitag lange offen?", Force.ASKS),
    ],
)
def test_a_clause_with_a_value_that_looks_like_a_question_asks_or_wishes(text: str, force: Force) -> None:
    locale = "de-DE" if text.startswith("h") and "Freitag" in text else "en-GB"
    assert [clause.force for clause in read(text, locale).clauses] == [force]


def test_a_wish_to_know_asks_without_a_sign() -> None:
    assert list_kinds("tell me the opening hours of the sauna") == {MoveKind.ASK}
    assert list_kinds("can you check if they have a sauna") == {MoveKind.ASK}


def test_a_sentence_begins_behind_a_full_stop_without_a_blank() -> None:
    assert len(read("That is right.Do they have a sauna?").clauses) == 2
