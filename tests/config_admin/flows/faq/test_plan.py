"""What a spreadsheet makes in the configuration in force, and what it would meet there."""

from collections.abc import Sequence

import pytest

from config_admin import models as m
from config_admin.flows.faq.plan import FaqPlan, plan_faq
from config_admin.transfer.apply_import import add_document
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db
HOURS = ["What are your opening hours?|When do you open?", "From nine to five."]
PARKING = ["Where can I park my car?", "Behind the house."]


def plan(*lines: Sequence[str], skip: bool = True, moved: Sequence[str] = ()) -> FaqPlan:
    return plan_faq(list(enumerate(lines, 1)), skip=skip, moved=moved)


def store(*lines: Sequence[str]) -> None:
    add_document(plan(*lines).make_document(), author="ben", reason="questions")


def test_a_line_makes_an_intent_that_returns_its_phrases_and_its_answer() -> None:
    store(HOURS, PARKING)

    intent = m.CeIntent.objects.get(pk="FAQ_WHAT_ARE_YOUR_OPENING_HOURS")
    assert (intent.display_name, intent.returns) == ("What are your opening hours", True)
    phrases = m.CeIntentClassifier.objects.filter(intent_code=intent.pk)
    assert {(phrase.rule_type, phrase.pattern) for phrase in phrases} == {
        ("PHRASE", "What are your opening hours?"),
        ("PHRASE", "When do you open?"),
    }
    answer = m.CeResponse.objects.get(intent_code=intent.pk)
    assert (answer.state_code, answer.response_type, answer.exact_text) == ("ANY", "EXACT", "From nine to five.")


def test_questions_that_exist_are_skipped_and_said() -> None:
    store(HOURS)
    again = plan(HOURS, PARKING)

    assert again.skipped == ["What are your opening hours?", "When do you open?"]
    assert (again.skipped_lines, [planned.entry.line for planned in again.planned]) == (1, [2])


def test_new_questions_of_the_same_answer_join_its_intent() -> None:
    store(HOURS)
    (planned,) = plan([f"{HOURS[0]}|Are you open on Sundays?", HOURS[1]]).planned

    assert (planned.code, planned.is_new, planned.questions) == (
        "FAQ_WHAT_ARE_YOUR_OPENING_HOURS",
        False,
        ("Are you open on Sundays?",),
    )
    assert set(plan([f"{HOURS[0]}|Open on Sundays?", HOURS[1]]).make_document().tables) == {"ce_intent_classifier"}


def test_new_questions_join_an_intent_whose_code_and_name_no_flow_may_have() -> None:
    code = "OPENING_" * 10
    make(m.CeIntent, intent_code=code, display_name="")
    make(m.CeResponse, intent_code=code, state_code="ANY", exact_text=HOURS[1])
    make(m.CeIntentClassifier, intent_code=code, rule_type="PHRASE", pattern="When do you open?")

    again = plan(HOURS)
    add_document(again.make_document(), author="ben", reason="questions")

    assert not again.problems
    assert set(m.CeIntentClassifier.objects.filter(intent_code=code).values_list("pattern", flat=True)) == {
        "What are your opening hours?",
        "When do you open?",
    }


def test_a_question_with_another_answer_is_left_out_and_the_other_intent_named() -> None:
    store(HOURS)
    again = plan([HOURS[0], "From ten to six."])

    assert not again.planned
    assert not again.skipped
    assert {(each.intent, each.is_moved) for each in again.answered} == {
        ("“What are your opening hours” (FAQ_WHAT_ARE_YOUR_OPENING_HOURS)", False)
    }


def test_a_question_with_another_answer_moves_with_its_phrase_if_somebody_chooses_so() -> None:
    store(HOURS)
    again = plan([HOURS[0], "From ten to six."], moved=["when do you open"])

    (moved,) = (each for each in again.answered if each.is_moved)
    assert (moved.question, moved.takes_all) == ("When do you open?", False)
    assert [planned.questions for planned in again.planned] == [("When do you open?",)]
    add_document(again.make_document(), author="ben", reason="move")
    phrases = dict(m.CeIntentClassifier.objects.values_list("pattern", "intent_code"))
    assert phrases == {
        "What are your opening hours?": "FAQ_WHAT_ARE_YOUR_OPENING_HOURS",
        "When do you open?": "FAQ_WHEN_DO_YOU_OPEN",
    }


def test_without_skipping_a_question_is_made_again_under_another_code() -> None:
    store(HOURS)
    again = plan(HOURS, skip=False)

    assert [planned.code for planned in again.planned] == ["FAQ_WHAT_ARE_YOUR_OPENING_HOURS_2"]
    assert ["of “What are your opening hours”" in overlap.others[0] for overlap in again.overlaps] == [True, True]


def test_a_question_that_its_own_answer_decides_needs_no_action() -> None:
    store(HOURS)
    planned = plan(["What are your hours of opening", "At noon."], ["Where is a park for my car?", "There."], PARKING)

    assert ([each.entry.line for each in planned.planned], planned.overlaps) == ([1, 2, 3], [])


def test_a_pattern_of_another_intent_that_takes_a_question_is_named() -> None:
    make(m.CeIntent)
    make(m.CeIntentClassifier, rule_type="CONTAINS", pattern="park")
    planned = plan(PARKING, HOURS)
    (answered,) = planned.answered

    assert (answered.intent, answered.phrases, answered.takes_all) == ("“Loan”", ("phrase “park” of “Loan”",), True)
    assert [each.entry.line for each in planned.planned] == [2]
    assert not planned.overlaps

    moved = plan(PARKING, moved=[answered.choice])
    assert (moved.question_count, moved.overlaps, moved.removed) == (1, [], list(answered.keys))


def test_the_words_of_the_question_give_the_code() -> None:
    planned = plan(HOURS, ["Who are you?", "A bot."], ["Где вы?", "Here."], ["Кто вы?", "I."]).planned

    assert [each.code for each in planned[:2]] == ["FAQ_WHAT_ARE_YOUR_OPENING_HOURS", "FAQ_WHO_ARE_YOU"]
    assert [each.code for each in planned[2:]] == ["FAQ_9B3CCF75", "FAQ_287C89F6"]


def test_names_give_the_codes_and_languages_keep_them_apart() -> None:
    planned = plan(
        ["Questions", "Answer", "Intent name", "Language"],
        ["When do you open?", "At nine.", "Opening hours", "en"],
        ["Wann öffnet das Geschäft?", "Um neun.", "Opening hours", "de"],
        ["When does it close?", "At five.", "Opening hours", "en"],
    )

    assert [each.code for each in planned.planned] == ["OPENING_HOURS", "OPENING_HOURS_DE"]
    assert [str(problem) for problem in planned.problems] == [
        "Line 4: Line 2 has the same intent name. Choose another name, or put all questions with this answer "
        "into one line."
    ]


def test_the_same_name_in_another_language_makes_its_own_intent_beside_a_live_one() -> None:
    store(["Questions", "Answer", "Intent name"], ["When do you open?", "At nine.", "Opening hours"])
    heads = ["Questions", "Answer", "Intent name", "Language"]
    german = ["Wann öffnet das Geschäft?", "Um neun.", "Opening hours", "de"]
    planned = plan(
        heads,
        german,
        ["Wann schließt es?", "Um fünf.", "Opening hours", "de"],
        ["When does it close?", "At five.", "Opening hours", "en"],
    )
    assert [each.code for each in planned.planned] == ["OPENING_HOURS_DE"]
    assert [problem.line for problem in planned.problems] == [3, 4]
    assert "Line 2 has the same intent name" in planned.problems[0].text
    assert "exists already and does not give this answer" in planned.problems[1].text

    store(heads, german)
    joined = plan(heads, ["Ab wann ist auf?", "Um neun.", "Opening hours", "de"])
    assert [(each.code, each.is_new) for each in joined.planned] == [("OPENING_HOURS_DE", False)]


def test_a_line_in_another_language_of_the_workspace_translates_the_line_of_its_name() -> None:
    make(m.CeConfig, config_type="Session", config_key="LANGUAGES", config_value="en-GB, de-DE")
    lines = [
        ["Questions", "Answer", "Intent name", "Language"],
        ["Wann öffnet das Geschäft?", "Um neun.", "Opening hours", "de"],
        ["When do you open?", "At nine.", "Opening hours", "en"],
        ["Wann macht ihr zu?", "Um fünf.", "Opening hours", "de"],
    ]
    planned = plan(*lines)
    assert [(each.entry.line, each.code, each.is_new) for each in planned.planned] == [
        (3, "OPENING_HOURS", True),
        (2, "OPENING_HOURS", False),
    ]
    assert "Line 3 has the same intent name" in str(planned.problems[0])

    store(*lines[:3])
    answer = m.CeResponse.objects.get(intent_code="OPENING_HOURS")
    assert answer.translations == {"de": {"exact_text": {"text": "Um neun.", "of": "At nine."}}}
    assert m.CeIntentClassifier.objects.filter(intent_code="OPENING_HOURS").count() == 2
    assert not plan(*lines[:3]).planned
    more = plan(lines[0], ["Ab wann ist auf?", "Um neun.", "Opening hours", "de"])
    assert [(each.code, each.is_new) for each in more.planned] == [("OPENING_HOURS", False)]


def test_the_name_of_an_intent_with_another_answer_is_a_problem() -> None:
    make(m.CeIntent)

    assert "The intent “Loan” exists already" in str(plan([*PARKING, "Loan"]).problems[0])


@pytest.mark.parametrize("question", ["?!", "?"])
def test_what_the_save_checks_refuse_is_a_problem_of_its_line(question: str) -> None:
    planned = plan([question, "Yes."], ["Where is the garden?", "Hello {{ name"], PARKING)

    assert [problem.line for problem in planned.problems] == [1, 2]
    assert planned.problems[0].text.startswith(f"“{question}”: This phrase has no word")
    assert [each.entry.line for each in planned.planned] == [3]
