"""A flow that is switched off: no conversation begins it, and those that are in it finish it."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from audit.replay.replay import find_replay_difference
from config_admin import models as m
from config_admin.flows.mapping import normalise_flow, write_rows
from config_admin.flows.reading import list_flows, read_flow
from config_admin.flows.saving import update_flow
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from config_admin.releases.undo import revert_release
from config_admin.validation.installation import describe_installation
from config_admin.validation.save_checks import check_row
from convengine.engine.turn.rows import Rule
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.config_admin.admin.pages import newest
from tests.config_admin.builders import make
from tests.config_admin.flows.test_page import sent_by
from tests.dialogues.rows.worlds import DENTIST, get_text, hold, make_flows, say
from tests.record import events

pytestmark = pytest.mark.django_db

TAXI = {
    "code": "TAXI", "title": "Taxi", "kind": "collect", "locale": "en-GB", "phrases": ["I need a taxi"],
    "fields": [
        {"name": "place", "title": "Place", "type": "text", "question": "Where are you?"},
        {"name": "seat", "title": "Baby seat", "type": "yes_no", "question": "Do you need a baby seat?"},
    ],
    "answer": "Booked.", "hand_over": "A colleague takes over.",
}  # fmt: skip
CHECK = "Please check: Name: {}, Number of persons: 2. Is that right?"
#: Near to the dentist, so that a message may mean either.
VET = {**TAXI, "code": "VET", "title": "Vet", "phrases": ["book an appointment", "I need to see a vet"]}
PRICES = "80 pounds."


@pytest.fixture(autouse=True)
def flows() -> None:
    make_flows(DENTIST, TAXI)
    with change_set():
        m.CeResponse.objects.filter(intent_code="UNKNOWN").delete()
        for scope in ("UNKNOWN", "ANY"):
            text = {"response_type": "EXACT", "exact_text": "Pardon?"}
            m.CeResponse.objects.create(intent_code=scope, state_code="UNKNOWN", **text)


def press(client: Client, code: str = "DENTIST", at: str = "flow", **fields: str) -> Any:
    """What the button of a page sends."""
    return client.post(reverse("admin:config_admin_ceintent_switch", args=[code]), {"at_once": at, **fields})


def flow_page(code: str = "DENTIST") -> str:
    return reverse("admin:config_admin_ceintent_flow", args=[code])


def read(code: str = "DENTIST") -> dict[str, Any]:
    reading = read_flow(snapshots.current(), code)
    assert reading is not None
    return reading.document


def test_one_click_switches_it_off_as_one_release_that_is_undone_like_every_other(ben: Client) -> None:
    before = newest().pk
    shown = ben.get(flow_page()).content.decode()
    assert "This flow is on." in shown
    assert ">Switch off</button>" in shown

    answer = press(ben)

    assert (answer["Location"], newest().pk, newest().reason) == (flow_page(), before + 1, "Switch DENTIST off")
    shown = ben.get(flow_page()).content.decode()
    assert "This flow is off." in shown
    assert ">Switch on</button>" in shown
    revert_release(newest().pk, author="ada", reason="a mistake")
    assert "enabled" not in read()


def test_the_list_says_in_words_which_are_off_and_switches_them(ben: Client) -> None:
    address = reverse("admin:config_admin_ceintent_changelist")
    assert 'aria-label="Switch off: Taxi"' in ben.get(address).content.decode()

    assert press(ben, "TAXI", "list")["Location"] == address

    shown = ben.get(address)
    assert 'aria-label="Switch on: Taxi"' in shown.content.decode()
    listed = {row.pk: shown.context["cl"].model_admin.in_use(row)[1] for row in shown.context["cl"].result_list}
    assert listed == listed | {"TAXI": "off", "DENTIST": "on"}


def test_the_list_keeps_its_search_and_page(ben: Client) -> None:
    address = reverse("admin:config_admin_ceintent_changelist")
    query = "q=t%26x&enabled__exact=1&p=2"
    assert f'name="list_query" value="{escape(query)}"' in ben.get(f"{address}?{query}").content.decode()

    assert press(ben, "TAXI", "list", list_query=query)["Location"] == f"{address}?{query}"


@pytest.mark.parametrize("query", ["//evil.example", "\r\nSet-Cookie: a=b", "#", "https://evil.example/?q=1"])
def test_a_query_leads_to_no_other_page(ben: Client, query: str) -> None:
    address = urlsplit(press(ben, "TAXI", "list", list_query=query)["Location"])

    assert (address.netloc, address.path) == ("", reverse("admin:config_admin_ceintent_changelist"))
    assert address.fragment == ""


def test_who_may_only_look_gets_no_button(somebody: Any) -> None:
    reader = somebody("rita", "qa")
    shown = reader.get(reverse("admin:config_admin_ceintent_changelist")).content.decode()
    assert "DENTIST" in shown
    assert "at_once" not in shown


def test_whoever_is_in_the_middle_finishes_and_then_cannot_begin_again(ben: Client) -> None:
    caller = Caller()
    hold(caller, ("book an appointment", "COLLECT", "What is your name?"), ("Ann Hill", "COLLECT", "Please tell"))
    press(ben)

    hold(
        caller,
        ("what are your prices", "COLLECT", PRICES),
        ("2", "CONFIRM", CHECK.format("Ann Hill")),
        ("no, 3 people", "CONFIRM", CHECK.format("Ann Hill").replace("2.", "3.")),
        ("yes", "DONE", "Booked for Ann Hill."),
    )
    chosen = events("RELEASE_CHOSEN", conversation_id=caller.conversation_id)
    assert {event.payload_json["reason"] for event in chosen} == {"SWITCHED_OFF"}
    answer = say(caller, "book an appointment")

    assert (answer["intent"], answer["state"], get_text(answer)) == ("UNKNOWN", "UNKNOWN", "Pardon?")
    for turn in CeConversationHistory.objects.filter(conversation_id=caller.conversation_id):
        assert find_replay_difference(turn) is None
    press(ben)
    assert say(caller, "book an appointment")["state"] == "COLLECT"


def test_somebody_who_leaves_it_is_outside_of_it(ben: Client) -> None:
    caller = Caller()
    say(caller, "book an appointment", "Ann Hill")
    press(ben)

    answer = say(caller, "forget it", "yes", "book an appointment")

    assert (answer["intent"], get_text(answer)) == ("UNKNOWN", "Pardon?")


@pytest.mark.parametrize("text", ["book an appointment", "I need to see a dentist", "what are your prices"])
def test_nobody_begins_it(ben: Client, text: str) -> None:
    assert say(Caller(), text)["state"] != "UNKNOWN"
    press(ben)
    assert get_text(say(Caller(), text)) == "Pardon?"


def test_nobody_is_asked_whether_it_is_meant(ben: Client) -> None:
    make_flows(VET)
    asked = get_text(say(Caller(), "book an appointment"))
    assert "Dentist" in asked
    assert "Vet" in asked
    press(ben)

    assert "Dentist" not in get_text(say(Caller(), "book an appointment"))


def test_an_offer_from_before_leads_there_no_more(ben: Client) -> None:
    make_flows(VET)
    caller = Caller()
    say(caller, "book an appointment")
    press(ben)

    answer = say(caller, "Dentist appointment")

    assert answer["intent"] != "DENTIST"


def test_neither_it_nor_its_questions_are_offered_inside_another_form(ben: Client) -> None:
    caller = Caller()
    say(caller, "I need a taxi", "High Street 2")
    assert get_text(say(caller, "what are your prices")).startswith(PRICES)
    press(ben)

    for text in ("what are your prices", "I need to see a dentist"):
        answer = get_text(say(caller, text))
        assert PRICES not in answer
        assert "Dentist" not in answer


def test_a_rule_leads_nobody_there_and_is_a_finding(ben: Client) -> None:
    with change_set():
        other = {"intent_code": "TAXI", "state_code": "COLLECT", "phase": "POST_SCHEMA_EXTRACTION"}
        make(m.CeRule, **other, action="SET_INTENT", action_value="DENTIST", rule_type="REGEX", match_pattern="tooth")
    caller = Caller()
    say(caller, "I need a taxi")

    shown = press(ben, at="list", list_query="q=d")
    asked = shown.context["question"]
    assert "leads to it" in asked.warnings[0]
    fields = {**dict(asked.inputs), "reason": "closed until spring"}
    agreed = ben.post(reverse("admin:config_admin_ceintent_switch", args=["DENTIST"]), fields)
    assert agreed["Location"] == asked.back_url == reverse("admin:config_admin_ceintent_changelist") + "?q=d"
    answer = say(caller, "my tooth hurts")

    assert answer["intent"] == "TAXI"
    (fault,) = events("CONFIG_ROW_INVALID", conversation_id=caller.conversation_id)
    assert "DENTIST is switched off" in fault.payload_json["reason"]
    snapshot, world = snapshots.current(), describe_installation()
    (finding,) = check_row(snapshot.row(Rule, m.CeRule.objects.latest("pk").pk), snapshot, world)
    assert (finding.code, finding.field) == ("INTENT_OFF", "action_value")


def test_the_document_says_that_it_is_off_and_switches_it(ben: Client) -> None:
    press(ben)
    document = read()

    assert document == {**normalise_flow(DENTIST), "enabled": False}
    assert [flow["code"] for flow in list_flows(snapshots.current()) if flow.get("enabled", True)] == ["TAXI"]
    assert {row["enabled"] for row in write_rows(document)["ce_intent"]} == {False}
    changed = {**document, "answer": "See you, {{ name }}."}
    update_flow(changed, author="ada", reason="words")
    assert read() == changed
    update_flow({**changed, "enabled": True}, author="ada", reason="spring")
    assert not m.CeIntent.objects.filter(enabled=False).exists()


def test_a_save_of_the_page_leaves_it_off_and_somebody_can_talk_to_it(ben: Client) -> None:
    press(ben)
    opened = ben.get(flow_page())
    assert not opened.context["kept"]

    message = {"try-message": "book an appointment", "try-send": "1"}
    said = ben.post(f"{flow_page()}talk/", sent_by(opened) | message)
    assert "Dentist appointment" in said.context["turns"][0][0].position
    ben.post(flow_page(), sent_by(opened, answer="Bye.", _save="1", reason="words"))
    assert (read()["answer"], read()["enabled"]) == ("Bye.", False)
