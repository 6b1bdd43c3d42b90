"""How the message of a turn was read: words with what they are, and why each value was taken, offered or refused."""

import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from django.utils import timezone

from audit.narration.phrases import PHRASES
from audit.narration.reading import MessageReading, Role, read_message_of_turn
from audit.record.events import Event, StoredEvent, expand_events
from audit.record.queries import read_turns
from config_admin.models import CeConfig
from convengine.engine.forms import store_reading
from convengine.engine.understanding import decide, free_text
from convengine.engine.understanding.clauses import Force
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.reading import Doubt
from convengine.engine.understanding.sentences import LearnedPart, list_sentences
from convengine.engine.understanding.span import RefusalReason
from convengine.json_value import Json
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.worlds import create_pizza_form

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller() -> Caller:
    create_pizza_form()
    return Caller()


def read_last(caller: Caller) -> MessageReading | None:
    record = CeConversationHistory.objects.filter(conversation_id=caller.conversation_id).latest("turn_no")
    events = list(expand_events(read_turns(uuid.UUID(caller.conversation_id), [record.turn_no])))
    return read_message_of_turn(events, record.user_input, configuration().current())


def say(caller: Caller, *messages: str) -> MessageReading:
    for message in messages:
        caller.say(message)
    reading = read_last(caller)
    assert reading is not None
    assert "".join(part.text for part in reading.parts) == messages[-1]
    return reading


def read_understood(message: str, positions: Sequence[Json] = (), **understood: Json) -> MessageReading | None:
    """The reading of a message by what events say, without a form."""
    payloads = {"MESSAGE_UNDERSTOOD": {"size": len(message), **understood}, "FIELDS_READ": {"positions": positions}}
    return read_message_of_turn(list(make_events(payloads)), message, None)


def make_events(payloads: Mapping[str, dict[str, Json]]) -> Iterator[Event]:
    for name, payload in payloads.items():
        yield Event(StoredEvent(uuid.uuid4(), None, 1, 0, 1, name, {}, timezone.now()), payload, {}, None)


def list_marks(reading: MessageReading) -> list[tuple[str, str, str]]:
    return [(part.text, part.role.value, part.label) for part in reading.parts if part.role is not Role.PLAIN]


def test_a_bare_number_became_a_day_because_the_bot_asked_for_one(caller: Caller) -> None:
    reading = say(caller, "a party", "the 28th please")

    (value,) = reading.values
    assert ("the 28th", "TAKEN", "Day") in list_marks(reading)
    assert ("please", "SMALL", "") in list_marks(reading)
    assert value.text == "the 28th"
    assert value.value.split()[1] == "28"
    assert value.reason == "The bot had just asked for it. The message does not say the month, so this was assumed."


def test_a_value_that_is_only_supposed_was_offered_and_a_yes_takes_it(caller: Caller) -> None:
    reading = say(caller, "a party", "maybe the 28th")

    assert ("maybe", "CUE", "only supposes") in list_marks(reading)
    assert ("the 28th", "OFFERED", "Day") in list_marks(reading)
    assert reading.values[0].reason == "The message only supposes it, so the bot asks first."

    reading = say(caller, "yes")

    assert reading.moves == ["yes"]
    assert list_marks(reading) == [("yes", "CUE", "yes")]
    assert reading.values[0].title == "Day"
    assert reading.values[0].value.split()[1] == "28"
    assert reading.values[0].reason == "The bot had asked whether it is meant, and the user said yes."


def test_a_refused_value_says_why_and_which_of_its_words_is_unknown(caller: Caller) -> None:
    reading = say(caller, "a party", "2030-03-04", "tartan please")

    assert ("tartan please", "REFUSED", "Size") in list_marks(reading)
    assert reading.values[0].reason == "It is not one of the options."
    (word,) = reading.unknown_words
    assert word.field is not None
    assert (word.text, word.field.path) == ("tartan", "size")


def test_a_move_in_words_of_no_table_shows_how_likely_it_is_and_the_most_similar_sentence(caller: Caller) -> None:
    reading = say(caller, "a party", "your kindness means a lot to me")

    (move,) = reading.moves
    assert re.fullmatch(r"thanks \(\d\d(?:\.\d)?\s%; 50\s% is needed; as in “[^”]+”\)", move)
    assert reading.has_learned_moves

    reading = say(caller, "could you squeeze us in there on Friday? how full is the town on Friday?")

    assert any(
        re.fullmatch(r"a question \(\d\d+(?:\.\d)?\s%; 50\s% is needed; as in “[^”]+”\)", move)
        for move in reading.moves
    )


@pytest.mark.parametrize(
    ("message", "kind", "language"),
    [
        ("could somebody help me with it", "PERSON", "en"),
        ("das ist wirklich sehr nett von dir", "AFFIRM", "de"),
        ("kannst du mir nochmal sagen was du gerade wolltest", "REPEAT", "de"),
    ],
)
def test_a_learned_move_is_explained_by_a_sentence_of_the_language_of_the_message(
    message: str, kind: str, language: str
) -> None:
    move = {"move": kind, "start": 0, "end": len(message), "probability": 0.6}

    reading = read_understood(message, moves=[move])

    assert reading
    (described,) = reading.moves
    nearest = described.partition("as in “")[2].removesuffix("”)")
    assert nearest in [sentence for sentence, _ in list_sentences(LearnedPart.MOVES, [language])]


def test_a_move_and_its_doubt_are_not_named_side_by_side() -> None:
    yes = {"move": "AFFIRM", "start": 0, "end": 3}
    doubts = [{**yes, "move": kind, "end": 13, "probability": 0.5} for kind in ("AFFIRM", "LEAVE")]

    reading = read_understood("yes I think so", moves=[yes], doubtfulMoves=doubts)

    assert reading
    assert [move.partition(" (")[0] for move in reading.moves] == ["yes", "perhaps wants to stop"]


@pytest.mark.parametrize(
    ("message", "start", "why", "reason"),
    [
        ("Ann Hill", 0, "TEXT", "This field takes text as it was written."),
        (
            "for Ann Hill",
            4,
            "TEXT",
            "These words are what the rest of the message does not explain, and this field takes",
        ),
        ("to Napa", 3, "RELATION", "A word such as “to” or “from” marks these words as the text of this field."),
    ],
)
def test_a_text_that_was_cut_is_not_said_to_be_as_it_was_written(
    message: str, start: int, why: str, reason: str
) -> None:
    position = {"field": "name", "is": "TAKEN", "why": why, "start": start, "end": len(message)}

    reading = read_understood(message, [position])

    assert reading
    assert reading.values[0].reason.startswith(reason)


def test_a_yes_that_is_likely_and_not_sure_is_told_with_what_it_needs() -> None:
    likely = {"move": "AFFIRM", "start": 0, "end": 19, "probability": 0.58, "needed": 0.7}
    unsaid = {key: value for key, value in likely.items() if key != "needed"}

    for moves, doubts, told in (
        ([likely], [likely], "perhaps yes (58\N{NO-BREAK SPACE}%; 70\N{NO-BREAK SPACE}% is needed; as in “"),
        ([{**likely, "probability": 0.8}], [], "yes (80\N{NO-BREAK SPACE}%; 70\N{NO-BREAK SPACE}% is needed; as in “"),
        ([unsaid], [], "yes (58\N{NO-BREAK SPACE}%; as in “"),
    ):
        reading = read_understood("you may submit that", moves=moves, doubtfulMoves=doubts)
        assert reading
        (move,) = reading.moves
        assert move.startswith(told)


@pytest.mark.parametrize(
    ("stage", "is_marked"),
    [
        ("INTENT_RESOLVED_BY_CLASSIFIER", False),
        ("INTENT_RESOLVED_BY_AGENT", False),
        ("DIGRESSION_ANSWERED", False),
        ("NOT_UNDERSTOOD", True),
    ],
)
def test_words_that_an_intent_took_are_not_marked_as_not_understood(stage: str, is_marked: bool) -> None:
    message, tartan = (
        "where is my tartan",
        {"field": "size", "is": "REFUSED", "why": "AMBIGUOUS", "start": 12, "end": 18},
    )
    payloads: dict[str, dict[str, Json]] = {
        "MESSAGE_UNDERSTOOD": {"size": len(message)},
        "FIELDS_READ": {"positions": [tartan], "refused": [], "unexplained": [[0, 5], [12, 18]]},
        stage: {},
    }

    reading = read_message_of_turn(list(make_events(payloads)), message, None)

    assert reading
    assert not reading.values, "the turn refused no value"
    assert [word.text for word in reading.unknown_words] == (["where", "tartan"] if is_marked else [])
    payloads["FIELDS_READ"]["refused"] = [{"field": "size", "text": "tartan", "reason": "AMBIGUOUS"}]
    reading = read_message_of_turn(list(make_events(payloads)), message, None)
    assert reading
    assert [value.reason for value in reading.values] == ["Several values are possible."]


def test_the_sign_behind_a_value_is_no_part_of_it() -> None:
    position = {"field": "meter", "is": "TAKEN", "why": "LABEL", "start": 6, "end": 15}

    reading = read_understood("meter 12345678, 5 Mill Lane", [position])

    assert reading
    assert [value.text for value in reading.values] == ["12345678"]


#: The codes that a reading may have, by what they are in `PHRASES`.
CODES: dict[str, Iterable[str]] = {
    "refused": RefusalReason,
    "offered": Doubt,
    "move": MoveKind,
    "taken": (
        *(decide.ASKED, decide.LABEL, decide.KIND, decide.CORRECTION, decide.OFFER),
        *(free_text.TEXT, free_text.RELATION, store_reading.EARLIER, "MODEL"),
    ),
    "passed_over": (Force.DENIES,),
    "role": Role,
}


@pytest.mark.parametrize("name", CODES)
def test_each_code_of_a_reading_has_words_of_its_own(name: str) -> None:
    assert {str(code) for code in CODES[name]} - {"PLAIN"} <= PHRASES[name].keys()


def test_a_value_outside_of_the_limits_is_refused_with_the_limit(caller: Caller) -> None:
    reading = say(caller, "a party", "2030-03-04", "guests: 13")

    assert [value.reason for value in reading.values] == ["It is outside of the limits: at most 12."]


def test_an_unknown_word_belongs_to_the_field_that_refused_it(caller: Caller) -> None:
    reading = say(caller, "a party", "size: tartan")

    assert ("size", "NAMED", "Size") in list_marks(reading)
    assert [word.field and word.field.path for word in reading.unknown_words] == ["size"]


def test_the_name_of_a_field_and_words_that_nothing_explains_are_marked(caller: Caller) -> None:
    reading = say(caller, "a party", "guests: 5 with rollerblades")

    assert ("guests", "NAMED", "Guests") in list_marks(reading)
    assert ("rollerblades", "UNEXPLAINED", "") in list_marks(reading)
    assert [role.label for role in reading.legend][-1] == "not understood"


def test_a_correction_is_a_move_and_a_reason(caller: Caller) -> None:
    reading = say(caller, "a party", "2030-03-04", "no wait, 2030-03-05")

    assert "a correction" in reading.moves
    assert [(value.title, value.reason) for value in reading.values] == [("Day", "It replaces an earlier value.")]


@pytest.mark.parametrize(
    ("said", "text", "title", "why"),
    [
        ("not on 2030-03-04", "on 2030-03-04", "Day", "The message says that it is not meant."),
        ("not large", "large", "Size", "The message says that it is not meant."),
        ("definitely not small", "small", "Size", "The message says that it is not meant."),
    ],
)
def test_a_value_that_was_passed_over_says_why(caller: Caller, said: str, text: str, title: str, why: str) -> None:
    reading = say(caller, "a party", said)

    passed_over = [value for value in reading.values if value.role is Role.PASSED_OVER]
    assert [(value.text, value.title, value.value, value.reason) for value in passed_over] == [(text, title, "", why)]
    assert (text, "PASSED_OVER", title) in list_marks(reading)


def test_a_value_that_is_used_or_of_no_field_is_not_passed_over(caller: Caller) -> None:
    for said in ("on 2030-03-04", "not a@example.com"):
        assert not [value for value in say(caller, "a party", said).values if value.role is Role.PASSED_OVER]


def test_a_text_with_masks_or_without_the_event_has_no_marks(caller: Caller) -> None:
    CeConfig.objects.create(config_type="AUDIT", config_key="REDACT_PATTERNS", config_value="2030-03-0.")
    caller.say("a party")
    caller.say("on 2030-03-04 please")
    assert CeConversationHistory.objects.latest("turn_no").user_input == "on *** please"
    assert read_last(caller) is None

    assert read_message_of_turn([], "on Friday", None) is None


def test_an_erased_message_has_no_marks(caller: Caller) -> None:
    say(caller, "a party")
    CeConversationHistory.objects.update(user_input=None)

    assert read_last(caller) is None


def test_the_account_of_the_api_has_the_same(caller: Caller) -> None:
    reading = say(caller, "a party", "the 28th please")

    document: Any = caller.get("/account", turn=2).json()["reading"]

    assert [part["text"] for part in document["parts"]] == [part.text for part in reading.parts]
    assert document["values"][0]["role"] == "TAKEN"
    assert document["values"][0]["field"] == "day"
    assert document["moves"] == []
