"""What counts as lost and as overwritten: plain values without an answer, held values that change unasked."""

import pytest

from convengine.evaluation.read import FormReader, Result
from convengine.evaluation.read_score import ReadScore
from convengine.json_value import Json

FORM: Json = {
    "type": "object",
    "title": "Book a course",
    "properties": {
        "day": {"type": "string", "format": "date", "title": "Day"},
        "mail": {"type": "string", "format": "email", "title": "E-mail"},
        "note": {"type": "string", "title": "Remarks", "x-ask": "Anything we should know?"},
    },
}
HELD = {"day": "2019-03-04", "mail": "ann@example.com"}


def _read(text: str, **line: Json) -> Result:
    return FormReader(FORM).read({"say": text, **line})


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("on 4 March, ann@example.com", {"opener": True}),
        ("we had rain on 4 March and nobody came", {"asked": "note"}),
        ("it was 4 March, as I said", {"held": HELD, "asked": "note"}),
        ("on 31 February", {"asked": "day"}),
        ("are you open on 4 March?", {"asked": "mail"}),
    ],
)
def test_what_is_taken_refused_kept_in_a_text_held_or_asked_about_is_not_lost(text: str, line: dict[str, Json]) -> None:
    assert _read(text, **line).lost_values == ()


def test_a_second_value_that_nothing_takes_is_lost() -> None:
    assert _read("day after tomorrow, got the in laws tomorrow", asked="day").lost_values == ("tomorrow",)


@pytest.mark.parametrize(
    ("text", "asked"), [("change the day to 5 March", ""), ("sorry, 5 March", "mail"), ("5 March", "day")]
)
def test_a_correction_and_an_answer_overwrite_with_a_sign(text: str, asked: str) -> None:
    assert _read(text, asked=asked, held=HELD).overwritten == ()


def test_the_table_has_both() -> None:
    score = ReadScore()
    score.add({"say": "x", "values": {}}, FORM, _read("day after tomorrow, got the in laws tomorrow", asked="day"))

    assert "2 values said plainly: 50.0 % lost; 0 held ones overwritten" in [*score.format_table()]
