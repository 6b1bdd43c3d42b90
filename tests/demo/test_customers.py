"""The help desk as people type who have not read what it understands: denials, limits, second thoughts."""

from typing import Any

import pytest

from config_admin.models import CeIntentClassifier
from tests.api import Caller
from tests.demo.talking import books, talk

# How people put things is no matter of the database; test_conversations talks on each.
pytestmark = [pytest.mark.usefixtures("shared_helpdesk"), pytest.mark.long]

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
        "dont cancel my order!",
        "never cancel anything",
        "pls don’t refund it",
        "i dont want to close my account",
        "do not move my electricity please",
        "nah keep it",
    ],
)
def test_what_is_not_wanted_is_not_begun(customer: Caller, said: str) -> None:
    talk(customer, [(said, LEFT, "KEPT"), ("blah blah", UNKNOWN, "KEPT"), ("never mind", LEFT, "KEPT")])
    talk(customer, [("cancel order 51007", "Shall I cancel it", "CONFIRM"), (said, LEFT, "KEPT")])

    assert books("51007") == "open"


def test_what_is_wanted_instead_is_begun(customer: Caller) -> None:
    talk(
        customer,
        [("i dont want to close my account but cancel order 51007", "Order 51007 is a set of LED lamps", "CONFIRM")],
    )


@pytest.mark.parametrize(
    "yes",
    ["y", "yep", "yeah sure", "YESSS", "yes!!! :)", "👍", "ok then", "yea go ahead thanks", "sure, do it",
     "that's right", "hm, okay", "Yes. Thank you", "yup yup"],
)  # fmt: skip
def test_a_yes_at_the_question(customer: Caller, yes: str) -> None:
    talk(customer, [("cancel order 51007", "Shall I cancel it", "CONFIRM"), (yes, "is cancelled", "DONE")])


@pytest.mark.parametrize(
    "no",
    ["n", "nope!", "no way", "not yet", "no no no", "no, keep it", "please don't", "don't cancel it", "no thx"],
)  # fmt: skip
def test_a_no_at_the_question(customer: Caller, no: str) -> None:
    talk(customer, [("cancel order 51007", "Shall I cancel it", "CONFIRM"), (no, LEFT, "KEPT")])
    talk(customer, [("refund 60415", "Shall I refund it?", "CONFIRM"), (no, LEFT, "KEPT")])

    assert (books("51007"), books("60415")) == ("open", "delivered")


@pytest.mark.parametrize("unclear", ["hmm", "yes and no", "is that final?", "not sure", "maybe"])
def test_what_is_neither_changes_nothing_and_is_asked_again(customer: Caller, unclear: str) -> None:
    talk(
        customer,
        [
            ("cancel order 51007", "Shall I cancel it", "CONFIRM"),
            (unclear, "did not understand that. Order 51007", "CONFIRM"),
            ("n", LEFT, "KEPT"),
        ],
    )


@pytest.mark.parametrize("said", ["no wait", "wait a moment"])
def test_who_wants_to_wait_is_understood_and_asked_again(customer: Caller, said: str) -> None:
    asked = "Order 51007 is a set of LED lamps for 34.50. Shall I cancel it for good?"
    talk(customer, [("cancel order 51007", asked, "CONFIRM"), (said, asked, "CONFIRM")])

    assert books("51007") == "open"

    talk(customer, [("n", LEFT, "KEPT")])


def test_a_no_to_a_refund_does_not_choose_the_way_of_the_next(customer: Caller) -> None:
    talk(
        customer,
        [
            ("refund me for order 60415!!!", "You paid 649.00", "CONFIRM"),
            ("no thanks", LEFT, "KEPT"),
            ("REFUND ORDER 60415 NOW", "You paid 649.00", "CONFIRM"),
            ("y", "There are two ways", "CONFIRM"),
            ("card pls", "the money is on its way to your card", "DONE"),
            ("cancel 48392 too", "Order 48392 is a smart thermostat", "CONFIRM"),
            ("yeah", "order 48392 is cancelled", "DONE"),
            ("cool thx", "You are welcome!", "IDLE"),
        ],
    )


def test_an_order_is_tracked_and_then_cancelled_without_its_number_again(customer: Caller) -> None:
    talk(
        customer,
        [
            ("hey can u track my order", "Its number has five digits", "COLLECT"),
            ("48392?", "is being packed", "KNOWN"),
            ("hows the weather", UNKNOWN, "KNOWN"),
            ("can i still cancel it?", "Order 48392 is a smart thermostat", "CONFIRM"),
            ("yes", "order 48392 is cancelled", "DONE"),
            ("where is my order?", "Its number has five digits", "COLLECT"),
            ("48392", "Order 48392, a smart thermostat, is cancelled.", "KNOWN"),
            ("thats wrong!!", UNKNOWN, "KNOWN"),
            ("order number 51007", "Order 51007, a set of LED lamps", "KNOWN"),
        ],
    )


def test_two_orders_at_once_are_taken_one_by_one(customer: Caller) -> None:
    talk(
        customer,
        [
            ("cancel order 48392 and 51007", "one order number of five digits", "COLLECT"),
            ("whats the phone number", "You reach a person on 0800 555 0199", "COLLECT"),
            ("not 51007 but 48392", "Order 48392", "CONFIRM"),
            ("i mean 51007", "Order 51007", "CONFIRM"),
            ("Y", "order 51007 is cancelled", "DONE"),
        ],
    )


def test_a_move_is_read_as_it_is_meant(customer: Caller) -> None:
    talk(
        customer,
        [
            ("switch to connection transfer", "Please tell me: meter number", "COLLECT"),
            ("12345678", "Please tell me: new address", "COLLECT"),
            ("my old address is 5 Oak Street", "Sorry, I did not understand that.", "COLLECT"),
            ("I used to live at 5 Oak Street, now it's 12 Mill Lane", "Please tell me: move-in date", "COLLECT"),
            ("before 2041-03-09", "Do you mean Saturday 9 March 2041?", "COLLECT"),
            ("any day but 2041-03-09", "Please tell me: move-in date", "COLLECT"),
            ("by all means 2041-03-09", "Please tell me: tariff and e-mail address.", "COLLECT"),
            ("tariff comfort", "Please tell me: e-mail address.", "COLLECT"),
            ("not bob@example.com but anna@example.com", "meter number: 12345678, new address: 12 Mill Lane, move-in "
             "date: Saturday 9 March 2041, tariff: Comfort, e-mail address: anna@example.com.", "CONFIRM"),
        ],
    )  # fmt: skip


def test_a_move_is_corrected_until_it_is_right(customer: Caller) -> None:
    talk(
        customer,
        [
            (MOVE, "new address: 5 Oak Street, move-in date: Sunday 3 March 2041, tariff: Comfort", "CONFIRM"),
            ("change the email to foo", "Please tell me: e-mail address.", "COLLECT"),
            ("anna@example.com", "e-mail address: anna@example.com", "CONFIRM"),
            ("no, the address is wrong", "Please tell me: new address.", "COLLECT"),
            ("its 7 High Road", "new address: 7 High Road", "CONFIRM"),
            ("yes but with tariff solo", "tariff: Solo", "CONFIRM"),
            ("can i do 6 may 2041 instead?", "Monday 6 May 2041", "CONFIRM"),
            ("never mind", "I have dropped that", "UNKNOWN"),
            ("move my electricity", "Please tell me: meter number, new address", "COLLECT"),
        ],
    )


def test_a_day_that_has_passed_is_refused_with_what_is_allowed(customer: Caller) -> None:
    talk(
        customer,
        [
            ("move my electricity", "Please tell me", "COLLECT"),
            ("on 1 january 2020, meter 12345678", "“on 1 january 2020” is not possible (from ", "COLLECT"),
            ("12 mill lane", "Please tell me: move-in date", "COLLECT"),
            ("solo, a@example.org", "Which move-in date?", "COLLECT"),
            ("31 december 2019", "“31 december 2019” is not possible", "COLLECT"),
            ("1 june 2041", "Saturday 1 June 2041", "CONFIRM"),
            ("change the date to 2 june 2019", "“2 june 2019” is not possible", "COLLECT"),
            ("2 june 2041", "Sunday 2 June 2041", "CONFIRM"),
            ("yes", "your electricity moves to 12 mill lane", "DONE"),
        ],
    )


def test_a_question_in_between_is_answered_and_the_move_goes_on(customer: Caller) -> None:
    talk(
        customer,
        [
            (MOVE, "Shall I move your electricity like that?", "CONFIRM"),
            ("what does comfort cost?", "Let us go on. Please check: meter number: 12345678", "CONFIRM"),
            ("what are your opening hours", "Let us go on. Please check: meter number: 12345678", "CONFIRM"),
            ("refund 60415", "go on with “Get a refund”?", "CONFIRM"),
            ("no", "Please check: meter number: 12345678", "CONFIRM"),
            ("yes", "Your reference is M-12345678.", "DONE"),
            ("move my electricity", "Please tell me: meter number", "COLLECT"),
            ("which tariff is cheapest?", "We have three tariffs", "COLLECT"),
        ],
    )


def test_a_question_about_what_is_asked_for_stays_with_it(customer: Caller) -> None:
    talk(
        customer,
        [
            ("cancel order", "Which order shall I cancel?", "COLLECT"),
            ("where do i find that number?", "at the top of your invoice", "COLLECT"),
            ("how do i pay my bill", "You can pay by direct debit", "COLLECT"),
            ("51007", "Order 51007", "CONFIRM"),
        ],
    )


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ("HI THERE", "I can cancel or track"),
        ("hi, refund pls", "Its number has five digits"),
        ("what can you do", "I can cancel or track"),
        ("help", "I can cancel or track"),
        ("i need a human", "You reach a person"),
        ("my power is out!!!", "First look at your fuse box"),
        ("how long is the warranty", "two-year warranty"),
        ("i want to return it", "within 30 days"),
        ("explain my bill pls", "Your bill has three parts"),
        ("thanks a bunch", "You are welcome!"),
        ("ok great thank you so much for your help!", "You are welcome!"),
        ("bye", "You are welcome!"),
        ("cancel pls", "Its number has five digits"),
        ("and on sat?", "On Saturdays"),
        ("where is my order 51007", "is being packed"),
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


def test_a_topic_that_is_only_near_is_asked_back_and_answered_after_a_yes(customer: Caller) -> None:
    talk(
        customer,
        [
            ("do you deliver to berlin?", "Do you mean Delivery?", "INTENT_COLLISION"),
            ("yes", "Orders from the shop arrive", "IDLE"),
        ],
    )


def test_what_can_be_asked_for_is_told_without_the_small_talk(customer: Caller) -> None:
    told = customer.say("asdf")["payload"]["value"]

    assert "You can ask for: Cancel an order, Track an order" in told
    assert told.endswith("and more.")
    assert not any(name in told for name in ("hello", "Greeting", "Thanks", "Never", "Reset", "Start over"))


def test_a_question_between_two_topics_is_answered_or_let_go(customer: Caller) -> None:
    which = "Do you mean Understanding the bill or Warranty?"
    CeIntentClassifier.objects.create(
        intent_code="FAQ_WARRANTY", state_code="IDLE", rule_type="PHRASE", pattern="explain my bill"
    )
    talk(
        customer,
        [
            ("explain my bill", which, "INTENT_COLLISION"),
            ("hmm", which, "INTENT_COLLISION"),
            ("dunno", UNKNOWN, "UNKNOWN"),
            ("explain my bill", which, "INTENT_COLLISION"),
            ("2", "two-year warranty", "IDLE"),
        ],
    )


def test_an_order_that_has_not_left_is_offered_to_be_cancelled(customer: Caller) -> None:
    order = "Order 51007, a set of LED lamps"
    offered = "has not left us yet, so there is nothing to refund. Shall I cancel it instead?"
    talk(
        customer,
        [
            ("Refund 51007", offered, "OFFER"),
            ("nah", LEFT, "KEPT"),
            ("refund 51007", offered, "OFFER"),
            ("hm", "Sorry, I did not understand that. " + order, "OFFER"),
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


@pytest.mark.parametrize("yes", ["yes cancel it now please", "cancel it", "ok then cancel", "Please cancel my order"])
def test_to_cancel_is_a_yes_where_cancelling_was_asked(customer: Caller, yes: str) -> None:
    customer.say("cancel order 51007")

    assert customer.say(yes)["state"] == "DONE"


def test_a_yes_after_many_second_thoughts_still_counts_and_a_late_one_is_asked_for_again(
    customer: Caller, settings: Any
) -> None:
    talk(
        customer,
        [
            (MOVE, "Sunday 3 March 2041", "CONFIRM"),
            ("no, may 4 2041", "Saturday 4 May 2041", "CONFIRM"),
            ("not may 4 2041 but may 5 2041", "Sunday 5 May 2041", "CONFIRM"),
            ("my weight is 55512345", "Please check: meter number", "CONFIRM"),
            ("not 12345678 but 87654321", "meter number: 87654321", "CONFIRM"),
        ],
    )
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_OFFSET_SECONDS": 3600.0}

    talk(
        customer,
        [
            ("yes", "Please check: meter number: 87654321", "CONFIRM"),
            ("yes", "Your reference is M-87654321.", "DONE"),
        ],
    )
