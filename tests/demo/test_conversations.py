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
            ("Hi, I'd like to CANCEL my order pls", "Its number has five digits", "COLLECT"),
            ("hmm, which one was it", "Sorry, I did not understand that. Which order", "COLLECT"),
            ("4839", "one order number of five digits", "COLLECT"),
            ("11111", "I find no order 11111", "COLLECT"),
            ("sorry!! its 51007, no wait, 48392 thx", "Order 48392 is a smart thermostat for 129.00", "CONFIRM"),
            ("erm", "Sorry, I did not understand that. Order 48392", "CONFIRM"),
            ("Thanks, yes please", "order 48392 is cancelled, and you will not be charged. Your reference is C-48392.",
             "DONE"),
            ("yes", "What else can I do for you?", "DONE"),
            ("sing me a song", "Sorry, I did not understand that. Please say in other words", "DONE"),
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


@pytest.mark.parametrize("no", ["no", "No thanks", "Never mind!"])
def test_a_no_leaves_everything_as_it_is(customer: Caller, no: str) -> None:
    talk(
        customer,
        [("cancel order 51007", "Shall I cancel it", "CONFIRM"), (no, "I leave everything as it is", "KEPT")],
    )
    talk(
        customer,
        [
            ("cancel my order", "Its number has five digits", "COLLECT"),
            ("oh no, forget it please", "I have dropped that", "UNKNOWN"),
        ],
    )

    assert books("51007") == "open"


def test_a_delivered_order_is_not_cancelled(customer: Caller) -> None:
    talk(
        customer,
        [
            ("can you cancel my order 60415", "has been delivered already", "REFUSED"),
            ("yes", "What else can I do for you?", "REFUSED"),
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
            ("Hello! Can you move my electricity to my new flat?", "Please tell me: meter number, new", "COLLECT"),
            ("the weather is nice", "Sorry, I did not understand that. Please tell me: meter number", "COLLECT"),
            ("thanks! my meter number is 12345678, no wait, 87654321", "Please tell me: new address", "COLLECT"),
            ("THX, I MOVE IN ON 1 DECEMBER 2035", "Please tell me: new address, tariff", "COLLECT"),
            ("tariff: premium", "Which tariff: Solo, Comfort or Soirée?", "COLLECT"),
            ("the soiree one pls", "Please tell me: new address and e-mail address", "COLLECT"),
            ("12 mill lane", "Please tell me: e-mail address.", "COLLECT"),
            ("anna at example", "Please tell me: e-mail address.", "COLLECT"),
            ("Anna@Example.com", "meter number: 87654321, new address: 12 mill lane, move-in date: Saturday 1 December "
             "2035, tariff: Soirée", "CONFIRM"),
            ("change the email to anna.b@example.com", "I have changed that.", "CONFIRM"),
            ("actually my meter number is 11112222", "meter number: 11112222", "CONFIRM"),
            ("change the tariff to solo and the date to 5 January 2036", "Saturday 5 January 2036, tariff: Solo",
             "CONFIRM"),
            ("change the date to 03/04/2036", "Thursday 3 April 2036", "CONFIRM"),
            ("change the tariff to Gold", "Which tariff: Solo, Comfort or Soirée?", "COLLECT"),
            ("comfort", "tariff: Comfort", "CONFIRM"),
            ("change the meter number to 99", "A meter number has eight digits.", "COLLECT"),
            ("11112222", "meter number: 11112222", "CONFIRM"),
            ("blah", "Sorry, I did not understand that. Please check: meter number", "CONFIRM"),
            ("no", "What should I change: meter number, new address", "CONFIRM"),
            ("the tariff", "Which tariff: Solo, Comfort or Soirée?", "COLLECT"),
            ("solo", "tariff: Solo", "CONFIRM"),
            ("Great, thanks. YES PLEASE", "Your reference is M-11112222.", "DONE"),
            ("yes", "What else can I do for you?", "DONE"),
        ],
    )  # fmt: skip

    assert "email" not in customer.say("thx")["context"]


def test_a_connection_moves_in_one_sentence(customer: Caller) -> None:
    talk(
        customer,
        [
            (
                "Please transfer my connection: meter 12345678, new address 5 Oak Street, moving date 2035-12-01, "
                "tariff Comfort, email bob@example.com. Thanks!",
                "new address: 5 Oak Street, move-in date: Saturday 1 December 2035, tariff: Comfort",
                "CONFIRM",
            ),
            ("no", "What should I change", "CONFIRM"),
            ("never mind", "Do you want to stop?", "CONFIRM"),
            ("yes", "I have dropped that", "UNKNOWN"),
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
            ("the card", "Sorry, I did not understand that", "DONE"),
            ("refund order 60415", "is refunded already", "REFUSED"),
            ("refund order 51007", "has not left us yet", "OFFER"),
        ],
    )

    assert books("60415") == "refunded"


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


def test_the_opening_hours_are_told_while_another_question_is_open(customer: Caller) -> None:
    talk(
        customer,
        [
            ("cancel order 51007", "Shall I cancel it", "CONFIRM"),
            ("are you open on Saturday?", "On Saturdays the shop is open from 9 to 14.\n\nLet us go on. Order 51007",
             "CONFIRM"),
            ("yes", "order 51007 is cancelled", "DONE"),
        ],
    )  # fmt: skip


def test_the_tariffs_are_those_of_the_season(customer: Caller) -> None:
    talk(customer, [("what are your tariffs?", "price. You can change once a month.", "IDLE")])


def test_a_task_under_the_same_key_acts_once(shared_helpdesk: Registry) -> None:
    cancel = shared_helpdesk.tasks["orders"].methods["cancel"]

    first = cancel(TaskCall({}, {"orderNumber": "48392"}, {}, idempotency_key="k"))
    again = cancel(TaskCall({}, {"orderNumber": "48392"}, {}, idempotency_key="k"))
    other = cancel(TaskCall({}, {"orderNumber": "48392"}, {}, idempotency_key="l"))

    assert first == again
    assert (first.ok, other.ok) == (True, False)
