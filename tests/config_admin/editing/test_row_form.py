"""A row is judged at its fields before it is stored, held once by warnings, and never overwrites somebody's work."""

from typing import Any

import pytest
from django.db import connection, models
from django.test import Client

from config_admin import models as m
from config_admin.editing import reasons
from config_admin.releases.change_set import change_set
from tests.config_admin.admin.pages import a_response, address, fill, form_of, newest, read_message, send_again
from tests.config_admin.builders import EXAMPLES, MODELS, make

pytestmark = pytest.mark.django_db
NEW = {"intent_code": "UNKNOWN", "state_code": "IDLE", "response_type": "EXACT", "exact_text": "Hello."}
NUMBERS = {
    model: names
    for model in MODELS
    if (
        names := [
            column.name
            for column in model._meta.concrete_fields
            if isinstance(column, (models.IntegerField, models.DecimalField)) and not column.primary_key
        ]
    )
}


def test_a_row_is_saved_as_one_release_with_who_and_why(ada: Client) -> None:
    response = fill(ada, address(m.CeResponse, "add"), **NEW, reason="The shop opens")

    row = m.CeResponse.objects.get(exact_text="Hello.")
    release = newest()
    assert response.status_code == 302
    assert (release.origin, release.author, release.reason) == ("ADMIN", "ada", "The shop opens")
    entry = row.history.get()
    assert (entry.history_user.username, entry.history_change_reason) == ("ada", "The shop opens")
    assert entry.config_version == release.pk


def test_it_says_which_release_is_live(ada: Client) -> None:
    response = fill(ada, address(m.CeResponse, "add"), **NEW)

    message = read_message(response, ada)
    assert f"Release {newest().pk}</a> is active. Every conversation uses it from its next message on." in message


def test_a_form_sent_as_it_was_makes_no_release(ada: Client) -> None:
    row, before = a_response(), newest().pk

    response = fill(ada, address(m.CeResponse, "change", row.pk))

    assert "There are no differences, so no release was created." in read_message(response, ada)
    assert newest().pk == before


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.db_table)
def test_opening_and_sending_a_form_changes_no_column(model: Any, ada: Client) -> None:
    with change_set():
        row = make(model)
    before = newest().pk
    url = address(model, "change", row.pk)

    response = fill(ada, url)
    if response.status_code == 200:
        send_again(ada, response, _confirm="1")

    assert newest().pk == before


def test_without_a_reason_nothing_is_stored(ada: Client) -> None:
    before = newest().pk

    response = fill(ada, address(m.CeResponse, "add"), **NEW, reason="  ")

    assert form_of(response).errors["reason"] == [reasons.MISSING]
    assert newest().pk == before


def test_an_unknown_intent_is_told_at_its_field_with_the_nearest_one(ada: Client) -> None:
    make(m.CeIntent, intent_code="CANCEL_ORDER")

    response = fill(ada, address(m.CeResponse, "add"), **NEW | {"intent_code": "CANCEL_ORDR"})

    assert form_of(response).errors["intent_code"] == [
        ("The intent CANCEL_ORDR does not exist. Did you mean CANCEL_ORDER? Create it first, or choose ANY or UNKNOWN.")
    ]
    assert not m.CeResponse.objects.filter(exact_text="Hello.").exists()


def test_a_blank_scope_is_told_in_the_words_of_the_check(ada: Client) -> None:
    response = fill(ada, address(m.CeResponse, "add"), **NEW | {"state_code": ""})

    assert form_of(response).errors["state_code"] == ["Enter a state, or ANY for all states."]


def test_bad_json_is_told_with_line_and_column_and_stays_as_typed(ada: Client) -> None:
    typed = '{"type": "object",\r\n "properties" 2}'

    response = fill(ada, address(m.CeOutputSchema, "add"), intent_code="UNKNOWN", state_code="ANY", json_schema=typed)

    form = form_of(response)
    assert "This is not valid JSON" in form.errors["json_schema"][0]
    assert "line 2, column 15" in form.errors["json_schema"][0]
    assert form["json_schema"].value() == typed


@pytest.mark.parametrize("typed", ["9" * 5000, "[" * 100_000, '{"a":' * 2000 + "1" + "}" * 2000])
def test_json_that_cannot_be_read_is_told_at_the_field(typed: str, ada: Client) -> None:
    response = fill(ada, address(m.CeOutputSchema, "add"), intent_code="UNKNOWN", state_code="ANY", json_schema=typed)

    assert response.status_code == 200
    assert "json_schema" in form_of(response).errors


@pytest.mark.parametrize("model", NUMBERS, ids=lambda model: model._meta.db_table)
def test_letters_in_a_number_are_told_at_the_field(model: Any, ada: Client) -> None:
    row = make(model)

    response = fill(ada, address(model, "change", row.pk), **dict.fromkeys(NUMBERS[model], "abc"))

    assert response.status_code == 200
    errors = form_of(response).errors
    assert [n for n in NUMBERS[model] if n not in errors and not (n.endswith("_id") and "container_id" in errors)] == []


def test_json_that_is_a_text_is_no_document(ada: Client) -> None:
    row = make(m.CeOutputSchema)

    response = fill(ada, address(m.CeOutputSchema, "change", row.pk), json_schema='"{}"')

    assert "json_schema" in form_of(response).errors


def test_a_blank_document_is_the_column_s_own_nothing(ada: Client) -> None:
    row = make(m.CeMcpHttpTool)
    row.tool.tool_group = "HTTP_API"
    row.tool.save()
    form = form_of(ada.get(address(m.CeMcpHttpTool, "change", row.pk)))

    assert form.fields["headers_json"].clean("") == {}
    assert form.fields["param_schema"].clean("") == {"type": "object"}


def test_line_ends_of_browsers_are_no_change(ada: Client) -> None:
    row = a_response(exact_text="one\ntwo")
    before = newest().pk

    fill(ada, address(m.CeResponse, "change", row.pk), exact_text="one\r\ntwo")

    assert newest().pk == before


def test_a_word_that_is_no_more_stays_chosen(ada: Client) -> None:
    row = make(m.CeRule, phase="OLD_PHASE")

    page = ada.get(address(m.CeRule, "change", row.pk)).content.decode()

    assert "OLD_PHASE (unknown)" in page


# --- warnings ------------------------------------------------------------------------------------------------------


def test_warnings_hold_the_row_once(ada: Client) -> None:
    held = fill(ada, address(m.CeResponse, "add"), **NEW | {"state_code": "NOWHERE"})
    page = held.content.decode()

    assert held.status_code == 200
    assert "Save anyway" in page
    assert "No rule, phrase or state graph edge leads to state NOWHERE yet." in page
    assert not m.CeResponse.objects.filter(state_code="NOWHERE").exists()

    assert send_again(ada, held, _confirm="1").status_code == 302
    assert m.CeResponse.objects.filter(state_code="NOWHERE").exists()


def test_a_warning_stands_at_its_field_and_is_read_out_with_it(ada: Client) -> None:
    held = fill(ada, address(m.CeResponse, "add"), **NEW | {"state_code": "NOWHERE"})

    widget = str(form_of(held)["state_code"])
    assert 'id="id_state_code_warning"' in widget
    assert "id_state_code_warning" in widget.split("aria-describedby")[1].split(">")[0]


def test_a_warning_that_nobody_has_seen_is_not_confirmed(ada: Client) -> None:
    held = fill(ada, address(m.CeResponse, "add"), **NEW | {"state_code": "NOWHERE"})

    other = send_again(ada, held, _confirm="1", exact_text="Hello {{nobody}}.")

    assert other.status_code == 200
    assert send_again(ada, other, _confirm="1").status_code == 302


def test_a_warning_that_the_row_has_already_is_not_asked_about_again(ada: Client) -> None:
    row = a_response(state_code="NOWHERE")

    response = fill(ada, address(m.CeResponse, "change", row.pk), exact_text="Hello again.")

    assert response.status_code == 302


def test_without_warnings_there_is_nothing_to_confirm(ada: Client) -> None:
    assert "Save anyway" not in ada.get(address(m.CeResponse, "add")).content.decode()


# --- who may what --------------------------------------------------------------------------------------------------


def test_the_code_of_an_intent_stays(ada: Client) -> None:
    make(m.CeIntent)

    form = form_of(ada.get(address(m.CeIntent, "change", "LOAN")))

    assert "intent_code" not in form.fields


def test_a_copy_is_another_row(ada: Client) -> None:
    row = a_response()

    held = fill(ada, address(m.CeResponse, "change", row.pk), _saveasnew="1", exact_text="A copy.")
    send_again(ada, held, _saveasnew="1", _confirm="1")

    assert m.CeResponse.objects.get(exact_text="A copy.").pk != row.pk


def test_an_analyst_may_not_make_a_reserved_setting(ben: Client) -> None:
    response = fill(
        ben, address(m.CeConfig, "add"), config_type="Session", config_key="LEASE_SECONDS", config_value="20"
    )

    assert form_of(response).non_field_errors() == [
        "“Lease of a conversation (seconds)” can only be changed by configuration administrators."
    ]


def test_an_analyst_reads_a_reserved_setting(ben: Client) -> None:
    row = make(m.CeConfig, config_key="LEASE_SECONDS", config_value="20")
    url = address(m.CeConfig, "change", row.pk)

    assert 'name="config_value"' not in ben.get(url).content.decode()
    assert ben.post(url, {"config_value": "30"}).status_code == 403


def test_a_setting_says_what_it_may_be(ada: Client) -> None:
    row = make(m.CeConfig, config_key="LEASE_SECONDS", config_value="20")

    help_text = str(form_of(ada.get(address(m.CeConfig, "change", row.pk)))["config_value"].help_text)

    assert "Allowed: a whole number from 5 to 3600. Default: 15." in help_text


def test_a_reader_sees_rows_and_no_way_to_change_them(somebody: Any) -> None:
    row = make(m.CeOutputSchema)
    page = somebody("quinn", "qa").get(address(m.CeOutputSchema, "change", row.pk)).content.decode()

    assert 'name="_save"' not in page
    assert 'name="_saveasnew"' not in page
    assert 'name="reason"' not in page
    assert "&quot;properties&quot;: {" in page


def test_every_example_is_a_form_field_or_part_of_the_page() -> None:
    for model, (values, _) in EXAMPLES.items():
        names = {column.name for column in model._meta.fields}
        assert values.keys() <= names


@pytest.mark.dialects
@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL refuses such a write.")
@pytest.mark.parametrize(
    ("model", "column", "value"),
    [
        (m.CeRule, "priority", "soon"),
        (m.CeRule, "match_pattern", b"\xff\x01"),
        (m.CeRule, "created_at", "yesterday"),
        (m.CeOutputSchema, "json_schema", '{"type": '),
        (m.CePromptTemplate, "temperature", "hot"),
    ],
)
def test_a_row_with_a_value_that_its_column_cannot_hold_is_shown_with_what_to_do(
    ada: Client, model: Any, column: str, value: Any
) -> None:
    row = make(model)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA ignore_check_constraints = ON")
        cursor.execute(f"UPDATE {model._meta.db_table} SET {column} = %s", [value])
        cursor.execute("PRAGMA ignore_check_constraints = OFF")

    page = ada.get(address(model, "change", row.pk))
    listed = ada.get(address(model))

    (shown,) = [str(message) for message in page.context["messages"]]
    assert shown.startswith(f"This row is invalid, so no turn uses it: {column} holds")
    assert f"into {model._meta.db_table}.{column} of row {row.pk}" in shown
    assert "unusable" in listed.content.decode()
    assert ada.get(address(model, "history", row.pk)).status_code == 200


def test_a_row_with_a_broken_pattern_says_so_on_its_page(ada: Client) -> None:
    rule = make(m.CeRule, rule_type="REGEX", match_pattern="(")

    page = ada.get(address(m.CeRule, "change", rule.pk))

    assert "This row is invalid, so no turn uses it: missing )" in str(next(iter(page.context["messages"])))


def test_older_template_forms_are_shown_before_they_are_stored_as_jinja(ada: Client) -> None:
    url = address(m.CeResponse, "add")

    held = fill(ada, url, **NEW | {"exact_text": "Hi [(${intent})] & #{state ?: 'x'}"})

    shown = [message for _, _, message in form_of(held).labelled_warnings]
    assert shown == [
        (
            "Only Jinja2 is filled in. On saving, this is converted to Jinja2: [(${intent})] becomes {{ intent }}; "
            "#{state ?: 'x'} becomes {{ state|if_blank('x') }}."
        )
    ]
    assert not m.CeResponse.objects.filter(exact_text__startswith="Hi").exists()

    saved = send_again(ada, held, _confirm="1")

    assert m.CeResponse.objects.get(exact_text="Hi {{ intent }} & {{ state|if_blank('x') }}").intent_code == "UNKNOWN"
    text = read_message(saved, ada)
    assert "<li>text: [(${intent})] → {{ intent }}</li>" in text
    assert "#{state ?: &#x27;x&#x27;}" in text


def test_a_stored_older_form_is_told_when_its_row_is_saved(ada: Client) -> None:
    row = a_response(exact_text="Hi #{intent}")

    saved = fill(ada, address(m.CeResponse, "change", row.pk), description="changed")

    row.refresh_from_db()
    assert row.exact_text == "Hi {{ intent }}"
    assert "#{intent} → {{ intent }}" in read_message(saved, ada)


def test_templates_in_jinja_are_stored_as_they_are(ada: Client) -> None:
    saved = fill(ada, address(m.CeResponse, "add"), **NEW | {"exact_text": "Hi {{ intent }}"})

    assert m.CeResponse.objects.filter(exact_text="Hi {{ intent }}").exists()
    assert "Jinja2" not in read_message(saved, ada)
