"""The help desk as customers talk to it: over HTTP, in capitals, with thanks, slips and corrections."""

from datetime import date

import pytest

from convengine.server.extensions.registry import Registry
from convengine.server.extensions.tasks import TaskCall
from tests.api import Caller
from tests.demo.talking import books, talk

pytestmark = pytest.mark.usefixtures("shared_helpdesk")

APPROVED = {"inputParams": {"approval_granted": True}}


def test_an_order_is_cancelled_once_however_it_is_asked(customer: Caller) -> None:
    talk(
        customer,
        [
            ("Hiya :)", "I can cancel", "IDLE"),
            ("GOOD MORNING", "I can cancel", "IDLE"),
            ("Hi, I'd like to CANCEL my order pls", "What is the order number?", "COLLECT"),
            ("hmm, which one was it", "could not find an order number", "COLLECT"),
            ("4839", "it has five digits", "COLLECT"),
            ("11111", "I find no order 11111", "COLLECT"),
            ("sorry!! its 51007, no wait, 48392 thx", "Order 48392 is a smart thermostat for 129.00", "CONFIRM"),
            ("erm", "Sorry, I did not understand that. Order 48392", "CONFIRM"),
            ("Thanks, yes please", "order 48392 is cancelled, and you will not be charged. Your reference is C-48392.",
             "DONE"),
            ("yes", "That is done already", "DONE"),
            ("sing me a song", "Sorry, I did not understand that. Please say in other words", "UNKNOWN"),
            ("where's my order 48392?", "is cancelled.", "KNOWN"),
            ("Cancel order 48392", "There is nothing more to cancel", "REFUSED"),
            ("Thank you very much!", "You are welcome!", "IDLE"),
        ],
    )  # fmt: skip

    executed = [turn for turn in range(1, 15) if "PENDING_ACTION_EXECUTED" in customer.stages(turn)]
    assert executed == [9]
    assert books("48392") == "cancelled"


@pytest.mark.parametrize("yes", ["Yes.", "YEP", "ok, cancel it please", "cancel it", "yes please, thanks a lot!"])
def test_a_yes_is_a_yes_as_people_say_it(customer: Caller, yes: str) -> None:
    talk(
        customer,
        [("please cancel order no. 51007", "set of LED lamps", "CONFIRM"), (yes, "order 51007 is cancelled", "DONE")],
    )


@pytest.mark.parametrize("no", ["no", "No thanks", "Never mind!", "oh no, forget it please"])
def test_a_no_leaves_everything_as_it_is(customer: Caller, no: str) -> None:
    talk(
        customer,
        [("cancel order 51007", "Shall I cancel it", "CONFIRM"), (no, "I leave everything as it is", "IDLE")],
    )
    talk(
        customer,
        [("cancel my order", "What is the order number?", "COLLECT"), (no, "I leave everything as it is", "IDLE")],
    )

    assert books("51007") == "open"


def test_a_delivered_order_is_not_cancelled(customer: Caller) -> None:
    talk(
        customer,
        [
            ("can you cancel my order 60415", "has been delivered already", "REFUSED"),
            ("yes", "Sorry, I did not understand that. Please say", "UNKNOWN"),
        ],
    )


def test_an_action_that_fails_says_that_nothing_was_changed(customer: Caller) -> None:
    confirm = ("cancel order 51007", "Shall I cancel it", "CONFIRM")
    talk(customer, [confirm])
    talk(Caller(), [confirm, ("yes", "order 51007 is cancelled", "DONE")])

    answer = customer.say("yes")

    assert (answer["intent"], answer["state"]) == ("CANCEL_ORDER", "FAILED")
    assert "that did not work, and nothing was changed" in answer["payload"]["value"]
    assert "PENDING_ACTION_FAILED" in customer.stages(2)
    talk(customer, [("cancel order 51007", "is cancelled already", "REFUSED")])


def test_a_connection_moves_with_five_fields_in_any_order_and_corrections(customer: Caller) -> None:
    talk(
        customer,
        [
            ("Hello! Can you move my electricity to my new flat, please?", "the meter number, the new address, the day",
             "COLLECT"),
            ("the weather is nice", "could not find that in your message", "COLLECT"),
            ("thanks! my meter number is 12345678, no wait, 87654321", "I still need the new address", "COLLECT"),
            ("i move in on 03/04/2035", "the month as a word", "COLLECT"),
            ("THX, I MOVE IN ON 1 DECEMBER 2035", "Thank you. I still need the new address, the tariff", "COLLECT"),
            ("tariff: premium", "You can choose Solo, Comfort, Soirée", "COLLECT"),
            ("the soiree one pls", "I still need the new address and your e-mail address", "COLLECT"),
            ("12 mill lane", "I still need your e-mail address", "COLLECT"),
            ("anna at example", "An e-mail address looks like", "COLLECT"),
            ("Anna@Example.com", "Meter 87654321 goes to 12 mill lane on 2035-12-01, with the tariff Soirée",
             "CONFIRM"),
            ("change the email to anna.b@example.com", "I have changed that.", "CONFIRM"),
            ("actually my meter number is 11112222", "Meter 11112222 goes to", "CONFIRM"),
            ("change the tariff to Gold", "You can choose Solo, Comfort, Soirée.", "CONFIRM"),
            ("change the tariff to solo and the date to 5 January 2036", "on 2036-01-05, with the tariff Solo",
             "CONFIRM"),
            ("change the meter number to 99", "A meter number has eight digits.", "CONFIRM"),
            ("blah", "Sorry, I did not understand that. To change something, say", "CONFIRM"),
            ("Great, thanks. YES PLEASE", "Your reference is M-11112222.", "DONE"),
            ("yes", "That is arranged already", "DONE"),
        ],
    )  # fmt: skip

    assert customer.say("thx")["context"]["email"] == "anna.b@example.com"


def test_a_connection_moves_in_one_sentence(customer: Caller) -> None:
    talk(
        customer,
        [
            (
                "Please transfer my connection: meter 12345678, new address 5 Oak Street, moving date 2035-12-01, "
                "tariff Comfort, email bob@example.com. Thanks!",
                "Meter 12345678 goes to 5 Oak Street on 2035-12-01, with the tariff Comfort",
                "CONFIRM",
            ),
            ("no", "I leave everything as it is", "IDLE"),
        ],
    )


def test_of_two_ways_to_refund_one_is_asked_for(customer: Caller) -> None:
    talk(
        customer,
        [
            ("I want my money back for order 60415!!", "You paid 649.00 for order 60415, a wallbox charger", "CONFIRM"),
            ("yes", "There are two ways: card", "CONFIRM"),
            ("hm", "There are two ways: card", "CONFIRM"),
            ("the voucher please", "your voucher is on its way by e-mail. Your reference is V-60415.", "DONE"),
            ("the card", "Sorry, I did not understand that", "UNKNOWN"),
            ("refund order 60415", "is refunded already", "REFUSED"),
            ("refund order 51007", "has not left us yet", "OFFER"),
        ],
    )

    assert books("60415") == "refunded"


@pytest.mark.parametrize(
    ("yes", "reference"), [("yes, as a voucher", "V-60415"), ("Back to my card please", "R-60415")]
)
def test_the_way_may_be_said_at_once(customer: Caller, yes: str, reference: str) -> None:
    talk(
        customer,
        [
            ("can I get a refund for 60415", "Shall I refund it?", "CONFIRM"),
            (yes, f"Your reference is {reference}.", "DONE"),
        ],
    )


def test_a_slip_at_the_question_is_put_right(customer: Caller) -> None:
    talk(
        customer,
        [
            ("cancel 48392", "Order 48392 is a smart thermostat", "CONFIRM"),
            ("no wait, i mean 51007", "Order 51007 is a set of LED lamps", "CONFIRM"),
            ("YESS", "order 51007 is cancelled", "DONE"),
        ],
    )

    assert (books("48392"), books("51007")) == ("open", "cancelled")


def test_closing_an_account_needs_an_approval(customer: Caller) -> None:
    talk(
        customer,
        [
            ("Please close my account", "Shall I close it?", "CONFIRM"),
            ("gibberish", "Sorry, I did not understand that. Closing", "CONFIRM"),
            ("yes", "needs the approval of a colleague", "CONFIRM"),
        ],
    )
    talk(customer, [("yes", "Your account is closed.", "DONE")], **APPROVED)
    talk(customer, [("yes", "Your account is closed already.", "DONE")])


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ("When do you open on Saturday?", "On Saturdays the shop is open from 9 to 14."),
        ("are you open on sun", "We are closed on Sundays"),
        ("and on monday?", "On Mondays the shop is open from 9 to 18."),
        ("Are you open at Christmas?", "We are closed on Sundays and public holidays."),
        ("WHAT ARE YOUR OPENING HOURS", "On Wednesdays the shop is open from 9 to 18."),
        ("are you open tomorrow?", "On Thursdays the shop is open from 9 to 18."),
    ],
)
def test_the_opening_hours_come_from_the_shop(
    customer: Caller, monkeypatch: pytest.MonkeyPatch, asked: str, part: str
) -> None:
    from fixtures.demo import helpdesk

    monkeypatch.setattr(helpdesk, "today", lambda: date(2026, 11, 18))

    talk(customer, [(asked, part, "IDLE")])


def test_the_tariffs_are_those_of_the_season(customer: Caller) -> None:
    talk(customer, [("what are your tariffs?", "price. You can change once a month.", "IDLE")])


def test_a_task_under_the_same_key_acts_once(shared_helpdesk: Registry) -> None:
    cancel = shared_helpdesk.tasks["orders"].methods["cancel"]

    first = cancel(TaskCall({}, {"orderNumber": "48392"}, {}, idempotency_key="k"))
    again = cancel(TaskCall({}, {"orderNumber": "48392"}, {}, idempotency_key="k"))
    other = cancel(TaskCall({}, {"orderNumber": "48392"}, {}, idempotency_key="l"))

    assert first == again
    assert (first.ok, other.ok) == (True, False)
