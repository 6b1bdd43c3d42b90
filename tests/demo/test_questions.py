"""The help desk's open questions: thanks are no answer to them, a no is a no however it is said."""

import pytest

from tests.api import Caller
from tests.demo.talking import books, talk

# How people put things is no matter of the database; test_conversations talks on each.
pytestmark = [pytest.mark.usefixtures("shared_helpdesk"), pytest.mark.long]

LEFT = "I leave everything as it is"
CANCEL = ("cancel order 51007", "Shall I cancel it", "CONFIRM")


@pytest.mark.parametrize(
    "said",
    ["thanks", "cool, thanks", "Thank you so much!", "🙏", "super, thanks a lot"],
)  # fmt: skip
def test_a_thank_you_at_the_question_does_not_lose_it(customer: Caller, said: str) -> None:
    talk(customer, [CANCEL, (said, "You are welcome!\n\nLet us go on. Order 51007", "CONFIRM")])
    assert books("51007") == "open"

    talk(customer, [("yes", "order 51007 is cancelled", "DONE"), (said, "You are welcome!", "IDLE")])


def test_thanks_that_agree_are_a_yes(customer: Caller) -> None:
    talk(customer, [CANCEL, ("ok thanks", "order 51007 is cancelled", "DONE")])


@pytest.mark.parametrize(
    ("begin", "state"),
    [("refund 60415", "CONFIRM"), ("refund 51007", "OFFER"), ("close my account", "CONFIRM"),
     ("move my electricity, meter 12345678, 5 Oak Street, solo, 3 march 2041, a@example.com", "CONFIRM")],
)  # fmt: skip
def test_every_question_outlives_a_thank_you(customer: Caller, begin: str, state: str) -> None:
    answer = customer.say(begin)

    talk(customer, [("cool, thanks", answer["payload"]["value"][-40:], state)])


@pytest.mark.parametrize(
    ("said", "address", "day"),
    [
        ("on 1 march 2041 to 12 mill lane", "12 mill lane", "Friday 1 March 2041"),
        ("14 February 2041 to 7 Harbour Road", "7 Harbour Road", "Thursday 14 February 2041"),
        ("moving on the 14th of February 2041 to 7 Harbour Road", "7 Harbour Road", "Thursday 14 February 2041"),
        ("5 St. John's Court, March 3, 2041", "5 St. John's Court", "Sunday 3 March 2041"),
    ],
)
def test_a_day_is_no_part_of_an_address(customer: Caller, said: str, address: str, day: str) -> None:
    talk(
        customer,
        [
            (
                "move my electricity, meter 12345678, solo, a@example.com",
                "Please tell me: new address and move-in date",
                "COLLECT",
            ),
            (said, f"new address: {address}, move-in date: {day}", "CONFIRM"),
        ],
    )


@pytest.mark.parametrize(
    "no",
    ["nope, sorry", "no thx sorry", "no i dont think so", "I said no", "not really"],
)  # fmt: skip
def test_a_no_is_a_no_however_it_is_said(customer: Caller, no: str) -> None:
    talk(customer, [CANCEL, (no, LEFT, "KEPT")])

    assert books("51007") == "open"


WAYS = ("yes", "There are two ways: card", "CONFIRM")


@pytest.mark.parametrize("no", ["no", "no thanks", "i said no"])
def test_one_no_ends_the_question_which_way(customer: Caller, no: str) -> None:
    talk(
        customer,
        [
            ("refund 60415", "Shall I refund it?", "CONFIRM"),
            WAYS,
            (no, LEFT, "KEPT"),
            ("yes", "What else can I do for you?", "KEPT"),
            ("refund 60415", "Shall I refund it?", "CONFIRM"),
            WAYS,
        ],
    )
    assert books("60415") == "delivered"


@pytest.mark.parametrize(
    ("said", "reference"),
    [
        ("the first", "R-60415"), ("the second one", "V-60415"), ("I'll take option 2 please", "V-60415"),
        ("card pls", "R-60415"), ("the money", "R-60415"),
    ],
)  # fmt: skip
def test_a_way_is_told_by_its_name_or_its_number(customer: Caller, said: str, reference: str) -> None:
    talk(
        customer,
        [("refund 60415", "Shall I refund it?", "CONFIRM"), WAYS, (said, f"Your reference is {reference}.", "DONE")],
    )


@pytest.mark.parametrize("said", ["not the first", "the first, no wait", "voucher, not card", "the one", "one moment"])
def test_a_way_that_is_not_clear_is_asked_for_again(customer: Caller, said: str) -> None:
    talk(
        customer,
        [
            ("refund 60415", "Shall I refund it?", "CONFIRM"),
            (said, "Shall I refund it?", "CONFIRM"),
            WAYS,
            (said, WAYS[1], "CONFIRM"),
        ],
    )
    assert books("60415") == "delivered"


@pytest.mark.parametrize("said", ["call me on 0800 55501", "my zip is 90210", "I live in 10115 Berlin"])
def test_another_number_is_no_order(customer: Caller, said: str) -> None:
    talk(
        customer,
        [
            ("cancel my order", "Its number has five digits", "COLLECT"),
            (said, "", "COLLECT"),
            ("no", "five digits", "COLLECT"),
        ],
    )


@pytest.mark.parametrize("again", ["close my account", "please delete my account", "end my contract"])
def test_who_said_no_may_ask_again(customer: Caller, again: str) -> None:
    asked = ("Shall I close it?", "CONFIRM")

    talk(customer, [("close my account", *asked), ("no", LEFT, "KEPT"), (again, *asked), ("no", LEFT, "KEPT")])
