"""The second demonstration, imported into an empty deployment, holds conversations."""

import pytest
from django.core.management import call_command

from config_admin.flows.reading import list_flows
from config_admin.releases.active import snapshots
from convengine.server import wiring
from convengine.server.model_clients.connections import read_connections
from tests.api import Caller
from tests.browser.bicycle_workshop import BUNDLE, FLOWS
from tests.fakes.openai_server import Says, model_server

pytestmark = pytest.mark.django_db

DIALOGUES = {
    "a repair, with a question in between and a correction": (
        ("my bike is broken", "What kind of bicycle is it: city bike, e-bike, racing bike or child's bike?"),
        ("it's an electric bike", "What is wrong with it?"),
        ("the front brake makes a noise", "On which day can you bring it?"),
        ("how much is a service?", "A service costs 45 pounds; a puncture 12.\n\nLet us go on. On which day"),
        ("tomorrow", "At what time?"),
        ("at half past ten", "What is your name?"),
        ("Emma Stone", "What is your phone number?"),
        ("020 7946 0018", "Please check: Bicycle: e-bike, Problem: the front brake makes a noise, Day: "),
        ("no, my name is Emma Stein", "Please check: Bicycle: e-bike"),
        ("yes", "Thank you, Emma Stein. Your appointment is noted"),
        ("when are you open?", "We are open from 9 to 6, Monday to Saturday."),
    ),
    "a rental": (
        ("can we hire bicycles?", "How many bicycles do you need?"),
        ("three", "From when? Please give day and time."),
        ("tomorrow at 10 am", "For how long?"),
        ("is there a deposit?", "We keep 50 pounds for each bicycle until it is back."),
        ("two days", "Do you need helmets?"),
        ("yes please", "What is your email address?"),
        ("emma@example.org", "Please check: Number of bicycles: 3, Start: "),
        ("yes", "Your 3 bicycles are reserved. We sent a note to emma@example.org."),
    ),
    "a purchase, with a price beyond the bounds": (
        ("do you buy used bicycles", "What is the frame number?"),
        ("my frame number is AB123456", "What price do you ask?"),
        ("about 5000", "“5000” is not possible (from £20 to £3,000). What price do you ask?"),
        ("450 pounds", "At which post code can we collect it?"),
        ("SW1A 1AA", "To which IBAN shall we pay?"),
        ("GB82 WEST 1234 5698 7654 32", "Is there anything else we should know?"),
        ("no", "Please check: Frame number: AB123456, Price: £450, Post code: SW1A 1AA"),
        ("yes", "Thank you. We collect it at SW1A 1AA and pay £450 once we have seen it."),
    ),
    "questions, and then a person": (
        ("Can I pay by card?", "You can pay in cash, by card or by phone."),
        ("Which brands do you sell?", "We sell no new bicycles, only used ones that we repaired."),
        ("let me speak to a person", "One moment, a mechanic takes over."),
    ),
}


@pytest.fixture(autouse=True)
def workshop(db: None) -> None:
    call_command("config_import", str(BUNDLE), "--apply", verbosity=0)


@pytest.mark.parametrize("name", DIALOGUES)
def test_the_workshop_holds_a_conversation(name: str) -> None:
    caller = Caller()
    for text, expected in DIALOGUES[name]:
        answer = caller.say(text)
        assert answer["success"], answer
        assert answer["payload"]["value"].startswith(expected), (text, answer["payload"]["value"])


@pytest.mark.parametrize(
    "answer", [Says("I would rather not say."), Says('{"intent": "NOTHING"}'), Says("down", status=500)]
)
def test_a_model_without_prompts_of_the_bot_changes_no_answer(answer: Says) -> None:
    # The workshop has phrases and forms, and no prompt template: whatever the model says, it works as before.
    with model_server(answer) as server:
        connections = read_connections({"local": {"base_url": server.url, "api_key": "k", "models": ["m"]}})
        model = wiring.make_model_client(connections)
        with wiring.replace_outside_world(wiring.OutsideWorld(model=model)):
            for name in DIALOGUES:
                test_the_workshop_holds_a_conversation(name)
        model.close()

    assert server.requests


def test_each_flow_can_be_edited_again() -> None:
    codes = {flow["code"] for flow in list_flows(snapshots.current())}

    assert codes >= {flow.code for flow in FLOWS}
