"""The page of a flow: a new one, the same one opened again, talked to, and what is refused."""

import json
import re
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from audit.models import CeAccessLog
from config_admin import models as m
from config_admin.editing.links import workspace_url
from config_admin.flows.mapping import normalise_flow, write_rows
from config_admin.flows.reading import read_flow
from config_admin.flows.saving import create_flow, update_flow
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from convengine.engine.clarification.collision import get_intent_name
from convengine.engine.understanding.phrases.intent_words import list_intent_words
from tests.api import Caller
from tests.config_admin.admin.pages import newest
from tests.config_admin.builders import make
from tests.config_admin.flows.test_reading import BASE, FULL
from tests.config_admin.flows.test_saving import KINDS
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db

FORM = {
    "kind": "collect",
    "code": "book_table",
    "title": "Book a table",
    "description": "A guest wants a table.",
    "phrases": "I want to book a table\nreserve a table",
    "field-TOTAL_FORMS": "3",
    "field-INITIAL_FORMS": "0",
    "field-0-title": "the number of guests",
    "field-0-type": "number",
    "field-0-required": "yes",
    "field-0-ORDER": "2",
    "field-1-title": "Where to sit",
    "field-1-type": "choice",
    "field-1-options": "inside\noutside: terrace, garden",
    "field-1-required": "no",
    "field-1-ORDER": "1",
    "field-2-type": "text",
    "field-2-required": "yes",
    "field-2-ORDER": "3",
    "refusal-TOTAL_FORMS": "0",
    "refusal-INITIAL_FORMS": "0",
    "question-TOTAL_FORMS": "0",
    "question-INITIAL_FORMS": "0",
}


def send(client: Client, **values: Any) -> Any:
    return client.post(reverse("admin:config_admin_ceintent_start"), FORM | values)


def flow_address(code: str = "BOOKING") -> str:
    return reverse("admin:config_admin_ceintent_flow", args=[code])


def sent_by(response: Any, **changes: Any) -> dict[str, Any]:
    """What a browser sends for the page."""
    context = response.context
    data: dict[str, Any] = dict(
        re.findall(r'name="(_digest|\w+-\w+_FORMS)" value="([^"]*)"', response.content.decode())
    )
    for form in (context["form"], *context["fields"], *context["questions"]):
        data |= {form.add_prefix(name): form[name].value() for name in form.fields}
    data = {name: value for name, value in data.items() if value not in (None, False)}
    return data | {"kind": context["form"]["kind"].value()} | changes


def read(code: str = "BOOKING") -> Any:
    reading = read_flow(snapshots.current(), code)
    assert reading is not None
    return reading.document


@pytest.mark.parametrize(
    ("title", "code"),
    [
        ("Book a table", "BOOK_A_TABLE"),
        ("Tisch für zwei", "TISCH_FUR_ZWEI"),
        ("Café (neu)", "CAFE_NEU"),
        ("2 eggs", "FAQ_2_EGGS"),
    ],
)
def test_a_flow_without_a_code_gets_one_from_its_name(ben: Client, title: str, code: str) -> None:
    shown = send(ben, code="", title=title)
    assert not shown.context["problems"]
    assert f"When the form of {code} is complete" in shown.content.decode()


def test_nothing_is_made_before_it_was_looked_at_and_a_reason_given(ben: Client) -> None:
    shown = send(ben).content.decode()

    assert "When the form of BOOK_TABLE is complete in state COLLECT, set state to CONFIRM." in shown
    assert "whereToSit, numberOfGuests*" in shown
    assert "Enter a reason for this change" in send(ben, _save="1").content.decode()
    assert not m.CeIntent.objects.filter(pk="BOOK_TABLE").exists()


def test_it_is_made_as_one_release_and_opens_again_to_talk_to_it(ben: Client) -> None:
    before = newest().pk
    answer = send(ben, _save="1", reason="we take bookings")

    assert answer["Location"] == f"{flow_address('BOOK_TABLE')}?saved=1"
    release = newest()
    assert (release.pk, release.author, release.reason) == (before + 1, "ben", "we take bookings")
    assert read("BOOK_TABLE")["fields"] == [
        {
            "name": "whereToSit", "title": "Where to sit", "type": "choice", "required": False,
            "options": [{"value": "inside"}, {"value": "outside", "synonyms": ["terrace", "garden"]}],
        },
        {"name": "numberOfGuests", "title": "number of guests", "type": "number"},
    ]  # fmt: skip
    assert "Edit flow" in ben.get(workspace_url("BOOK_TABLE")).content.decode()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "lookup"])
def test_a_flow_is_opened_and_saved_without_a_change(ben: Client, kind: str) -> None:
    create_flow(KINDS[kind], author="ada", reason="begin")
    page = ben.get(flow_address())
    release = newest().pk

    preview = ben.post(flow_address(), sent_by(page))
    assert "Nothing would change." in preview.content.decode(), preview.context["problems"]
    saved = ben.post(flow_address(), sent_by(page, _save="1", reason="nothing"))
    assert saved.status_code == 302, saved.context["problems"]
    assert newest().pk == release
    assert read() == normalise_flow(KINDS[kind])


def test_a_lookup_needs_no_field(ben: Client) -> None:
    make(
        m.CeMcpTool, tool_code="shop.news", tool_group="CALCULATOR_TRANSFORM", intent_code="BOOK_TABLE",
        state_code="DONE", description="tells the news",
    )  # fmt: skip
    removed = {"field-0-DELETE": "on", "field-1-DELETE": "on"}
    saved = send(ben, kind="lookup", tool="shop.news", answer="It is so.", _save="1", reason="news", **removed)

    assert saved.status_code == 302, saved.context["problems"]
    flow = read_flow(snapshots.current(), "BOOK_TABLE").document
    assert (flow["kind"], flow.get("fields")) == ("lookup", None)


def test_a_small_word_of_the_form_stays_when_the_flow_is_changed(ben: Client) -> None:
    create_flow(FULL, author="ada", reason="begin")
    row = m.CeOutputSchema.objects.get(intent_code="BOOKING")
    with change_set(reason="a word that says nothing"):
        row.json_schema["x-fillers"] = ["blimey"]
        row.save()

    page = ben.get(flow_address())
    ben.post(flow_address(), sent_by(page, **{"field-5-title": "Day"}, _save="1", reason="shorter"))

    row.refresh_from_db()
    assert row.json_schema["x-fillers"] == ["blimey"]
    assert "Day" in [field["title"] for field in row.json_schema["properties"].values()]


def test_a_flow_is_changed_in_one_release(ben: Client) -> None:
    create_flow(FULL, author="ada", reason="begin")
    page = ben.get(flow_address())
    changes = {
        "answer": "See you.",
        "phrases": "a table please",
        "field-5-title": "Day",
        "field-5-ORDER": "1",
        "field-0-DELETE": "on",
        "resume": "no",
    }
    shown = ben.post(flow_address(), sent_by(page, **changes)).content.decode()

    assert "This will change" in shown
    assert 'ce-how-removed">removed</span>' in shown
    release = newest().pk
    ben.post(flow_address(), sent_by(page, **changes, _save="1", reason="shorter"))
    document = read()
    assert (newest().pk, newest().reason) == (release + 1, "shorter")
    assert (document["answer"], document["phrases"]) == ("See you.", ["a table please"])
    assert "resume" not in document
    names = [(field["name"], field["title"]) for field in document["fields"]]
    assert names[:2] == [("choice", "Choice"), ("time", "Day")] or ("time", "Day") in names
    assert "text" not in dict(names)


def test_page_command_and_api_write_the_same_rows(ben: Client) -> None:
    # What is typed is a text.
    flow = {**FULL, "fields": [field for field in FULL["fields"] if field["type"] != "choice"]}
    create_flow({**flow, "code": "OTHER"}, author="ada", reason="begin")
    page = ben.get(flow_address("OTHER"))
    data = sent_by(page, code="BOOKING", _save="1", reason="the same again")
    del data["_digest"]
    made = ben.post(reverse("admin:config_admin_ceintent_start"), data)

    assert made.status_code == 302, made.context["problems"]
    assert write_rows(read("BOOKING")) == write_rows(flow)


def test_the_page_names_what_it_does_not_touch(ben: Client) -> None:
    create_flow(FULL, author="ada", reason="begin")
    with change_set():
        m.CeIntentClassifier.objects.create(
            intent_code="BOOKING", state_code="COLLECT", rule_type="REGEX", pattern="(?i)table", description="any table"
        )
        m.CeIntentClassifier.objects.filter(pattern="book a table").update(priority=7, description="mine")
    text = ben.get(flow_address()).content.decode()

    assert "This page does not touch" in text
    assert "any table</a> (made by hand)" in text
    assert "other values: description" in text


def test_two_people_do_not_overwrite_one_another_unseen(ben: Client) -> None:
    create_flow(FULL, author="ada", reason="begin")
    page = ben.get(flow_address())
    with change_set():
        m.CeResponse.objects.filter(intent_code="BOOKING", state_code="DONE").update(exact_text="Theirs.")
    refused = ben.post(flow_address(), sent_by(page, _save="1", reason="mine"))

    assert "Somebody else changed this flow" in refused.content.decode()
    assert ben.post(flow_address(), sent_by(refused, _save="1", reason="mine")).status_code == 302
    assert read()["answer"] == "Done."


def test_rows_are_added_without_a_script_and_without_a_judgement(ben: Client) -> None:
    page = send(ben, _add_field="1", title="")
    assert len(page.context["fields"]) == 3
    assert "is required" not in page.content.decode()
    assert len(send(ben, _add_question="1").context["questions"]) == 1
    added = send(ben, _add_phrases="1", message=["a table for two", "reserve a table"])
    assert added.context["form"]["phrases"].value().splitlines() == [
        "I want to book a table", "reserve a table", "a table for two",
    ]  # fmt: skip


PET = {
    "field-0-title": "Pet's name", "field-0-type": "text", "field-0-question": "Who is it?", "field-1-DELETE": "on",
}  # fmt: skip


def get_card(response: Any, number: int = 0) -> Any:
    return next(form for form in response.context["fields"] if form.prefix == f"field-{number}")


@pytest.mark.parametrize("written", ["Pet's name", "pet's name", "petsName"])
def test_a_text_names_a_field_by_its_title_or_its_name(ben: Client, written: str) -> None:
    values = {**PET, "answer": f"Give {{{{ {written} }}}} a kiss.", "field-0-invalid": f"{{{{ {written} }}}}?"}
    checked = send(ben, _check="1", **values)
    texts = checked.context["form"]["answer"], get_card(checked)["invalid"]
    assert not any(text.warnings for text in texts)
    saved = send(ben, _save="1", reason="pets", **values)

    assert saved.status_code == 302, saved.context["problems"]
    document = read("BOOK_TABLE")
    assert document["answer"] == "Give {{ petsName }} a kiss."
    assert document["fields"][0]["invalid"] == "{{ petsName }}?"


@pytest.mark.parametrize(
    ("written", "nearest"), [("petsNam", "petsName"), ("Pets name", "Pet's name"), ("pet's nam", "Pet's name")]
)
def test_a_name_that_is_almost_that_of_a_field_is_refused_where_it_is_typed(
    ben: Client, written: str, nearest: str
) -> None:
    shown = send(ben, **PET, answer=f"Give {{{{ {written} }}}} a kiss.")

    assert f"Did you mean {nearest}?" in shown.context["form"].errors["answer"][0]
    assert ("id_answer", True) in [(each.anchor, written in each.text) for each in shown.context["problems"]]


@pytest.mark.parametrize(
    ("title", "question", "kind"), [("Damage", "What happened?", "long"), ("Surname", "What is your surname?", "short")]
)
def test_the_page_says_whether_a_text_is_read_as_a_long_one(ben: Client, title: str, question: str, kind: str) -> None:
    card = get_card(send(ben, _check="1", **PET | {"field-0-title": title, "field-0-question": question}))

    assert card["type"].hints[0].startswith(f"Read as a {kind} text")


def test_each_text_offers_the_fields(ben: Client) -> None:
    card = get_card(send(ben, _check="1", **PET))

    assert card["question"].names == [("petsName", "Pet's name"), ("form_summary", "all values")]


def create_hours(**values: Any) -> None:
    flow = {**BASE, "kind": "answer", "code": "HOURS", "title": "Hours", "phrases": ["opening hours"]}
    create_flow(flow | values, author="ada", reason="b")


def get_talk(code: str = "") -> str:
    name = "flow_talk" if code else "start_talk"
    return reverse(f"admin:config_admin_ceintent_{name}", args=[code] if code else [])


def say(client: Client, *messages: str, to: str = "", **values: Any) -> Any:
    """The conversation with the flow of a page, message by message."""
    *before, last = messages
    said = {"try-line": before, "try-line-params": ["" for _ in before], "try-message": last, "try-send": "1"}
    return client.post(get_talk(to), FORM | said | values, headers={"X-Requested-With": "fetch"})


def list_answers(response: Any) -> list[str]:
    return [line.answer for line, _ in response.context["turns"]]


QUESTION = {"question-TOTAL_FORMS": "1", "question-0-questions": "where do I park", "question-0-answer": "Here."}


def test_somebody_talks_to_a_flow_before_it_is_saved_and_nothing_is_stored(ben: Client) -> None:
    before = {model: model._base_manager.count() for model in apps.get_models()}
    said = say(ben, "I want to book a table outside", "where can I park?", "4", "yes", **QUESTION)

    assert list_answers(said) == [
        "Please tell me: number of guests.",
        "Here.\n\nLet us go on. Please tell me: number of guests.",
        "Please check: Where to sit: outside, number of guests: 4. Is that right?",
        "Thank you, I have noted that.",
    ]
    assert "How the message was read" in said.content.decode()
    assert before == {model: model._base_manager.count() for model in apps.get_models()}


def test_a_question_in_between_has_a_short_name_which_trains_nothing(ben: Client) -> None:
    page = send(ben, _check="1", **QUESTION)
    assert "Proposed" in page.content.decode()
    create_hours(questions_and_answers=[{"questions": ["where can I leave my bike"], "answer": "Here."}])
    before = set(list_intent_words(snapshots.current()))
    update_flow(
        {**read("HOURS"), "questions_and_answers": [
            {"questions": ["where can I leave my bike"], "answer": "Here.", "short_name": "Bikes"}
        ]},
        author="ben", reason="short",
    )  # fmt: skip

    assert get_intent_name(snapshots.current(), "HOURS_Q1") == "Bikes"
    assert read("HOURS")["questions_and_answers"][0]["short_name"] == "Bikes"
    words = {word for word in before if word.intent != "HOURS_Q1"}
    assert set(list_intent_words(snapshots.current())) == words


def test_what_was_said_can_be_kept_as_a_test(ben: Client) -> None:
    said = say(ben, "a table please")

    assert json.loads(said.context["test"])["turns"][0]["user"] == "a table please"
    assert said.context["test_url"] == reverse("admin:config_admin_cetestcase_add")


def test_a_flow_that_is_not_complete_says_what_it_lacks_once_somebody_talks_to_it(ben: Client) -> None:
    incomplete = {"code": "", "title": "", "phrases": ""}
    assert "The form has errors" not in ben.post(get_talk(), FORM | incomplete).content.decode()
    text = say(ben, "a table please", **incomplete).content.decode()

    assert "The form has errors" in text
    assert "“Name” is required." in text


def test_an_edited_flow_talks_as_it_stands_on_the_page(ben: Client) -> None:
    stored = "where do the elephants sleep"
    create_hours(phrases=[stored])
    changes = sent_by(ben.get(flow_address("HOURS")), phrases="when is it", answer="At noon.")

    assert list_answers(say(ben, "when is it", to="HOURS", **changes)) == ["At noon."]
    assert list_answers(say(ben, stored, to="HOURS", **changes)) != ["At noon."]


def test_only_those_who_may_edit_a_flow_and_try_conversations_talk_to_it(somebody: Any) -> None:
    create_hours()
    zoe = somebody("zoe")
    zoe_user = User.objects.get(username="zoe")
    zoe_user.user_permissions.set(Permission.objects.filter(content_type__app_label="config_admin"))

    assert say(zoe, "when").status_code == 403
    assert say(zoe, "when", to="HOURS").status_code == 403
    assert "Talk to this flow" not in zoe.get(flow_address("HOURS")).content.decode()


def test_new_phrases_are_compared_with_those_of_other_intents(ben: Client) -> None:
    create_hours(phrases=["when do you open", "when do you close", "opening hours please"])
    page = send(ben, _compare="1", phrases="when do you open a table\nI want to book a table")

    compared = page.context["compared"]
    assert compared.new[0].text == "when do you open a table"
    assert (compared.new[0].intent, compared.new[0].nearest) == ("Hours", "when do you open")
    assert compared.about == "Each of the 3 phrases that stay was decided on without itself, before and after."
    assert "Compared with other phrases" in page.content.decode()
    assert page.context["form"].errors == {}
    taken = send(ben, _compare="1", phrases="when is it that you open\nwhen would you open\nso when do you open")
    assert taken.context["compared"].losses == [
        "2 phrases of “Hours” now lead to “Book a table”: “opening hours please”, “when do you open”."
    ]
    assert send(ben, _compare="1", phrases="").context["compared"].new == []
    assert send(ben).context["compared"] is None


def test_stored_messages_that_nobody_understood_are_suggested_and_added(somebody: Any) -> None:
    create_help_desk()
    Caller().say("round table for my family")
    Caller().say("purple elephants")
    ben, zoe = somebody("ben", "analyst"), somebody("zoe")
    zoe_user = User.objects.get(username="zoe")
    zoe_user.user_permissions.set(Permission.objects.filter(content_type__app_label="config_admin"))
    reads = CeAccessLog.objects.count()

    assert [message.text for message in send(ben, _suggest="1").context["suggested"]] == ["round table for my family"]
    assert CeAccessLog.objects.count() == reads + 1
    assert send(zoe, _suggest="1").status_code == 403
    assert CeAccessLog.objects.count() == reads + 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"code": "", "title": "Loan"}, "The intent LOAN already exists"),
        ({"code": "2 tables"}, "Use capital letters, digits and underscores"),
        ({"phrases": ""}, "“Phrases” is required"),
        ({"field-0-title": ""}, "“Field” is required"),
        ({"field-0-DELETE": "on", "field-1-DELETE": "on"}, "Enter at least one field to collect."),
        ({"field-1-options": " \n "}, "Enter the choices."),
        ({"field-1-options": "", "field-1-options_from": "iban in $.accounts["}, "“$.accounts[” is not a JSON path: "),
        ({"field-1-options_from": "$.accounts"}, "Enter the choices, or where data have them, but not both."),
        ({"field-1-options": "\n".join(f"choice {number}" for number in range(500))}, "500 choices; 200 at most."),
        ({"field-1-options": "Flat tyre = puncture, flat"}, "Write other words after a colon"),
        ({"field-0-title": "x" * 300}, "at most 80 characters (it has 300)"),
        ({"field-1-options": "a\na: b"}, "“a” occurs twice"),
        ({"field-0-min": "x"}, "“x” is not understood"),
        ({"field-0-min": "9", "field-0-max": "1"}, "comes before"),
        ({"field-0-type": "date", "field-0-max": "soon"}, "Use today, tomorrow, in 3 months"),
        ({"field-0-type": "pattern", "field-0-pattern": "(a"}, "Pattern"),
        ({"field-0-type": "money", "field-0-currency": "euro"}, "Currency"),
        ({"kind": "answer"}, "Enter the answer"),
        ({"kind": "lookup"}, "Choose a tool"),
        ({"field-TOTAL_FORMS": "x"}, "Fields: at most 50 are possible."),
        ({"code": "LOAN"}, "The intent LOAN already exists"),
        ({"code": "book table", "_save": "1", "reason": "x"}, "Nothing was created"),
        ({"answer": "{{ }}"}, 'href="#id_answer"'),
    ],
)
def test_what_is_missing_is_told_and_nothing_is_lost_or_made(ben: Client, values: dict[str, str], message: str) -> None:
    make(m.CeIntent)
    before = newest().pk
    page = send(ben, **values).content.decode()

    assert message in page
    assert "A guest wants a table." in page
    assert newest().pk == before


def test_who_may_not_add_rows_has_no_such_page(somebody: Any) -> None:
    create_flow(FULL, author="ada", reason="begin")
    quinn = somebody("quinn", "qa")
    assert quinn.get(reverse("admin:config_admin_ceintent_start")).status_code == 403
    assert quinn.get(flow_address()).status_code == 403
    assert "Edit flow" not in quinn.get(workspace_url("BOOKING")).content.decode()


def test_rows_of_another_shape_are_no_flow(ben: Client) -> None:
    make(m.CeIntent)
    assert ben.get(flow_address("LOAN")).status_code == 404
    assert "Edit flow" not in ben.get(workspace_url("LOAN")).content.decode()


def test_phrases_that_lead_elsewhere_and_unknown_names_are_warned_of_before_saving(ben: Client) -> None:
    other = {"code": "OTHER", "title": "Other", "kind": "answer", "phrases": ["reserve a table"], "answer": "Later."}
    create_flow(other, author="ada", reason="begin")
    told = send(ben, _check="1", answer="See you, {{ gests }}.").content.decode()

    assert "“reserve a table” also fits the phrase “reserve a table” of “Other”. Users are asked which one" in told
    assert "{{ gests }} is no known name: nothing is shown in its place." in told
    assert "<code>{{ numberOfGuests }}</code> number of guests" in told
    assert "is required" not in told
    nearest = send(ben, _check="1", confirmation="For {{ numberOfGuest }}?").content.decode()
    assert "Did you mean numberOfGuests?" in nearest


def test_a_broken_template_is_told_at_its_text(ben: Client) -> None:
    told = send(ben, _check="1", **{"field-0-question": "How many, {{ name?"}).content.decode()

    assert "This text is not valid. Line 1" in told


def test_a_script_is_told_where_to_go_after_saving(ben: Client) -> None:
    address = reverse("admin:config_admin_ceintent_start")
    data = FORM | {"_save": "1", "reason": "we take bookings"}
    answer = ben.post(address, data, headers={"X-Requested-With": "fetch"})

    assert (answer.status_code, answer["X-Redirect"]) == (204, f"{flow_address('BOOK_TABLE')}?saved=1")
    page = ben.get(answer["X-Redirect"]).content.decode()
    assert "data-open" in page
    assert 'value="we take bookings"' not in page


def test_the_phrases_of_a_copy_are_off_until_somebody_switches_them_on(ben: Client) -> None:
    create_flow(FULL, author="ada", reason="begin")
    copy = reverse("admin:config_admin_ceintent_duplicate", args=["BOOKING"])
    ben.post(copy, {"code": "COPY", "title": "Copy", "reason": "another one", "in_force": newest().pk})
    assert "Edit flow" in ben.get(workspace_url("COPY")).content.decode()
    page = ben.get(flow_address("COPY"))
    assert "These phrases are switched off, because this flow was copied" in page.content.decode()
    assert "disabled" not in str(page.context["kept"])

    def are_on() -> set[bool]:
        return set(
            m.CeIntentClassifier.objects.filter(intent_code__startswith="COPY").values_list("enabled", flat=True)
        )

    ben.post(flow_address("COPY"), sent_by(page, phrases="something new", _save="1", reason="other words"))
    assert are_on() == {False}
    page = ben.get(flow_address("COPY"))
    assert page.context["form"]["phrases"].value() == "something new"
    ben.post(flow_address("COPY"), sent_by(page, switch_on="1", _save="1", reason="begin"))
    assert are_on() == {True}
    assert "switched off" not in ben.get(flow_address("COPY")).content.decode()


def test_a_row_made_by_hand_leads_back_to_its_flow(ben: Client) -> None:
    create_flow(FULL, author="ada", reason="begin")
    make(m.CeRule, intent_code="BOOKING", match_pattern="vip")
    [(_, url, why)] = ben.get(flow_address("BOOKING")).context["kept"]

    page = ben.get(url).content.decode()

    assert why == "made by hand"
    assert f'href="{flow_address("BOOKING")}"><span aria-hidden="true">←</span> Flow' in page


def test_what_is_not_allowed_may_name_fields_by_their_titles_and_opens_again(ben: Client) -> None:
    when = {"combinator": "and", "rules": [{"field": "Number of guests", "operator": ">", "value": 8}]}
    refusal = {
        "refusal-TOTAL_FORMS": "1",
        "refusal-0-when": json.dumps(when),
        "refusal-0-text": "At most 8.",
        "refusal-0-field": "number of guests",
    }
    address = reverse("admin:config_admin_ceintent_start")

    wrong = ben.post(address, FORM | refusal | {"refusal-0-field": "hour", "_save": "1", "reason": "x"})
    assert "Not allowed 1, “Ask again for”: “hour” is not a field of this flow." in wrong.content.decode()

    ben.post(address, FORM | refusal | {"_save": "1", "reason": "we take bookings"})

    (item,) = read_flow(snapshots.current(), "BOOK_TABLE").document["not_allowed"]  # type: ignore[union-attr]
    assert (item["field"], item["when"]["rules"][0]["field"]) == ("numberOfGuests", "numberOfGuests")
    opened = ben.get(flow_address("BOOK_TABLE")).content.decode()
    assert "numberOfGuests" in opened
    assert 'value="At most 8."' in opened


@pytest.mark.parametrize(("name", "label"), [("answer", "Answer"), ("task_failed", "Answer if the task fails")])
def test_a_removed_field_that_a_text_still_names_is_told_on_top_and_mended(ben: Client, name: str, label: str) -> None:
    fields = [{"name": name, "title": name.title(), "type": "text"} for name in ("day", "you")]
    text = "Thank you {{ you }}!"
    create_flow({**BASE, "kind": "collect", "fields": fields, name: text}, author="ada", reason="begin")
    address = flow_address(BASE["code"])
    data = FORM | {
        "title": BASE["title"], "phrases": "\n".join(BASE["phrases"]), name: text,
        "_digest": ben.get(address).context["digest"],
        "field-TOTAL_FORMS": "1", "field-0-name": "day", "field-0-title": "Day", "field-0-type": "text",
    }  # fmt: skip

    refused = ben.post(address, data | {"_save": "1", "reason": "shorter"}).content.decode()
    assert f"“{label}” still names the field “you”, which is gone." in refused
    assert "Take “you” out of all texts" in refused
    assert "/admin/config_admin/ceresponse/words/?word=you" in refused
    for new, mended in (("", "Thank you!"), ("day", "Thank you {{ day }}!")):
        page = ben.post(address, data | {"_mend": f"you={new}"})
        assert page.context["form"][name].value() == mended
        assert ("To be mended: a field was taken out of this text." in page.content.decode()) is (not new)


def list_cards(page: Any) -> list[tuple[bool, str]]:
    """The fields of the page: whether each is open, and its heading."""
    body = page.content.decode().partition("<template data-empty")[0]
    cards = re.findall(
        r'<details class="ce-flow-body(?: ce-is-single)?"( open)?>\s*<summary>(.*?)</summary>', body, re.DOTALL
    )
    return [(bool(is_open), re.sub(r"<[^>]+>", "", heading)) for is_open, heading in cards]


@pytest.mark.parametrize("count", [3, 4])
def test_a_long_list_of_fields_is_folded_to_headings_but_not_where_something_is_wrong(ben: Client, count: int) -> None:
    fields = [{"name": f"day{number}", "title": f"Day {number}", "type": "date"} for number in range(count)]
    create_flow({**BASE, "kind": "collect", "fields": fields}, author="ada", reason="begin")
    opened = ben.get(flow_address(BASE["code"]))
    wrong = ben.post(flow_address(BASE["code"]), sent_by(opened, **{"field-1-min": "soonish"}))

    assert list_cards(opened) == [(count == 3, f"Day {number}, date") for number in range(count)]
    assert [number for number, (is_open, _) in enumerate(list_cards(wrong)) if is_open] == (
        [1] if count == 4 else [0, 1, 2]
    )
