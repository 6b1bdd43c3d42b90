"""The life of a form that a flow makes: done, done again, left (dialogue 4)."""

from typing import Any

import pytest

from config_admin.flows.mapping import write_rows
from config_admin.models import CeConfig
from config_admin.transfer.apply_import import add_rows
from tests.api import Caller
from tests.dialogues.rows.worlds import answer_by_model, make_flows, make_setting

pytestmark = pytest.mark.django_db

DENTIST = {
    "code": "DENTIST", "title": "Dentist appointment", "kind": "collect", "locale": "en-GB",
    "phrases": ["I need to see a dentist", "book an appointment"],
    "fields": [
        {"name": "name", "title": "Name", "type": "text", "question": "What is your name?"},
        {"name": "guests", "title": "Number of persons", "type": "number", "min": 1, "max": 8},
    ],
    "answer": "Booked for {{ name }}.",
    "questions_and_answers": [{"questions": ["what are your prices"], "answer": "80 pounds."}],
}  # fmt: skip
ZAHNARZT = {
    "code": "ZAHNARZT", "title": "Zahnarzttermin", "kind": "collect", "locale": "de-DE",
    "phrases": ["Ich brauche einen Zahnarzt", "Termin vereinbaren"],
    "fields": [{"name": "tag", "title": "Tag", "type": "date", "question": "An welchem Tag?"}],
    "answer": "Notiert.",
}  # fmt: skip
TAXI = {
    "code": "TAXI", "title": "Taxi", "kind": "collect", "locale": "en-GB", "phrases": ["I need a taxi"],
    "fields": [
        {"name": "place", "title": "Place", "type": "text", "question": "Where are you?"},
        {"name": "seat", "title": "Baby seat", "type": "yes_no", "question": "Do you need a baby seat?"},
        {"name": "how", "title": "How", "type": "choice", "question": "How shall we reach you?",
         "options": [{"value": "call", "label": "Call"}, {"value": "mail", "label": "E-mail"}]},
        {"name": "notes", "title": "Notes", "type": "text", "required": False, "question": "Anything else?"},
    ],
    "answer": "Booked.", "hand_over": "A colleague takes over.",
}  # fmt: skip
CHECK = "Please check: Name: {}, Number of persons: 2. Is that right?"
ASK_LEAVE = "Do you want to stop? Then I will drop what you have told me so far."
CANCELLED = "All right, I have dropped that."
THANKS = "You're welcome. Is there anything else that I can do for you?"


def make_caller(flow: dict[str, Any] = DENTIST) -> Caller:
    make_flows(flow)
    return Caller()


def hold(caller: Caller, *exchanges: tuple[str, str, str]) -> dict[str, Any]:
    """Say each message and expect its state and the beginning of its answer; gives the last answer."""
    answer: dict[str, Any] = {}
    for text, state, expected in exchanges:
        answer = caller.say(text)
        assert answer["success"], answer
        assert (answer["state"], answer["payload"]["value"][: len(expected)]) == (state, expected), text
    return answer


def book(caller: Caller, name: str = "Ann Bell") -> None:
    """Go through the form to its confirmation."""
    for text in ("book an appointment", name):
        caller.say(text)
    hold(caller, ("two", "CONFIRM", CHECK.format(name)))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("thanks", THANKS),
        ("perfect, thank you very much!", THANKS),
        ("hello", "Hello! How can I help you?"),
        ("ok", "What else can I do for you?"),
        ("no", "All right. Have a nice day!"),
        ("bye", "All right. Have a nice day!"),
        ("cancel", "Sorry, I did not understand that."),
        ("cancel my booking", "Sorry, I did not understand that."),
        ("purple elephants", "Sorry, I did not understand that."),
    ],
)
def test_after_the_end_the_last_answer_does_not_come_again(text: str, answer: str) -> None:
    caller = make_caller()
    book(caller)

    after = hold(caller, ("yes", "DONE", "Booked for Ann Bell."), (text, "DONE", answer))

    assert "name" not in after["context"]


@pytest.mark.parametrize("text", ["I'd like to book another one", "one more please", "book an appointment"])
def test_a_second_round_begins_empty_and_can_be_confirmed(text: str) -> None:
    caller = make_caller()
    book(caller)

    hold(
        caller,
        ("yes", "DONE", "Booked for Ann Bell."),
        ("thanks", "DONE", THANKS),
        (text, "COLLECT", "What is your name?"),
        ("Bob Hill", "COLLECT", "Please tell me: number of persons."),
        ("2", "CONFIRM", CHECK.format("Bob Hill")),
        ("yes", "DONE", "Booked for Bob Hill."),
    )


def test_a_question_after_the_end_is_answered_and_another_one_begins_after_it() -> None:
    caller = make_caller()
    book(caller)

    hold(
        caller,
        ("yes", "DONE", "Booked for Ann Bell."),
        ("what are your prices?", "IDLE", "80 pounds."),
        ("could I have another one?", "COLLECT", "What is your name?"),
    )


@pytest.mark.parametrize(
    "text", ["never mind", "forget it", "cancel", "oh, never mind then", "can you cancel my booking?"]
)
def test_a_form_without_values_is_left_at_once(text: str) -> None:
    caller = make_caller()

    hold(
        caller,
        ("book an appointment", "COLLECT", "What is your name?"),
        (text, "UNKNOWN", CANCELLED),
        ("purple elephants", "UNKNOWN", "Sorry, I did not understand that."),
        ("thanks", "UNKNOWN", THANKS),
        ("book an appointment", "COLLECT", "What is your name?"),
    )


def test_abandoning_values_asks_once_and_a_yes_leaves() -> None:
    caller = make_caller()
    caller.say("book an appointment")

    answer = hold(
        caller,
        ("Ann Bell", "COLLECT", "Please tell me: number of persons."),
        ("forget it", "COLLECT", ASK_LEAVE),
        ("yes please", "UNKNOWN", CANCELLED),
    )

    assert "name" not in answer["context"]
    assert caller.stages(3).count("FORM_LEAVE_ASKED") == 1
    assert {"FORM_LEFT", "FORM_CLEARED"} <= set(caller.stages(4))


def test_an_order_to_forget_the_booking_asks_and_the_yes_is_for_the_stop() -> None:
    hold(
        make_caller(),
        ("book an appointment", "COLLECT", "What is your name?"),
        ("Ann Bell", "COLLECT", "Please tell me: number of persons."),
        ("hm no, forget the booking, I will ask my doctor first", "COLLECT", ASK_LEAVE),
        ("yes", "UNKNOWN", CANCELLED),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't need it", "How shall we reach you?"),
        ("no need any more", "How shall we reach you?"),
        ("never mind", ASK_LEAVE),
    ],
)
def test_a_no_to_the_asked_field_is_no_wish_to_leave(text: str, expected: str) -> None:
    hold(make_caller(TAXI), ("I need a taxi", "COLLECT", "Where"), ("Mill Lane", "COLLECT", "Do you need a baby seat?"),
         (text, "COLLECT", expected))  # fmt: skip


@pytest.mark.parametrize("text", ["that's everything, thanks", "don't worry about it"])
def test_an_optional_field_is_skipped_with_such_words_and_the_form_goes_on(text: str) -> None:
    hold(make_caller(TAXI), ("I need a taxi", "COLLECT", ""), ("Mill Lane", "COLLECT", ""), ("no", "COLLECT", ""),
         ("call me please, someone is always in", "COLLECT", "Anything else?"), (text, "CONFIRM", ""))  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "no, go on",
        "No, carry on please",
    ],
)
def test_the_wish_to_go_on_is_a_no(text: str) -> None:
    caller = make_caller()
    caller.say("book an appointment")

    hold(
        caller,
        ("Ann Bell", "COLLECT", "Please tell me: number of persons."),
        ("cancel", "COLLECT", ASK_LEAVE),
        (text, "COLLECT", "Please tell me: number of persons."),
    )


def test_a_no_goes_on_with_the_open_question_and_counts_as_no_miss() -> None:
    caller = make_caller()
    caller.say("book an appointment")

    hold(
        caller,
        ("Ann Bell", "COLLECT", "Please tell me: number of persons."),
        ("cancel", "COLLECT", ASK_LEAVE),
        ("no", "COLLECT", "Please tell me: number of persons."),
        ("cancel", "COLLECT", ASK_LEAVE),
        ("2", "CONFIRM", CHECK.format("Ann Bell")),
    )


def test_a_yes_to_the_wish_to_leave_never_confirms_the_form() -> None:
    caller = make_caller()
    book(caller)

    hold(caller, ("stop", "CONFIRM", ASK_LEAVE), ("yes", "UNKNOWN", CANCELLED))


@pytest.mark.parametrize("text", ["yes", "yes please", "ok"])
def test_a_yes_to_what_should_be_changed_confirms_nothing(text: str) -> None:
    caller = make_caller(DENTIST | {"on_no": "ASK_WHAT_TO_CHANGE"})
    book(caller)

    check = CHECK.format("Ann Bell")
    hold(caller, ("no", "CONFIRM", "What should I change"), (text, "CONFIRM", check), ("yes", "DONE", "Booked"))


def test_a_wish_for_a_person_goes_before_a_wish_to_leave() -> None:
    hold(
        make_caller(TAXI),
        ("I need a taxi", "COLLECT", "Where are you?"),
        ("Main Street 5", "COLLECT", "Do you need a baby seat?"),
        ("this is too expensive, I'd rather speak to somebody", "HAND_OVER", "A colleague takes over."),
    )


def test_nothing_that_is_like_a_yes_confirms_while_it_is_open() -> None:
    caller = make_caller()
    book(caller)

    hold(caller, ("stop", "CONFIRM", ASK_LEAVE), ("proceed", "CONFIRM", CHECK.format("Ann Bell")))


@pytest.mark.parametrize("text", ["yes, it's 5 now", "sure, but 5", "good, but 5", "Ok but for 5", "yes, but Saturday"])
def test_a_yes_beside_something_like_a_value_runs_nothing(text: str) -> None:
    caller = make_caller()
    book(caller)

    assert caller.say(text)["state"] == "CONFIRM"


def test_a_no_to_it_at_the_confirmation_asks_for_the_confirmation_again() -> None:
    caller = make_caller()
    book(caller)

    hold(
        caller,
        ("stop", "CONFIRM", ASK_LEAVE),
        ("no", "CONFIRM", CHECK.format("Ann Bell")),
        ("perfect", "DONE", "Booked for Ann Bell."),
    )


@pytest.mark.parametrize("text", ["vergiss es", "abbrechen", "ach, lass es", "ich möchte abbrechen"])
def test_a_german_form_is_left_in_german(text: str) -> None:
    caller = make_caller(ZAHNARZT)

    hold(
        caller,
        ("Ich brauche einen Zahnarzt", "COLLECT", "An welchem Tag?"),
        (text, "UNKNOWN", "In Ordnung, ich habe es verworfen."),
        ("danke", "UNKNOWN", "Gern geschehen."),
        ("Termin vereinbaren", "COLLECT", "An welchem Tag?"),
        ("übermorgen", "CONFIRM", "Bitte prüfen Sie: Tag: "),
        (text, "CONFIRM", "Möchten Sie abbrechen?"),
        ("nein", "CONFIRM", "Bitte prüfen Sie: Tag: "),
        ("ja, passt", "DONE", "Notiert."),
        ("noch einen Termin bitte", "COLLECT", "An welchem Tag?"),
    )


TABLE = {
    "code": "TABLE", "title": "Book a table", "kind": "collect", "locale": "en-GB",
    "phrases": ["I want to book a table"],
    "fields": [{"name": "guests", "title": "Number of guests", "type": "number", "question": "How many guests?"}],
    "answer": "See you.",
}  # fmt: skip
ASK_SWITCH = "Do you want to stop this and go on with “Book a table”?"


def make_caller_of_two() -> Caller:
    add_rows(write_rows(TABLE), author="ada", reason="second")
    return make_caller()


PERSON = {
    "code": "PERSON", "title": "Talk to a person", "kind": "handover", "locale": "en-GB",
    "phrases": ["talk to a person"], "answer": "One moment.",
}  # fmt: skip


@pytest.mark.parametrize(
    ("on_leave", "text", "state", "answer"),
    [
        pytest.param("ASK", "cancel", "COLLECT", ASK_LEAVE, id="ASK asks once where the form has values"),
        pytest.param("LEAVE", "cancel", "UNKNOWN", CANCELLED, id="LEAVE leaves at once"),
        pytest.param("STAY", "cancel", "COLLECT", "Sorry, I did not understand that.", id="STAY goes on asking"),
        pytest.param("ASK", "I want to book a table", "COLLECT", ASK_SWITCH, id="ASK asks before another subject"),
        pytest.param("LEAVE", "I want to book a table", "COLLECT", "How many guests?", id="LEAVE changes the subject"),
        pytest.param(
            "STAY",
            "I want to book a table",
            "COLLECT",
            "Sorry, I did not",
            id="STAY keeps its form for another subject",
        ),
        *(
            pytest.param(
                policy, "talk to a person", "HAND_OVER", "One moment.", id=f"{policy} lets go of who wants a person"
            )
            for policy in ("ASK", "LEAVE", "STAY")
        ),
    ],
)
def test_on_leave_of_a_flow_says_what_a_wish_to_leave_does(on_leave: str, text: str, state: str, answer: str) -> None:
    for flow in (TABLE, PERSON):
        add_rows(write_rows(flow), author="ada", reason="others")
    caller = make_caller({**DENTIST, "on_leave": on_leave})
    caller.say("book an appointment")
    caller.say("Ann Bell")

    hold(caller, (text, state, answer))


@pytest.mark.parametrize(
    ("text", "goes_on"),
    [
        pytest.param("yes please book a table instead", True, id="a yes and the name"),
        pytest.param("book a table then", True, id="only the name"),
        pytest.param("yes, but first the appointment, then book a table", False, id="a yes that waits"),
        pytest.param("no, don't book a table", False, id="a no and the name"),
        pytest.param("not the table", False, id="a denial"),
        pytest.param("is there a table?", False, id="a question"),
    ],
)
def test_a_yes_that_names_the_offered_subject_goes_on_with_it(text: str, goes_on: bool) -> None:
    caller = make_caller_of_two()
    for line in ("book an appointment", "Ann Bell", "actually I want to book a table"):
        caller.say(line)

    assert (caller.say(text)["intent"] == "TABLE") is goes_on


REPAIR = {
    "code": "REPAIR", "title": "Reparatur melden", "kind": "collect", "locale": "de-DE",
    "phrases": ["ich möchte eine Reparatur melden", "die Heizung ist kaputt"],
    "fields": [
        {"name": "name", "title": "Name", "type": "text", "question": "Ihr Name?"},
        {"name": "floor", "title": "Stockwerk", "type": "number", "question": "Welches Stockwerk?"},
    ],
    "answer": "Notiert.",
}  # fmt: skip
CLEANING = {
    "code": "CLEANING", "title": "Reinigung", "kind": "collect", "locale": "de-DE",
    "phrases": ["ich brauche eine Reinigung", "bitte bei mir putzen"],
    "fields": [
        {"name": "size", "title": "Größe", "type": "choice", "question": "Küche oder Bad?",
         "options": [{"value": "kitchen", "label": "Küche"}, {"value": "bath", "label": "Bad"}]},
    ],
    "answer": "Notiert.",
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("ja lieber die reinigung", "CLEANING"),
        ("lieber reinigung", "CLEANING"),
        ("jo, bitte eine Reinigung", "CLEANING"),
        ("keine reinigung", "REPAIR"),
        ("ja, aber erst die Heizung, dann die Reinigung", "REPAIR"),
    ],
)
def test_a_german_yes_that_names_the_offered_subject_goes_on_with_it(text: str, intent: str) -> None:
    add_rows(write_rows(CLEANING), author="ada", reason="second")
    caller = make_caller(REPAIR)
    for line in ("die Heizung ist kaputt", "Inge Koch", "ich brauche doch eher eine Reinigung"):
        caller.say(line)

    assert caller.say(text)["intent"] == intent


@pytest.mark.parametrize("text", ["I don't want to book a table", "no, not book a table at all"])
def test_an_opener_that_refuses_is_no_opener(text: str) -> None:
    caller = make_caller_of_two()
    caller.say("book an appointment")

    answer = caller.say(text)

    assert answer["intent"] == "DENTIST"
    assert "Do you want to stop" not in answer["payload"]["value"]


def test_values_beside_the_yes_are_read_for_the_offered_subject() -> None:
    caller = make_caller_of_two()
    for line in ("book an appointment", "Ann Bell", "actually I want to book a table"):
        caller.say(line)

    answer = caller.say("yes, book a table for 6 guests")

    assert (answer["intent"], answer["context"]["guests"]) == ("TABLE", 6)


def test_a_change_of_subject_asks_once_and_a_yes_goes_on_with_the_other_form() -> None:
    caller = make_caller_of_two()
    caller.say("book an appointment")

    answer = hold(
        caller,
        ("Ann Bell", "COLLECT", "Please tell me: number of persons."),
        ("actually I want to book a table", "COLLECT", ASK_SWITCH),
        ("no", "COLLECT", "Please tell me: number of persons."),
        ("actually I want to book a table", "COLLECT", ASK_SWITCH),
        ("yes", "COLLECT", "How many guests?"),
    )

    assert answer["intent"] == "TABLE"
    assert "name" not in answer["context"]


LOGS = {
    "code": "LOGS", "title": "Order firewood", "kind": "collect", "locale": "en-GB", "phrases": ["I want some logs"],
    "fields": [
        {"name": "wood", "title": "Wood", "type": "choice", "question": "Hardwood or softwood?",
         "options": [{"value": "hard", "label": "Hardwood"}, {"value": "soft", "label": "Softwood"}]},
        {"name": "loads", "title": "Loads", "type": "number", "question": "How many loads?"},
        {"name": "day", "title": "Delivery day", "type": "date", "question": "When?"},
    ],
    "answer": "On their way.",
}  # fmt: skip


def test_a_value_of_the_offered_form_goes_on_with_it() -> None:
    make_flows(LOGS)
    caller = make_caller(DENTIST)

    answer = hold(
        caller,
        ("book an appointment", "COLLECT", "What is your name?"),
        ("Ann Bell", "COLLECT", "Please tell me: number of persons."),
        ("actually I want some logs", "COLLECT", "Do you want to stop this and go on with “Order firewood”?"),
        ("softwood", "COLLECT", "How many loads?"),
    )

    assert answer["intent"] == "LOGS"
    assert answer["context"]["wood"] == "soft"


@pytest.mark.parametrize("text", ["let's leave it, the dentist can wait"])
def test_who_puts_the_matter_off_is_asked_whether_to_stop(text: str) -> None:
    caller = make_caller(DENTIST)

    hold(
        caller,
        ("book an appointment", "COLLECT", "What is your name?"),
        ("Ann Bell", "COLLECT", "Please tell me: number of persons."),
        (text, "COLLECT", ASK_LEAVE),
        ("yes", "UNKNOWN", CANCELLED),
    )


@pytest.mark.parametrize("text", ["goodbye", "bye bye", "ok thanks, bye", "see you then"])
def test_who_says_goodbye_in_a_form_is_asked_whether_to_stop(text: str) -> None:
    caller = make_caller()
    start = (("book an appointment", "COLLECT", "What"), ("Ann Hill", "COLLECT", "Please tell"))
    hold(caller, *start, (text, "COLLECT", ASK_LEAVE), ("no", "COLLECT", "Please tell"), ("2", "CONFIRM", CHECK[:14]))
    hold(caller, ("goodbye", "CONFIRM", ASK_LEAVE), ("yes", "UNKNOWN", CANCELLED))


def test_goodbye_beside_a_value_or_a_yes_is_a_courtesy() -> None:
    start = (("book an appointment", "COLLECT", "What"), ("Ann Hill", "COLLECT", "Please tell"))
    hold(make_caller(), *start, ("2, bye", "CONFIRM", CHECK[:14]), ("yes, bye", "DONE", "Booked"))


def test_a_form_without_values_is_left_for_another_at_once() -> None:
    caller = make_caller_of_two()

    answer = hold(
        caller,
        ("book an appointment", "COLLECT", "What is your name?"),
        ("I want to book a table", "COLLECT", "How many guests?"),
    )

    assert answer["intent"] == "TABLE"


@pytest.mark.parametrize("text", ["forget it", "never mind"])
def test_forget_it_at_a_change_of_subject_neither_goes_on_with_it_nor_drops_values(text: str) -> None:
    caller = make_caller_of_two()
    for line in ("book an appointment", "Ann Bell"):
        caller.say(line)

    hold(
        caller,
        ("actually I want to book a table", "COLLECT", ASK_SWITCH),
        (text, "COLLECT", ASK_LEAVE),
        ("no", "COLLECT", "Please tell me: number of persons."),
        ("actually I want to book a table", "COLLECT", ASK_SWITCH),
        (text, "COLLECT", ASK_LEAVE),
        ("yes", "UNKNOWN", CANCELLED),
    )


@pytest.mark.parametrize(
    ("flow", "lines", "texts"),
    [
        pytest.param(
            TAXI,
            ("I need a taxi",),
            (
                (
                    "I don't know the place",
                    "I cannot go on without this (“Place”). If you do not know it, you can ask to",
                ),
                ("no idea", "I cannot go on without this (“Place”)."),
                ("no idea, sorry", "A colleague takes over."),
            ),
            id="with a person",
        ),
        pytest.param(
            ZAHNARZT,
            ("Ich brauche einen Zahnarzt",),
            (("das weiß ich noch nicht", "Ohne diese Angabe („Tag“) kann ich nicht weitermachen. An welchem Tag?"),),
            id="in German, without a person",
        ),
    ],
)
def test_who_does_not_know_a_required_value_hears_that_it_is_needed_and_who_can_help(
    flow: dict[str, Any], lines: tuple[str, ...], texts: tuple[tuple[str, str], ...]
) -> None:
    caller = make_caller(flow)
    for line in lines:
        caller.say(line)

    for text, expected in texts:
        assert caller.say(text)["payload"]["value"].startswith(expected), text


def test_at_the_confirmation_another_subject_asks_too() -> None:
    caller = make_caller_of_two()
    book(caller)

    hold(caller, ("I want to book a table", "CONFIRM", ASK_SWITCH), ("no", "CONFIRM", CHECK.format("Ann Bell")))


def test_the_phrase_of_the_form_itself_is_neither_a_name_nor_a_miss() -> None:
    caller = make_caller()

    hold(
        caller,
        ("book an appointment", "COLLECT", "What is your name?"),
        ("I need to see a dentist", "COLLECT", "What is your name?"),
        ("Max Payne", "COLLECT", "Please tell me: number of persons."),
        ("I need to see a dentist", "COLLECT", "Please tell me: number of persons."),
    )


def test_a_question_after_the_end_is_not_answered_twice() -> None:
    caller = make_caller()

    hold(
        caller,
        ("what are your prices?", "IDLE", "80 pounds."),
        ("thanks a lot", "IDLE", THANKS),
        ("purple elephants", "IDLE", "Sorry, I did not understand that."),
        ("what are your prices?", "IDLE", "80 pounds."),
    )


def test_thanks_inside_a_form_repeat_the_question_without_a_reproach() -> None:
    caller = make_caller()

    hold(
        caller,
        ("book an appointment", "COLLECT", "What is your name?"),
        ("what?", "COLLECT", "Sorry, I did not understand that. What is your name?"),
        ("thanks", "COLLECT", "What is your name?"),
    )


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("hi", "Hello! How can I help you?"),
        ("thanks", THANKS),
        ("purple elephants", "Sorry, I did not understand that. Please say in other words"),
    ],
)
def test_a_new_conversation_may_begin_with_a_greeting(text: str, answer: str) -> None:
    hold(make_caller(), (text, "UNKNOWN", answer), ("book an appointment", "COLLECT", "What is your name?"))


def make_answers(count: int) -> None:
    for number in range(count):
        flow = {"code": f"A{number}", "title": f"Question {number}", "kind": "answer", "answer": "Yes."}
        add_rows(write_rows({**flow, "phrases": [f"topic{number}"]}), author="ada", reason="begin")


@pytest.mark.parametrize(
    ("flow", "text", "answer"),
    [
        (DENTIST, "help", "I can help you with: Dentist appointment, Question 0. What would you like to do?"),
        (DENTIST, "what can you do?", "I can help you with: Dentist appointment, Question 0. What would"),
        (ZAHNARZT, "lila Elefanten", "Das habe ich leider nicht verstanden. Bitte sagen Sie mit anderen Worten, was"),
    ],
)
def test_what_can_be_asked_for_is_told_in_the_language_of_the_conversation(
    flow: dict[str, Any], text: str, answer: str
) -> None:
    CeConfig.objects.create(config_type="Session", config_key="LOCALE", config_value=flow["locale"])
    make_answers(1)
    hold(make_caller({**flow, "questions_and_answers": []}), (text, "UNKNOWN", answer))


def test_at_most_five_things_are_told_tasks_first() -> None:
    make_answers(7)
    told = hold(make_caller(), ("help", "UNKNOWN", "I can help you with: Dentist appointment, Question 0, "))
    assert told["payload"]["value"].endswith("Question 3 and more. What would you like to do?")


@pytest.mark.parametrize(
    ("act", "state", "answer"),
    [
        pytest.param("AFFIRM", "UNKNOWN", CANCELLED, id="a model's yes leaves the form"),
        pytest.param("NEGATE", "CONFIRM", CHECK.format("Ann Bell"), id="a model's no goes on with the confirmation"),
    ],
)
def test_a_model_s_yes_or_no_answers_the_question_whether_to_stop(act: str, state: str, answer: str) -> None:
    add_rows(
        {
            "ce_config": [
                make_setting("DialogueActStep/RESOLUTE", "LLM_ONLY"),
                make_setting("SchemaExtractionStep/EXTRACTOR", "DETERMINISTIC"),
            ]
        },
        author="ada",
        reason="a model",
    )
    caller = make_caller()
    book(caller)
    caller.say("stop")

    with answer_by_model(DIALOGUE_ACT={"dialogueAct": act, "confidence": 0.99}):
        hold(caller, ("that would be the best, I suppose", state, answer))


MANAGER = {
    "code": "MANAGER", "title": "Talk to somebody", "kind": "handover", "locale": "en-GB",
    "phrases": ["I want to see the manager", "there is a problem with my teeth"], "answer": "I am calling the manager.",
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("never mind the appointment, I want to see the manager", "I am calling the manager."),
        ("forget it, there is a big problem with my teeth", "I am calling the manager."),
        ("never mind, I need a taxi", "Do you want to stop this and go on with “Taxi”?"),
        ("never mind, I will walk", ASK_LEAVE),
        ("forget it, my wife drives me, no taxi today", ASK_LEAVE),
    ],
)
def test_who_leaves_a_form_may_say_where_to_go(text: str, answer: str) -> None:
    make_flows(DENTIST, TAXI, MANAGER)
    caller = Caller()
    for line in ("book an appointment", "Ann Bell"):
        caller.say(line)

    assert caller.say(text)["payload"]["value"] == answer
