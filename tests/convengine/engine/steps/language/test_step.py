"""Which language a message is in; the conversations are in `tests/dialogues/rows/languages.yaml`."""

import pytest

from convengine.engine.dialogue.language import detect_language

LANGUAGES = ("de", "en", "es")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("ich brauche einen Termin", "de"),
        ("quiero una cita para mañana", "es"),
        ("my parcel has not arrived yet", "en"),
        ("Buenos días", "es"),
        ("14:30", ""),
        ("Anna Schmidt", ""),
        ("pizza margherita", ""),
    ],
)
def test_a_language_is_named_only_where_it_is_sure(text: str, language: str) -> None:
    assert detect_language(text, LANGUAGES) == language
