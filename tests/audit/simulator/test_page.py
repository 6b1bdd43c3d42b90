"""The simulator: conversations on any configuration, stored nowhere, and really called only where it is asked for."""

import json
import uuid
from typing import Any

import pytest
import yaml
from django.apps import apps
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from audit.addresses import turn_url
from audit.simulator import page
from config_admin import models as m
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from config_admin.test_cases.documents import read_scenario, store_test
from convengine.play.in_memory import MemoryPlayer
from convengine.server.channels.models import CeChannel
from tests.api import Caller
from tests.config_admin.admin.pages import form_of, sent_by
from tests.dialogues.play import store_flows
from tests.sign_in import sign_in, sign_in_superuser
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


def make_client(group: str) -> Client:
    return sign_in(group, group)


@pytest.fixture
def ana() -> Client:
    create_help_desk()
    # Names are those of the newest release that this process knows, which may be another test's.
    snapshots.current()
    return make_client("analyst")


def simulate(client: Client, *lines: str, url: str = "", **values: Any) -> Any:
    data = {"try-line": list(lines), **{f"try-{name.replace('_', '-')}": value for name, value in values.items()}}
    return client.post(url or reverse("admin:audit_ceaudit_simulate"), data)


def read_answers(response: Any) -> list[str]:
    return [line.error or line.answer for line, _ in response.context["turns"]]


def list_differences(response: Any) -> list[list[tuple[str, str, str]]]:
    return [
        [(each.label, each.before, each.after) for each in differences] for _, differences in response.context["turns"]
    ]


def count_rows() -> dict[str, int]:
    return {model._meta.label: model._base_manager.count() for model in apps.get_models()}


def test_messages_are_answered_and_explained_and_nothing_is_stored(ana: Client) -> None:
    before = count_rows()
    response = simulate(ana, "hours", send=1, message="fees")
    assert read_answers(response) == ["Nine to five.", "No fees."]
    page = response.content.decode()
    for heading in ("What happened in turn 2", "Decisions", "Changes by step"):
        assert heading in page
    assert "Intent FEES, state IDLE" in page
    assert count_rows() == before


def test_a_played_turn_is_explained_as_the_stored_one_is(ana: Client) -> None:
    text = "hello, what are your hours?"
    caller = Caller()
    caller.say(text)
    stored = make_client("qa").get(turn_url(uuid.UUID(caller.conversation_id), 1))

    played = simulate(ana, send=1, message=text)

    shown, expected = played.context["why"], stored.context["why"]
    assert shown.reading == expected.reading
    assert [decision.title for decision in shown.decisions] == [decision.title for decision in expected.decisions]
    assert [change.names for change in shown.changes] == [change.names for change in expected.changes]
    for response in (played, stored):
        assert "How the message was read" in response.content.decode()
        assert 'title="Says what is meant: a greeting"' in response.content.decode()


def test_the_intent_of_a_played_turn_is_explained_word_by_word_when_somebody_looks(ana: Client) -> None:
    with change_set(reason="a phrase"):
        m.CeIntentClassifier.objects.create(
            intent_code="FEES", state_code="IDLE", rule_type="PHRASE", pattern="What do I pay for a copy?"
        )
    message = "pay for copies of a passport"

    before, after = simulate(ana, message), simulate(ana, message, words=1)

    assert before.context["has_compared_phrases"]
    assert b"Explain the intent word by word" in before.content
    assert before.context["phrase_accounts"] is None
    (account,) = after.context["phrase_accounts"]
    assert (account.best.name, account.difference) == ("Fees", "")
    assert b"How sure <b" in after.content


def test_an_earlier_turn_is_explained_and_lines_are_removed(ana: Client) -> None:
    response = simulate(ana, "hours", "fees", open=1)
    assert response.context["shown"].number == 1
    assert read_answers(simulate(ana, "hours", "fees", cut=2)) == ["Nine to five."]
    assert read_answers(simulate(ana, "hours", "fees", new=1)) == []


def test_a_form_is_tried_before_it_is_saved(ana: Client) -> None:
    row = m.CeResponse.objects.get(exact_text="No fees.")
    page = ana.get(reverse("admin:config_admin_ceresponse_change", args=[row.pk]))
    fields = sent_by(form_of(page), exact_text="Two euros.") | {"_pk": str(row.pk)}
    before = count_rows()
    url = reverse("admin:config_admin_ceresponse_simulate_of_form")
    response = ana.post(url, {**fields, "reason": "", "try-line": ["fees"]})
    assert response.context["simulation"].problem == ""
    assert read_answers(response) == ["Two euros."]
    assert "Two euros." not in simulate(ana, "fees").content.decode()
    assert count_rows() == before


@pytest.mark.parametrize(
    ("model", "values", "line", "answer"),
    [
        (
            m.CeResponse,
            {"intent_code": "FEES", "state_code": "IDLE", "output_format": "TEXT", "response_type": "EXACT"}
            | {"exact_text": "Three euros.", "enabled": "on", "priority": "1"},
            "fees",
            "Three euros.",
        ),
        (
            m.CeRule,
            {"phase": "PRE_RESPONSE_RESOLUTION", "intent_code": "HOURS", "state_code": "IDLE", "rule_type": "EXACT"}
            | {"match_pattern": "hours", "match_target": "USER_TEXT", "action": "SET_STATE", "action_value": "VIP"}
            | {"enabled": "on", "priority": "1"},
            "hours",
            "For you: always.",
        ),
        (
            m.CeOutputSchema,
            {"intent_code": "FEES", "state_code": "ANY", "enabled": "on", "priority": "1"}
            | {"json_schema": '{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}'},
            "fees",
            "Still missing in ",
        ),
        (
            m.CePolicy,
            {"rule_type": "CONTAINS", "pattern": "fees", "response_text": "Not here.", "enabled": "on"}
            | {"priority": "1"},
            "fees",
            "Not here.",
        ),
    ],
)
def test_a_new_row_of_any_kind_takes_part(
    ana: Client, model: Any, values: dict[str, str], line: str, answer: str
) -> None:
    url = reverse(f"admin:config_admin_{model._meta.model_name}_simulate_of_form")
    before = count_rows()
    response = ana.post(url, {**values, "_pk": "", "try-line": [line]})
    assert response.context["form"].errors == ()
    assert answer in response.content.decode()
    assert count_rows() == before


def test_a_form_with_errors_is_not_tried_and_keeps_the_lines(ana: Client) -> None:
    url = reverse("admin:config_admin_cerule_simulate_of_form")
    page = ana.post(url, {"_pk": "", "match_pattern": "$[?(", "try-line": ["hours"]}).content.decode()
    assert "The form has errors. Correct them, then play again." in page
    assert "<li>State: Enter a state, or ANY for all states.</li>" in page
    assert 'name="try-line" value="hours"' in page


def test_the_fields_of_the_form_go_on_without_a_script(ana: Client) -> None:
    url = reverse("admin:config_admin_cerule_simulate_of_form")
    page = ana.post(url, {"_pk": "", "match_pattern": "a b"}).content.decode()
    assert '<input type="hidden" name="match_pattern" value="a b">' in page
    part = ana.post(url, {"_pk": "", "match_pattern": "a b"}, headers={"X-Requested-With": "fetch"})
    assert 'name="match_pattern"' not in part.content.decode()


def test_an_edit_applies_to_the_same_lines_and_what_differs_is_marked(ana: Client) -> None:
    first = simulate(ana, "hours", send=1, message="fees")
    assert list_differences(first) == [[], []]
    with change_set():
        m.CeResponse.objects.filter(exact_text="No fees.").update(exact_text="Two euros.")
    again = simulate(ana, "hours", "fees", again=1, earlier=first.context["summaries"])
    assert list_differences(again) == [[], [("Answer", "No fees.", "Two euros.")]]
    assert "Differs from before" in again.content.decode()


def test_a_release_and_a_draft_are_tried(ana: Client) -> None:
    old = m.CeRelease.objects.latest("config_version").pk
    with change_set():
        m.CeResponse.objects.filter(exact_text="No fees.").update(exact_text="Two euros.")
    assert read_answers(simulate(ana, "fees", on=f"release:{old}")) == ["No fees."]
    assert read_answers(simulate(ana, "fees", on="live")) == ["Two euros."]

    ana.post(reverse("admin:config_admin_cedraft_add"), {"title": "Prices", "description": ""})
    draft = m.CeDraft.objects.get()
    row = m.CeResponse.objects.get(exact_text="Two euros.")
    url = reverse("admin:config_admin_ceresponse_change", args=[row.pk])
    page = ana.get(url)
    ana.post(url, sent_by(form_of(page), exact_text="In a draft."))
    before = count_rows()
    response = simulate(ana, "fees")
    assert str(response.context["on"]) == f"draft:{draft.pk}"
    assert read_answers(response) == ["In a draft."]
    assert read_answers(simulate(ana, "fees", on="live")) == ["Two euros."]
    unsaved = sent_by(form_of(ana.get(url)), exact_text="Unsaved.") | {"_pk": str(row.pk), "try-line": ["fees"]}
    response = ana.post(reverse("admin:config_admin_ceresponse_simulate_of_form"), unsaved)
    assert read_answers(response) == ["Unsaved."]
    assert "unsaved, on Draft: Prices" in response.content.decode()
    refused = ana.post(reverse("admin:config_admin_ceresponse_simulate_of_form"), {**unsaved, "try-real": "llm"})
    assert "nothing is really called" in refused.content.decode()
    assert "This page shows what is live" not in simulate(ana, "fees").content.decode()
    assert count_rows() == before


def test_the_queries_do_not_grow_with_the_lines(ana: Client) -> None:
    simulate(ana, "hours")
    counts = []
    for lines in (["hours"], ["hours", "fees"] * 15):
        with CaptureQueriesContext(connection) as queries:
            assert len(read_answers(simulate(ana, *lines))) == len(lines)
        counts.append(len(queries))
    assert counts[0] == counts[1] < 15


@pytest.mark.parametrize("name", ["release:9999", "draft:9999", "nonsense"])
def test_what_is_not_there_is_said(ana: Client, name: str) -> None:
    response = simulate(ana, "fees", on=name)
    assert response.status_code == 200
    assert 'role="alert"' in response.content.decode()


def test_a_time_can_be_chosen(ana: Client) -> None:
    with change_set():
        m.CeResponse.objects.filter(exact_text="No fees.").update(exact_text="{{ now }}")
    response = simulate(ana, "hours", at="2026-03-02T09:00")
    assert response.context["simulation"].played[0].played.turn.ports.clock.now().isoformat().startswith("2026-03-02")
    for time in ("noon", "9999-12-31T23:59", "2026-02-30T09:00"):
        assert "The time is not a date" in simulate(ana, "hours", at=time).content.decode()


@pytest.mark.parametrize(
    "earlier", ["no JSON", "7", "[7, null]", '[{"message": "hours", "rows": [{}], "fields": 7}]', "[" * 9_000]
)
def test_what_was_played_before_may_be_anything(ana: Client, earlier: str) -> None:
    assert read_answers(simulate(ana, "hours", earlier=earlier)) == ["Nine to five."]


def test_who_may_not_try_is_refused_and_draws_no_button(ana: Client) -> None:
    qa = make_client("qa")
    assert simulate(qa, "fees").status_code == 403
    row = m.CeResponse.objects.get(exact_text="No fees.")
    url = reverse("admin:config_admin_ceresponse_change", args=[row.pk])
    assert "Try before saving" not in qa.get(url).content.decode()
    assert "Try before saving" in ana.get(url).content.decode()
    user = User.objects.get(username="analyst")
    user.groups.clear()
    user.user_permissions.add(Permission.objects.get(codename="try_conversation"))
    assert read_answers(simulate(ana, "fees")) == ["No fees."]
    assert simulate(ana, "fees", on="release:1").status_code == 403
    assert simulate(ana, "fees", on="draft:1").status_code == 403
    assert simulate(ana, "fees", real="llm").status_code == 403
    assert "Really call" not in simulate(ana, "fees").content.decode()


def test_a_link_that_somebody_follows_really_calls_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    create_help_desk()
    root = sign_in_superuser("root")
    asked: list[set[str]] = []
    build = page.build_outside

    def note(stubs: Any, real: Any) -> Any:
        asked.append(set(real))
        return build(stubs)

    monkeypatch.setattr(page, "build_outside", note)
    url = reverse("admin:audit_ceaudit_simulate")
    root.get(url, {"try-line": "fees", "try-real": "llm"})
    root.post(url, {"try-line": "fees", "try-real": "llm"})

    assert asked == [set(), {"llm"}]


def test_input_parameters_and_the_channel_of_a_conversation_can_be_given(ana: Client) -> None:
    with change_set():
        m.CeResponse.objects.filter(exact_text="No fees.").update(exact_text="No fees for {{ tier }}.")
    response = simulate(ana, "hours", send=1, message="fees", params='{"tier": "gold"}', channel="web")
    assert read_answers(response) == ["Nine to five.", "No fees for gold."]
    played = response.context["simulation"].played
    assert (played[1].played.turn.request.channel, played[0].line.params) == ("web", "")
    assert "{&quot;tier&quot;: &quot;gold&quot;}" in response.content.decode()
    # They stay with their message.
    url = reverse("admin:audit_ceaudit_simulate")
    data = {"try-line": ["hours", "fees"], "try-line-params": ["", '{"tier": "gold"}'], "try-again": "1"}
    assert read_answers(ana.post(url, data))[1] == "No fees for gold."
    document = yaml.safe_load(ana.post(url, {**data, "try-download": "1"}).content)
    assert [turn.get("input_params") for turn in document["turns"]] == [None, {"tier": "gold"}]


def test_a_test_of_a_simulated_conversation_keeps_its_channel(ana: Client) -> None:
    url, data = reverse("admin:audit_ceaudit_simulate"), {"try-line": ["hours"], "try-channel": "web"}
    document = json.loads(ana.post(url, data).context["test"])
    assert document["conversation"] == {"channel": "web"}
    case = store_test(document, editor="ana")
    ((_, played),) = MemoryPlayer(read_scenario(case), snapshots.current(), timezone.now()).play_all()
    assert played.turn.request.channel == "web"
    assert "conversation" not in json.loads(ana.post(url, {"try-line": ["hours"]}).context["test"])


@pytest.mark.parametrize("params", ["gold", "[1]", '{"tier": ', "[" * 5000])
def test_input_parameters_that_are_no_object_are_refused_and_stay(ana: Client, params: str) -> None:
    response = simulate(ana, "hours", send=1, message="fees", params=params)
    assert "The input parameters are not a JSON object." in response.context["simulation"].problem
    assert (response.context["params"], read_answers(response)) == (params, ["Nine to five."])
    data = {"try-line": ["hours"], "try-line-params": [params], "try-again": "1"}
    sent = ana.post(reverse("admin:audit_ceaudit_simulate"), data)
    assert "of an earlier message" in sent.context["simulation"].problem


#: A question with eleven options. One of them is long.
FLAVOURS = ["Almond", "Banana", "Cherry", "Date", "Elderflower", "Fig", "Ginger", "Hazelnut", "Ivy", "Jasmine"]
ICE_CREAM: dict[str, Any] = {
    "locale": "en-GB",
    "time_zone": "Europe/London",
    "flows": [
        {
            "code": "ICE",
            "title": "Order ice cream",
            "kind": "collect",
            "locale": "en-GB",
            "phrases": ["ice cream please", "order ice cream"],
            "fields": [
                {
                    "name": "flavour",
                    "title": "Flavour",
                    "type": "choice",
                    "question": "Which flavour?",
                    "options": [{"value": name.lower(), "label": name} for name in (*FLAVOURS, "Vanilla with cream")],
                }
            ],
            "confirmation": "Shall I order it?",
            "answer": "Done.",
        }
    ],
}


def test_an_answer_says_what_the_channels_of_the_installation_show_differently(ana: Client) -> None:
    store_flows(ICE_CREAM)
    response = simulate(ana, "ice cream please", "hours")
    assert [line.channel_notes for line, _ in response.context["turns"]] == [[], []]
    assert "Shown differently" not in response.content.decode()

    for kind in ("whatsapp", "telegram", "sms"):
        CeChannel.objects.create(name=kind, provider=kind)
    response = simulate(ana, "ice cream please", "hours")
    note = "The options are numbered lines of the text, because at most 10 of 11 options fit as a list."
    assert [line.channel_notes for line, _ in response.context["turns"]] == [[("WhatsApp", note)], []]
    page = response.content.decode()
    assert page.count("Shown differently on WhatsApp</summary>") == 1
    assert f"<li>WhatsApp: {note}</li>" in page
