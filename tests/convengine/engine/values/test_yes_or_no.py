"""A yes or no as the value of a field, with what people add to it."""

from datetime import UTC, datetime

import pytest

from convengine.engine.values import FieldSpec, Kind, ReadingSituation, read_value

NOW = datetime(2026, 11, 21, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("Nein, ich zahle selbst", "de-DE", False),
        ("ja, vom Hausarzt", "de-DE", True),
        ("no, I pay myself", "en-GB", False),
        ("thanks, yes please", "en-GB", True),
        ("oh sorry, no thx", "en-GB", False),
        ("yes I have one from my doctor", "en-GB", True),
        ("no, at 5", "en-GB", None),
        ("nein, lieber Dienstag", "de-DE", None),
        ("no, why do you ask?", "en-GB", None),
    ],
)
def test_an_answer_may_begin_with_yes_or_no(text: str, locale: str, value: bool | None) -> None:
    spec = FieldSpec("prescription", Kind.YES_NO, json_type="boolean")

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value
