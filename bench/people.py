"""A world closer to real users: a form of eight fields, an FAQ, and 400 different messages."""

from typing import Any

from bench.worlds import clear_rows, make_other_rules, make_rule
from config_admin import models as m
from config_admin.releases.change_set import change_set

#: By intent: how people ask for it, and the answer.
_FAQ = {
    "OPENING_HOURS": ("when are you open on {day}?", "We are open from nine to six."),
    "PARKING": ("is there somewhere to park near {street}?", "There is a car park behind the house."),
    "PRICES": ("how much does a room for {guests} cost?", "A room costs 90 a night."),
    "PETS": ("can I bring my {pet} along?", "Small animals are welcome."),
    "BREAKFAST": ("what is there for breakfast on {day}?", "Bread, eggs and fruit."),
    "WIFI": ("does the internet reach the {room}?", "It reaches every room."),
    "CANCELLING": ("what happens if I cancel before {day}?", "Until the day before it costs nothing."),
    "SWIMMING": ("how warm is the pool in {month}?", "The pool has 28 degrees all year."),
    "TOWELS": ("do I need towels for the {room}?", "We have towels for everybody."),
    "LUGGAGE": ("where can I leave a suitcase until {hour}?", "Behind the reception."),
}
#: By field: its schema, and what people say.
_FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "name": ({}, "my name is Anna {name}"),
    "arrival": ({"format": "date"}, "on {date} please"),
    "nights": ({"type": "integer"}, "{guests} nights"),
    "guests": ({"type": "integer"}, "we are {guests} people"),
    "board": ({"enum": ["breakfast", "half board", "full board"]}, "I think {board}"),
    "email": ({"format": "email"}, "it is {name}{number}@example.org"),
    "hour": ({"x-kind": "time"}, "at {hour} in the evening"),
    "wish": ({}, "a room near the {room}"),
}
_BOOKING = "BOOKING"
_STATES = {
    "COLLECT": "{{ question }}",
    "CONFIRM": "Please check: {{ form_summary }}. Shall I book that?",
    "DONE": "We look forward to your visit, {{ name }}.",
}
_OPENINGS = (
    *("", "Hi, ", "Hello there, ", "Dear all, ", "Hello, ", "Hello all, ", "Hey, ", "Hello! ", "Thanks. ", "OK, "),
    *("So ", "Well, ", "And ", "Now ", "Great, ", "Thank you, ", "Alright, ", "Hi there, ", "Dear team, ", "Oh, "),
)
_WORDS = {
    "day": ("Monday", "Tuesday", "Friday", "Sunday"),
    "street": ("the church", "Mill Lane", "the station", "the bridge", "High Street"),
    "guests": ("two", "three", "4", "five", "6", "seven"),
    "pet": ("dog", "cat", "parrot", "old dog", "rabbit", "hamster", "puppy"),
    "room": ("attic", "garden", "lounge", "terrace", "cellar", "stairs", "sauna", "balcony", "hall"),
    "month": ("March", "April", "May", "June", "July", "October", "November"),
    "hour": ("six", "7", "seven", "eight", "8", "nine"),
    "date": ("3 March", "4 April", "5 May", "6 June", "7 July", "8 August", "9 September"),
    "board": ("breakfast", "half board", "full board"),
    "name": ("Hill", "Baker", "Stone", "Wood", "Field", "Marsh", "Brook"),
}


def load(rules: int) -> list[str]:
    """Replace all rows by this world, as one release; returns its messages."""
    properties = {
        name: {"type": "string", "title": name, "x-ask": f"What is the {name}?", "x-order": order, **declared}
        for order, (name, (declared, _)) in enumerate(_FIELDS.items())
    }
    schema = {"type": "object", "properties": properties, "required": [*_FIELDS], "x-clear": ["DONE"]}
    answers = [(code, "ANY", answer) for code, (_, answer) in _FAQ.items()]
    answers += [(_BOOKING, state, text) for state, text in _STATES.items()]
    phrases = {**{code: question for code, (question, _) in _FAQ.items()}, _BOOKING: "I want to book a room"}
    with change_set(author="bench", reason="people"):
        clear_rows()
        for code, phrase in phrases.items():
            m.CeIntent.objects.create(intent_code=code, description=phrase, returns=code != _BOOKING)
            state, pattern = "COLLECT" if code == _BOOKING else "IDLE", _fill_in(phrase, 0)
            m.CeIntentClassifier.objects.create(intent_code=code, state_code=state, rule_type="PHRASE", pattern=pattern)
        for code, state, text in (*answers, ("UNKNOWN", "UNKNOWN", "Sorry?")):
            m.CeResponse.objects.create(intent_code=code, state_code=state, response_type="EXACT", exact_text=text)
        m.CeOutputSchema.objects.create(intent_code=_BOOKING, state_code="COLLECT", json_schema=schema)
        m.CeRule.objects.bulk_create([*_form_rules(), *make_other_rules(rules)])
    return [text for number, opening in enumerate(_OPENINGS) for text in _list_round(number, opening)]


def _form_rules() -> list[m.CeRule]:
    complete = '{"combinator": "and", "rules": [{"field": "schemaComplete", "operator": "isYes"}]}'
    collect = {"intent_code": _BOOKING, "state_code": "COLLECT", "phase": "POST_SCHEMA_EXTRACTION"}
    confirm = {"intent_code": _BOOKING, "state_code": "CONFIRM", "phase": "POST_DIALOGUE_ACT"}
    return [
        make_rule(**collect, rule_type="CONDITION", match_pattern=complete, action_value="CONFIRM"),
        make_rule(**confirm, match_target="DIALOGUE_ACT", match_pattern="AFFIRM", action_value="DONE"),
    ]


def _list_round(number: int, opening: str) -> list[str]:
    """A question for each entry of the FAQ, then the form from the request to the confirmation."""
    questions = [question for question, _ in _FAQ.values()]
    answers = [answer for _, answer in _FIELDS.values()]
    return [
        opening + _fill_in(text, number) for text in (*questions, "I would like to book a room", *answers, "yes please")
    ]


def _fill_in(text: str, number: int) -> str:
    words = {name: options[number % len(options)] for name, options in _WORDS.items()}
    return text.format(**words, number=number)
