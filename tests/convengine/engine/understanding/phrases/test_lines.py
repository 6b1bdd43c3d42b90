"""Lines of an FAQ: intents of few phrases that answer and return."""

from convengine.engine.understanding.phrases.book import ANSWER
from convengine.engine.understanding.phrases.matching import PhraseMatches, match_phrases
from convengine.evaluation.corpus import AnswerLine, IntentCorpus

LINES = (
    AnswerLine("HOURS", ["When are you open?"], "We are open from nine to six, on Saturdays until two."),
    AnswerLine(
        "PARKING",
        ["Where can I park?"],
        "Behind the house are twelve spaces for cars. {% if x %}They are free.{% endif %}",
    ),
    AnswerLine("RETURNS", ["How do I send something back?"], "Send it within 30 days. You get your money in a week."),
)


def match(text: str, *, phrases: int = 1, interrupting: bool = False) -> PhraseMatches:
    more = [f"Opening hours number {number}" for number in range(1, phrases)]
    lines = [AnswerLine(line.code, [*line.questions, *more], line.answer) for line in LINES]
    snapshot = IntentCorpus({}, (), lines).build_snapshot()
    return match_phrases(snapshot, text, interrupting=interrupting)


def test_a_line_is_found_by_what_it_answers() -> None:
    best = match("do you have spaces for cars?").hits[0]

    assert (best.intent, best.basis) == ("PARKING", ANSWER)
    question, both, answer = best.cosines
    assert answer > question
    assert best.likeness == max(question, both, answer)


def test_a_question_word_for_word_needs_no_answer() -> None:
    hit = match("when are you open").hits[0]

    assert (hit.intent, hit.confidence, hit.basis) == ("HOURS", 1, "")


def test_beside_a_form_only_questions_are_compared_with_answers() -> None:
    asked, said = (match(text, interrupting=True) for text in ("do you have spaces for cars?", "spaces for cars"))

    assert [hit.basis for hit in asked.hits] == [ANSWER]
    assert not any(found.basis == ANSWER for found in (*said.hits, *said.near))


def test_an_intent_of_many_phrases_is_learned() -> None:
    found = match("do you have spaces for cars?", phrases=5)

    assert not any(match.basis == ANSWER for match in (*found.hits, *found.near))
