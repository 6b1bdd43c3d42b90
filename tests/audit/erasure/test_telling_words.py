"""Which recorded answers a test may quote: those of tasks, tools, models and containers that are long enough."""

from types import SimpleNamespace
from typing import Any

import pytest

from audit.erasure import telling_words
from convengine.server.sessions.models import CeConversationHistory

TEXT = "Anna Schmidt has paid."
ACCOUNT = {"owner": "Anna Müller", "balance": 12}
ACCOUNT_TEXT = r'{"balance":12,"owner":"Anna M\u00fcller"}'


@pytest.mark.parametrize(
    ("tape", "texts"),
    [
        ([["model", {}, {"text": TEXT}]], [f'"{TEXT}"']),
        ([["task", {}, {"value": ACCOUNT, "context": {"name": TEXT}}]], [ACCOUNT_TEXT]),
        ([["tool", {}, {"result": ACCOUNT}]], [ACCOUNT_TEXT]),
        ([["container", {}, {"value": [TEXT]}]], [f'["{TEXT}"]']),
        # The same answer twice.
        ([["tool", {}, {"result": ACCOUNT}], ["task", {}, {"value": ACCOUNT}]], [ACCOUNT_TEXT]),
        # As short as a status, and one character more.
        ([["task", {}, {"value": "x" * 17}]], []),
        ([["task", {}, {"value": "x" * 18}]], [f'"{"x" * 18}"']),
        # Failed.
        ([["task", {}, {"value": None, "error_message": TEXT}], ["model", {}, {"text": ""}]], []),
        # Not from outside.
        ([["memory.read", None, {"text": TEXT}], ["model.configured", None, True], ["tool", {}, TEXT]], []),
        ([], []),
    ],
)
def test_the_long_answers_from_outside_are_what_a_test_may_quote(
    monkeypatch: pytest.MonkeyPatch, tape: list[Any], texts: list[str]
) -> None:
    monkeypatch.setattr(telling_words, "read_recording", lambda _: SimpleNamespace(tape=tape))

    assert telling_words.list_quotable_texts([CeConversationHistory(recording=b"recording")]) == texts


@pytest.mark.parametrize("recording", [None, b"", b"damaged"])
def test_a_turn_without_a_readable_recording_has_none(recording: bytes | None) -> None:
    assert telling_words.list_quotable_texts([CeConversationHistory(recording=recording)]) == []
