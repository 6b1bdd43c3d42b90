"""The conversation that the manual explains the words with, and the figures of its drawings."""

import re
import uuid
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from audit.narration.reading import Role, read_message_of_turn
from audit.record.events import expand_events
from audit.record.queries import read_turns
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversationHistory
from tests import record
from tests.api import Caller

pytestmark = pytest.mark.usefixtures("shared_helpdesk")

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = (ROOT / "docs/concepts.md").read_text()
CONVERSATION = re.findall(r"^    > (.+)\n    (?!>)(.+)$", CHAPTER, re.MULTILINE)
#: The processor decides the last digits of a confidence.
TOLERANCE = 3


def read_texts(name: str) -> list[str]:
    drawing = ElementTree.parse(ROOT / f"static/docs/pictures/{name}.svg")
    return [text.text or "" for text in drawing.iter("{http://www.w3.org/2000/svg}text")]


def test_the_conversation_of_the_chapter_goes_as_it_says() -> None:
    caller, states = Caller(), []
    assert len(CONVERSATION) == 5
    for message, expected in CONVERSATION:
        answer = caller.say(message)
        for part in expected.split(" … " if " … " in expected else " …"):
            assert part in answer["payload"]["value"]
        states.append(answer["state"])

    assert [text for text in read_texts("turn") if text.isupper()] == states


@pytest.mark.parametrize(
    ("drawing", "message"),
    [
        ("intent", "Please move my electricity to 12 Mill Lane"),
        ("score", "Please move my electricity to 12 Mill Lane"),
        ("score", "move my contract"),
        ("score", "Can you water my plants?"),
    ],
)
def test_the_confidences_of_the_drawings_are_those_of_the_classifier(drawing: str, message: str) -> None:
    caller = Caller()
    caller.say(message)
    (decision,) = (
        event.payload
        for event in expand_events(record.events("DECISION", conversation_id=caller.conversation_id))
        if event.payload["kind"] == "CLASSIFIER"
    )
    scores = sorted(
        (operand["score"] for candidate in decision["candidates"] for operand in candidate.get("operands") or ()),
        reverse=True,
    )

    texts = read_texts(drawing)
    percents = [int(text[:-2]) for text in texts[texts.index(message) :] if re.fullmatch(r"\d+ %", text)][:2]
    assert percents == [pytest.approx(100 * score, abs=TOLERANCE) for score in scores[:2]]


def test_the_words_of_a_message_are_what_the_drawing_says() -> None:
    texts = read_texts("spans")
    words = texts[: texts.index("goes into its field") - 1]
    roles = {"taken": Role.TAKEN, "offered": Role.OFFERED, "passed over": Role.PASSED_OVER, "name": Role.NAMED}
    drawn = {
        word.strip(","): roles.get(label, Role.CUE)
        for word, label in pairwise(words)
        if label in (*roles, "supposes", "denies")
    }
    caller = Caller()
    caller.say("Please move my electricity to 12 Mill Lane")
    caller.say("My meter is 12345678, maybe from 1 December, and not Solo but Comfort")

    turn = CeConversationHistory.objects.filter(conversation_id=caller.conversation_id).latest("turn_no")
    events = list(expand_events(read_turns(uuid.UUID(caller.conversation_id), [turn.turn_no])))
    reading = read_message_of_turn(events, turn.user_input, configuration().current())
    assert reading is not None
    read = {part.text.strip(",").removeprefix("and "): part.role for part in reading.parts}
    assert drawn == {word: read[word] for word in drawn}
    assert len(drawn) == 7
