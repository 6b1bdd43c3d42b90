"""What a recording says of calls that it misses, or that nobody made: words for people, values as JSON."""

import pytest

from convengine.engine.errors import ReplayMismatch
from convengine.engine.turn.recording import Playback, Reuse

TOOL = ["tool", {"tool": "look.up", "args": {"city": "Köln", "day": None}}, {}]


def ask_refused(tape: Playback | Reuse, port: str, request: object) -> str:
    with pytest.raises(ReplayMismatch) as found:
        tape.ask(port, request, lambda: None)
    assert tape.missing == [str(found.value)]
    return tape.missing[0]


def test_values_stand_as_json_and_nothing_as_nothing() -> None:
    assert Reuse([TOOL]).unasked == ['tool for {"tool": "look.up", "args": {"city": "Köln", "day": null}}']
    assert ask_refused(Reuse([]), "model.configured", None) == (
        "The turn asks model.configured, and the recording has no answer to that."
    )
    assert ask_refused(Playback([TOOL]), "clock", None).startswith(
        "Call 1 of the turn asks clock; recorded is tool for {"
    )


def test_of_a_model_stands_the_purpose() -> None:
    asked = {"purpose": "INTENT", "prompt": "x" * 5000}

    assert "asks model for INTENT, and" in ask_refused(Reuse([]), "model", asked)
    assert Reuse([["model", asked, {}]]).unasked == ["model for INTENT"]
