"""The bot answers each message of docs/conversations.md with the words of that page."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.conf import settings
from django.test import override_settings

from tests.dialogues.rows.worlds import get_text, make_caller

PAGE = (Path(__file__).resolve().parents[2] / "docs/conversations.md").read_text()
FLOW = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])
CLOCK = datetime(2026, 2, 24, 10, tzinfo=UTC)
#: By heading: what a customer says, and the answer.
CONVERSATIONS = {
    part.partition("\n")[0]: re.findall(r"^> (.+)\n\n(.+)$", part, re.MULTILINE) for part in PAGE.split("\n## ")[1:]
}


@pytest.mark.django_db
@pytest.mark.parametrize("heading", CONVERSATIONS)
def test_a_conversation_of_the_manual_goes_as_it_is_told(heading: str) -> None:
    with override_settings(CONVENGINE={**settings.CONVENGINE, "CLOCK_AT": CLOCK}):
        caller = make_caller(FLOW)
        answers = [(said, get_text(caller.say(said))) for said, _ in CONVERSATIONS[heading]]

    assert answers == CONVERSATIONS[heading]


def test_the_manual_has_many_exchanges() -> None:
    assert len(CONVERSATIONS) == 3
    assert sum(map(len, CONVERSATIONS.values())) >= 20
