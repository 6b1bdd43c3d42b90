"""The help desk as people type who have not read what it understands: denials, limits, second thoughts."""

from typing import Any

import pytest

from config_admin.models import CeConfig
from tests.api import Caller
from tests.demo.talking import books, talk

# How people put things is no matter of the database; test_conversations talks on each.
pytestmark = pytest.mark.usefixtures("shared_helpdesk")

UNKNOWN = "Sorry, I did not understand that. Please say in other words"
LEFT = "I leave everything as it is"
MOVE = (
    "PLS MOVE MY CONNECTION, meter 12345678, new adress 5 Oak Street, comfort tariff, moving in on 3 march 2041, "
    "mail me at anna@example.com"
)


@pytest.mark.parametrize(
    "said",
    [
        "please do NOT cancel my order",
        "I don't want to cancel",
        "dont cancel my order!",
        "never cancel anything",
        "pls don’t refund it",
        "i dont want to close my account",
        "do not move my electricity please",
        "nah keep it",
    ],
)
def test_what_is_not_wanted_is_not_begun(customer: Caller, said: str) -> None:
    talk(customer, [(said, LEFT, "IDLE"), ("blah blah", UNKNOWN, "UNKNOWN"), ("never mind", LEFT, "IDLE")])
    talk(customer, [("cancel order 51007", "Shall I cancel it", "CONFIRM"), (said, LEFT, "IDLE")])

    assert books("51007") == "open"


def test_what_is_wanted_instead_is_begun(customer: Caller) -> None:
    talk(
        customer,
        [("i dont want to close my account but cancel order 51007", "Order 51007 is a set of LED lamps", "CONFIRM")],
    )


@pytest.mark.parametrize(
    "yes",
    ["y", "yep", "yeah sure", "YESSS", "yes!!! :)", "👍", "ok then", "yea go ahead thanks", "sure, do it",
     "that's right", "ok then cancel", "hm, okay", "Yes. Thank you", "yup yup"],
)  # fmt: skip
def test_a_yes_at_the_question(customer: Caller, yes: str) -> None:
    talk(customer, [("cancel order 51007", "Shall I cancel it", "CONFIRM"), (yes, "is cancelled", "DONE")])


@pytest.mark.parametrize(
    "no",
    ["n", "no wait", "oh no wait", "nope!", "no way", "wait, no", "not yet", "no no no", "no, keep it",
     "sorry, I changed my mind", "please don't", "don't cancel it", "Stop!", "no thx"],
)  # fmt: skip
def test_a_no_at_the_question(customer: Caller, no: str) -> None:
    talk(customer, [("cancel order 51007", "Shall I cancel it", "CONFIRM"), (no, LEFT, "IDLE")])
    talk(customer, [("refund 60415", "Shall I refund it?", "CONFIRM"), (no, LEFT, "IDLE")])

    assert (books("51007"), books("60415")) == ("open", "delivered")


@pytest.mark.parametrize("unclear", ["wait", "hmm", "yes and no", "no idea", "is that final?", "not sure", "maybe"])
def test_what_is_neither_changes_nothing_and_is_asked_again(customer: Caller, unclear: str) -> None:
    talk(
        customer,
        [
            ("cancel order 51007", "Shall I cancel it", "CONFIRM"),
            (unclear, "did not understand that. Order 51007", "CONFIRM"),
            ("n", LEFT, "IDLE"),
        ],
    )


def test_a_no_to_a_refund_does_not_choose_the_way_of_the_next(customer: Caller) -> None:
    talk(
        customer,
        [
            ("i never got order 60415, refund me!!!", "You paid 649.00", "CONFIRM"),
            ("no thanks", LEFT, "IDLE"),
            ("REFUND ORDER 60415 NOW", "You paid 649.00", "CONFIRM"),
            ("y", "There are two ways", "CONFIRM"),
            ("card pls", "the money is on its way to your card", "DONE"),
            ("cancel 48392 too", "Order 48392 is a smart thermostat", "CONFIRM"),
            ("yeah", "order 48392 is cancelled", "DONE"),
            ("cool thx", "You are welcome!", "IDLE"),
            ("👍", "You are welcome!", "IDLE"),
        ],
    )


def test_an_order_is_tracked_and_then_cancelled_without_its_number_again(customer: Caller) -> None:
    talk(
        customer,
        [
            ("hey can u track my order", "What is the order number?", "COLLECT"),
            ("48392?", "is being packed", "KNOWN"),
            ("hows the weather", UNKNOWN, "UNKNOWN"),
            ("can i still cancel it?", "Order 48392 is a smart thermostat", "CONFIRM"),
            ("yes", "order 48392 is cancelled", "DONE"),
            ("is it cancelled?", "Order 48392, a smart thermostat, is cancelled.", "KNOWN"),
            ("thats wrong!!", UNKNOWN, "UNKNOWN"),
            ("and 51007", "Order 51007, a set of LED lamps", "KNOWN"),
        ],
    )


def test_two_orders_at_once_are_taken_one_by_one(customer: Caller) -> None:
    talk(
        customer,
        [
            ("cancel order 48392 and 51007", "I take one order at a time", "COLLECT"),
            ("whats the phone number", "could not find an order number in that", "COLLECT"),
            ("my old order number was 51007", "could not find an order number in that", "COLLECT"),
            ("not 51007 but 48392", "Order 48392", "CONFIRM"),
            ("i mean 51007", "Order 51007", "CONFIRM"),
            ("Y", "order 51007 is cancelled", "DONE"),
        ],
    )


def test_a_move_is_read_as_it_is_meant(customer: Caller) -> None:
    talk(
        customer,
        [
            ("switch to connection transfer", "Please tell me the meter number", "COLLECT"),
            ("12345678", "I still need the new address", "COLLECT"),
            ("my old address is 5 Oak Street", "could not find that", "COLLECT"),
            ("I used to live at 5 Oak Street, now it's 12 Mill Lane", "I still need the day you move in", "COLLECT"),
            ("before 2041-03-09", "could not find that", "COLLECT"),
            ("any day but 2041-03-09", "could not find that", "COLLECT"),
            ("by all means 2041-03-09", "I still need the tariff", "COLLECT"),
            ("switch from Solo to Comfort", "I still need your e-mail address", "COLLECT"),
            ("the tariff from flat 5 was nice", "could not find that", "COLLECT"),
            ("not bob@example.com but anna@example.com", "Meter 12345678 goes to 12 Mill Lane on 2041-03-09, with the "
             "tariff Comfort; the confirmation goes to anna@example.com.", "CONFIRM"),
        ],
    )  # fmt: skip


def test_a_move_is_corrected_as_a_whole_or_not_at_all(customer: Caller) -> None:
    kept = "Meter 12345678 goes to 5 Oak Street on 2041-03-03, with the tariff Comfort"
    talk(
        customer,
        [
            (MOVE, kept, "CONFIRM"),
            ("change the meter number to 99999999 and the tariff to gold", "You can choose Solo, Comfort, Soirée. "
             + kept, "CONFIRM"),
            ("change the meter number to 12 and the tariff to solo", "A meter number has eight digits. " + kept,
             "CONFIRM"),
            ("change the email to foo", "I cannot take your e-mail address like that.", "CONFIRM"),
            ("no, the address is wrong", "To change something, say", "CONFIRM"),
            ("its 7 High Road", "goes to 7 High Road", "CONFIRM"),
            ("yes but with tariff solo", "with the tariff Solo", "CONFIRM"),
            ("can i do 6 may 2041 instead?", "on 2041-05-06", "CONFIRM"),
            ("i dont want to move my electricity anymore", LEFT, "IDLE"),
            ("move my electricity", "Please tell me the meter number, the new address", "COLLECT"),
        ],
    )  # fmt: skip


def test_a_day_that_has_passed_is_refused_with_what_is_allowed(customer: Caller) -> None:
    talk(
        customer,
        [
            ("move my electricity", "Please tell me", "COLLECT"),
            ("on 1 january 2020, meter 12345678", "2020-01-01 has passed: the day you move in must be", "COLLECT"),
            ("12 mill lane", "I still need the day you move in", "COLLECT"),
            ("solo, a@example.org", "Thank you. I still need the day you move in.", "COLLECT"),
            ("31 december 2019", "2019-12-31 has passed", "COLLECT"),
            ("1 june 2041", "on 2041-06-01", "CONFIRM"),
            ("change the date to 2 june 2019", "2019-06-02 has passed", "COLLECT"),
            ("2 june 2041", "on 2041-06-02", "CONFIRM"),
            ("yes", "your electricity moves to 12 mill lane on 2041-06-02", "DONE"),
        ],
    )


def test_a_day_that_passes_before_the_yes_is_asked_for_again(customer: Caller, settings: Any) -> None:
    talk(customer, [(MOVE, "on 2041-03-03", "CONFIRM")])
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_OFFSET_SECONDS": 20 * 365 * 86400.0}

    talk(customer, [("yes", "2041-03-03 has passed", "COLLECT"), ("3 march 2061", "on 2061-03-03", "CONFIRM")])


def test_a_question_in_between_is_answered_and_the_move_goes_on(customer: Caller) -> None:
    talk(
        customer,
        [
            (MOVE, "Is that right?", "CONFIRM"),
            ("what does comfort cost?", "Your move is not arranged yet: say “move my electricity”", "IDLE"),
            ("ok", "You are welcome! Your move is not arranged yet", "IDLE"),
            ("move my electricity", "Meter 12345678 goes to 5 Oak Street", "CONFIRM"),
            ("what are your opening hours", "Your move is not arranged yet", "IDLE"),
            ("never mind", "All right, I leave everything as it is. What else can I do for you?", "IDLE"),
            ("move my electricity", "Please tell me the meter number", "COLLECT"),
            ("which tariff is cheapest?", "We have three tariffs", "IDLE"),
        ],
    )


def test_a_question_about_what_is_asked_for_stays_with_it(customer: Caller) -> None:
    talk(
        customer,
        [
            ("cancel order", "What is the order number?", "COLLECT"),
            ("where do i find that number?", "Let us finish this first", "COLLECT"),
            ("how do i pay my bill", "You can pay by direct debit", "IDLE"),
        ],
    )


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ("HI THERE", "I can cancel or track"),
        ("hi, refund pls", "What is the order number?"),
        ("what can you do", "I can cancel or track"),
        ("help", "I can cancel or track"),
        ("i need a human", "You reach a person"),
        ("do you deliver to berlin?", "Orders from the shop arrive"),
        ("my power is out!!!", "First look at your fuse box"),
        ("how long is the warranty", "two-year warranty"),
        ("i want to return it", "within 30 days"),
        ("explain my bill pls", "Your bill has three parts"),
        ("thanks a bunch", "You are welcome!"),
        ("ok great thank you so much for your help!", "You are welcome!"),
        ("bye", "You are welcome!"),
        ("cancel pls", "What is the order number?"),
        ("and on sat?", "On Saturdays"),
        ("my old order 51007 never arrived", "is being packed"),
        ("close my acount", "Shall I close it?"),
        ("my parcel arrived damaged", "within 30 days"),
        ("my thermostat is broken!!", "two-year warranty"),
        ("i cant pay my bill", "You can pay by direct debit"),
        ("my bill is too high", "Your bill has three parts"),
        ("can i change my tariff", "You can change once a month"),
        ("you dont understand me", "You reach a person"),
        ("", UNKNOWN),
        ("   ", UNKNOWN),
        ("...", UNKNOWN),
        ("???", UNKNOWN),
        ("😀😀", UNKNOWN),
        ("asdfghjkl", UNKNOWN),
        ("no", UNKNOWN),
    ],
)
def test_what_people_open_with(customer: Caller, said: str, part: str) -> None:
    answer = customer.say(said)

    assert part in answer["payload"]["value"]


def test_what_can_be_asked_for_is_told_without_the_small_talk(customer: Caller) -> None:
    told = customer.say("asdf")["payload"]["value"]

    assert "You can ask for: Cancel an order, Track an order" in told
    assert told.endswith("Talk to a person.")
    assert not any(name in told for name in ("hello", "Greeting", "Thanks", "Never", "Reset", "Start over"))


def test_a_question_between_two_topics_is_answered_or_let_go(customer: Caller) -> None:
    CeConfig.objects.filter(config_key="COLLISION_BY_PRIORITY").delete()
    which = "Do you mean Understanding the bill or Warranty?"
    talk(
        customer,
        [
            ("how long is the warranty", "two-year warranty", "IDLE"),
            ("explain my bill and the guarantee", which, "INTENT_COLLISION"),
            ("hmm", which, "INTENT_COLLISION"),
            ("dunno", UNKNOWN, "UNKNOWN"),
            ("blah", UNKNOWN, "UNKNOWN"),
            ("how long is the warranty", "two-year warranty", "IDLE"),
            ("cancel order", "What is the order number?", "COLLECT"),
            ("switch to explain my bill and the guarantee for 48392", which, "INTENT_COLLISION"),
            ("hmm", which, "INTENT_COLLISION"),
            ("2", "two-year warranty", "IDLE"),
        ],
    )
    assert customer.say("blah")["intent"] == "UNKNOWN"


def test_an_order_that_has_not_left_is_offered_to_be_cancelled(customer: Caller) -> None:
    offered = "has not left us yet, so there is nothing to refund. Shall I cancel it instead?"
    talk(
        customer,
        [
            ("Refund 51007", offered, "OFFER"),
            ("nah", LEFT, "IDLE"),
            ("refund 51007", offered, "OFFER"),
            ("hm", UNKNOWN, "UNKNOWN"),
            ("refund 51007", offered, "OFFER"),
            ("yes please", "Order 51007 is a set of LED lamps for 34.50. Shall I cancel it for good?", "CONFIRM"),
            ("yes", "order 51007 is cancelled", "DONE"),
            ("refund 51007", "is cancelled already. There is nothing more to refund.", "REFUSED"),
        ],
    )


@pytest.mark.parametrize(
    "said",
    [
        "yes but not now", "ok wait", "sure?", "yes, don't", "yes or no?", "okay no", "right, no", "do it later",
        "fine, forget it", "i am not sure", "not sure", "i do not", "yes i want to keep it", "yesterday", "okidoki not",
        "please cancel it not", "no yes", "yes no", "don't cancel", "correct the number", "cancel it? no", "yes 48392",
        "never", "i didn't say yes", "if you say yes i say no", "ok, and the tariffs?", "👎", "k?", "not ok",
    ],
)  # fmt: skip
def test_nothing_is_done_on_what_is_no_clear_yes(customer: Caller, said: str) -> None:
    talk(customer, [("cancel order 51007", "Shall I cancel it", "CONFIRM")])

    customer.say(said)

    assert (books("51007"), books("48392")) == ("open", "open")


@pytest.mark.parametrize(
    ("begin", "yes", "state"),
    [
        ("cancel order 51007", "yes cancel it now please", "DONE"),
        ("refund 60415", "refund it", "CONFIRM"),
        (MOVE, "ok move it", "DONE"),
    ],
)
def test_the_word_for_what_was_asked_is_a_yes(customer: Caller, begin: str, yes: str, state: str) -> None:
    customer.say(begin)

    assert customer.say(yes)["state"] == state


def test_a_yes_after_many_second_thoughts_still_counts_and_a_late_one_is_asked_for_again(
    customer: Caller, settings: Any
) -> None:
    talk(
        customer,
        [
            (MOVE, "on 2041-03-03", "CONFIRM"),
            ("no, may 4 2041", "on 2041-05-04", "CONFIRM"),
            ("not may 4 2041 but may 5 2041", "on 2041-05-05", "CONFIRM"),
            ("before may 5 2041", "Sorry, I did not understand that.", "CONFIRM"),
            ("my phone number is 55512345", "Sorry, I did not understand that.", "CONFIRM"),
            ("not 12345678 but 87654321", "Meter 87654321 goes to", "CONFIRM"),
        ],
    )
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_OFFSET_SECONDS": 3600.0}

    talk(
        customer,
        [
            ("yes", "That was a while ago, so I ask once more. Meter 87654321 goes to", "CONFIRM"),
            ("yes", "Your reference is M-87654321.", "DONE"),
        ],
    )
