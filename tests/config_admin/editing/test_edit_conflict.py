"""Two people edit one row: neither overwrites the other, nothing is lost, and the history names both."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from config_admin import models as m
from config_admin.editing.edit_conflict import CHOICE, TEXT, combine_json, combine_texts
from config_admin.releases.change_set import change_set
from tests.config_admin.admin.pages import a_response, address, fill, form_of, newest, send_again
from tests.config_admin.builders import SCHEMA, changed_rows, make

pytestmark = pytest.mark.django_db
TEXT_CHOICE = f"{CHOICE}exact_text"


@pytest.fixture
def row() -> m.CeResponse:
    return a_response(exact_text="Call us today.", priority=10)


def change(row: Any) -> str:
    return address(type(row), "change", row.pk)


def reload(row: Any) -> Any:
    return type(row).objects.get(pk=row.pk)


def outcomes(response: Any) -> dict[str, str]:
    return {side.merge.name: side.merge.outcome for side in form_of(response).meeting.sides}


def test_a_stale_edit_is_refused_and_both_versions_stand_side_by_side(ada: Client, ben: Client, row: Any) -> None:
    opened = ada.get(change(row))
    fill(ben, change(row), exact_text="Ben was here.")

    refused = send_again(ada, opened, exact_text="Ada is here.")

    page = refused.content.decode()
    assert reload(row).exact_text == "Ben was here."
    assert "ben changed this row (" in page
    assert "while you were editing. Your text is kept in the form." in page
    assert form_of(refused)["exact_text"].value() == "Ada is here."
    (side,) = form_of(refused).meeting.sides
    assert side.merge.base == "Call us today."
    assert ("in", "Ben was here.") in [tuple(part) for part in side.merge.theirs.segments]
    assert ("in", "Ada is here.") in [tuple(part) for part in side.merge.mine.segments]
    assert "Ben was here. Ada is here.</textarea>" in page


def test_a_change_in_another_window_of_the_same_user_is_named_as_such(ada: Client, row: Any) -> None:
    opened = ada.get(change(row))
    fill(ada, change(row), exact_text="Said in the other window.")

    page = send_again(ada, opened, exact_text="Said here.").content.decode()

    assert "Not saved: another window of yours changed this row (" in page
    assert "the version of another window of yours" in page


def test_fields_that_one_side_changed_are_merged_by_themselves(ada: Client, ben: Client, row: Any) -> None:
    opened = ada.get(change(row))
    fill(ben, change(row), priority=20, enabled=None, reason="Off at night")
    before = newest()

    held = send_again(ada, opened, exact_text="Call us now.", reason="Shorter")
    assert outcomes(held) == {"exact_text": "mine", "priority": "theirs", "enabled": "theirs"}
    assert reload(row).exact_text == "Call us today."
    saved = send_again(ada, held)

    now = reload(row)
    assert saved.status_code == 302
    assert (now.exact_text, now.priority, now.enabled) == ("Call us now.", 20, False)
    assert newest().parent_id == before.pk
    assert newest().reason == f"Shorter (combined with the change of ben, release {before.pk})"
    assert changed_rows(newest().pk) == [("ce_response", row.pk)]


@pytest.mark.parametrize(
    ("choice", "text"),
    [
        ("theirs", "Call us now or today."),
        ("mine", "Ring us today."),
        ("both", "Ring us now or today."),
    ],
)
def test_a_field_that_both_changed_waits_for_a_choice(
    choice: str, text: str, ada: Client, ben: Client, row: Any
) -> None:
    opened = ada.get(change(row))
    fill(ben, change(row), exact_text="Call us now or today.")
    held = send_again(ada, opened, exact_text="Ring us today.")

    assert outcomes(held) == {"exact_text": "choose"}
    undecided = send_again(ada, held)
    assert undecided.status_code == 200
    assert outcomes(undecided) == {"exact_text": "choose"}
    assert "Not saved yet: choose a version for each field." in undecided.content.decode()
    combined = form_of(held).meeting.sides[0].merge.combined
    saved = send_again(ada, undecided, **{TEXT_CHOICE: choice, f"{TEXT}exact_text": combined})

    assert saved.status_code == 302
    assert reload(row).exact_text == text


def test_a_choice_is_kept_while_another_field_still_waits(ada: Client, ben: Client, row: Any) -> None:
    opened = ada.get(change(row))
    fill(ben, change(row), exact_text="Ben was here.", priority=20)
    held = send_again(ada, opened, exact_text="Ada is here.", priority=30)
    half = {TEXT_CHOICE: "both", f"{TEXT}exact_text": "Both were here."}

    page = send_again(ada, held, **half)
    assert [(side.merge.name, side.chosen) for side in form_of(page).meeting.sides] == [
        ("exact_text", "both"),
        ("priority", ""),
    ]
    assert "Both were here.</textarea>" in page.content.decode()
    send_again(ada, page, **half, **{f"{CHOICE}priority": "theirs"})

    assert (reload(row).exact_text, reload(row).priority) == ("Both were here.", 20)


def test_a_third_change_meets_the_merged_form_again(ada: Client, ben: Client, row: Any) -> None:
    first = newest().pk
    opened = ada.get(change(row))
    fill(ben, change(row), priority=20)
    held = send_again(ada, opened, exact_text="Ada is here.", reason="Mine")
    fill(ben, change(row), enabled=None)

    held = send_again(ada, held)
    assert outcomes(held) == {"exact_text": "mine", "enabled": "theirs"}
    send_again(ada, held)

    now = reload(row)
    assert (now.exact_text, now.priority, now.enabled) == ("Ada is here.", 20, False)
    assert newest().reason == f"Mine (combined with the change of ben, release {first + 1}; ben, release {first + 2})"


def test_a_third_change_of_a_field_that_waits_does_not_choose_for_anybody(ada: Client, ben: Client, row: Any) -> None:
    opened = ada.get(change(row))
    fill(ben, change(row), exact_text="Ben was here.")
    held = send_again(ada, opened, exact_text="Ada is here.")
    fill(ben, change(row), priority=20)

    held = send_again(ada, held)

    assert outcomes(held) == {"exact_text": "choose", "priority": "theirs"}
    assert send_again(ada, held, **{TEXT_CHOICE: "mine"}).status_code == 302
    assert (reload(row).exact_text, reload(row).priority) == ("Ada is here.", 20)


def test_documents_are_brought_together_key_by_key(ada: Client, ben: Client) -> None:
    with change_set():
        make(m.CeIntent)
        row = make(m.CeOutputSchema)
    opened = ada.get(change(row))
    fill(ben, change(row), json_schema='{"type": "object", "properties": {"amount": {"type": "integer"}}}')
    mine = '{"type": "object", "properties": {"amount": {"type": "number"}, "why": {"type": "string"}}}'

    held = send_again(ada, opened, json_schema=mine)
    (side,) = form_of(held).meeting.sides
    assert [part.path_text for part in side.merge.theirs.within] == ["properties.amount.type"]
    assert [part.path_text for part in side.merge.mine.within] == ["properties.why"]
    chosen = {f"{CHOICE}json_schema": "both", f"{TEXT}json_schema": side.merge.combined}
    response = send_again(ada, held, **chosen)
    if response.status_code == 200:
        response = send_again(ada, response, _confirm="1")

    properties = {"amount": {"type": "integer"}, "why": {"type": "string"}}
    assert reload(row).json_schema == SCHEMA | {"properties": properties}


def test_a_document_that_cannot_be_read_is_kept_as_it_was_typed(ada: Client, ben: Client) -> None:
    with change_set():
        make(m.CeIntent)
        row = make(m.CeOutputSchema)
    opened = ada.get(change(row))
    fill(ben, change(row), json_schema='{"type": "object", "properties": {"amount": {"type": "integer"}}}')

    held = send_again(ada, opened, json_schema='{"type": "object", "properties" mine}')

    assert form_of(held)["json_schema"].value() == '{"type": "object", "properties" mine}'
    assert "mine}" in str(form_of(held).meeting.sides[0].merge.combined)
    assert form_of(held).errors["json_schema"]


def test_the_same_change_by_both_is_nothing_to_choose(ada: Client, ben: Client, row: Any) -> None:
    opened = ada.get(change(row))
    fill(ben, change(row), exact_text="The same.")

    held = send_again(ada, opened, exact_text="The same.")

    assert outcomes(held) == {}
    assert send_again(ada, held).status_code == 302


def test_warnings_hold_a_merged_form_and_the_history_still_names_both(ada: Client, ben: Client, row: Any) -> None:
    opened = ada.get(change(row))
    fill(ben, change(row), priority=20)

    held = send_again(ada, opened, state_code="NOWHERE")
    held = send_again(ada, held)
    assert held.status_code == 200
    assert send_again(ada, held, _confirm="1").status_code == 302

    assert (reload(row).state_code, reload(row).priority) == ("NOWHERE", 20)
    assert "combined with the change of ben" in newest().reason


def test_what_was_changed_past_the_application_is_met_too(ada: Client, row: Any) -> None:
    opened = ada.get(change(row))
    with change_set(author="a script", reason="Night"):
        m.CeResponse.objects.filter(pk=row.pk).update(priority=20)

    held = send_again(ada, opened, exact_text="Ada is here.")

    assert "a script changed this row (" in held.content.decode()
    assert outcomes(held) == {"exact_text": "mine", "priority": "theirs"}


@pytest.mark.parametrize("seen", [None, "0-", "nonsense", "1-0123456789abcdef", "4711-0123456789abcdef"])
def test_a_form_that_does_not_say_what_it_saw_chooses_everything_that_differs(seen: Any, ada: Client, row: Any) -> None:
    refused = fill(ada, change(row), exact_text="Blind.", _seen=seen)

    assert reload(row).exact_text == "Call us today."
    assert outcomes(refused) == {"exact_text": "choose"}
    assert send_again(ada, refused, **{TEXT_CHOICE: "mine"}).status_code == 302
    assert reload(row).exact_text == "Blind."


def test_names_that_are_no_fields_choose_nothing(ada: Client, row: Any) -> None:
    opened = ada.get(change(row))

    response = send_again(ada, opened, _open="created_at pk", _choice_created_at="theirs", exact_text="Ada is here.")

    assert response.status_code == 302
    assert reload(row).exact_text == "Ada is here."


@pytest.mark.django_db(transaction=True)
def test_of_two_saves_at_the_same_moment_one_is_held_and_nothing_is_lost() -> None:
    row = a_response(exact_text="Call us today.", priority=10)
    clients = [Client(), Client()]
    for client, name in zip(clients, ("ada", "ben"), strict=True):
        # A test that commits finds no groups when one before it has emptied the database.
        client.force_login(User.objects.create_superuser(name))
    opened = [client.get(change(row)) for client in clients]
    edits: list[dict[str, Any]] = [{"exact_text": "Ada is here."}, {"priority": 20}]
    ready = Barrier(2)

    def save(number: int) -> int:
        try:
            ready.wait()
            return int(send_again(clients[number], opened[number], **edits[number]).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        statuses = list(pool.map(save, range(2)))

    now = reload(row)
    assert sorted(statuses) == [200, 302]
    assert (now.exact_text, now.priority) in (("Ada is here.", 10), ("Call us today.", 20))


# --- two changes of one text or document, brought together ----------------------------------------------------------

WORDS = st.lists(st.sampled_from(["a", "b", "c", "one", "two"]), max_size=8).map(" ".join)


@pytest.mark.parametrize(
    ("base", "theirs", "mine", "expected"),
    [
        ("one two three", "ONE two three", "one two THREE", "ONE two THREE"),
        ("one two three", "one two three", "one two", "one two"),
        ("one two three", "one two three four", "zero one two three", "zero one two three four"),
        ("Call us today.", "Call us now or today.", "Ring us today.", "Ring us now or today."),
        ("Hello.", "Good morning.", "Good evening.", "Good morning. Good evening."),
        ("one\ntwo\nthree", "one\ntwo and a half\nthree", "zero\none\ntwo\nthree", "zero\none\ntwo and a half\nthree"),
        ("one", "eins", "uno\ndos", "eins\nuno\ndos"),
        ("one two", "", "one two three", "one two three"),
        ("", "theirs", "mine", "theirs mine"),
        ("same", "other", "other", "other"),
    ],
)
def test_texts_are_brought_together(base: str, theirs: str, mine: str, expected: str) -> None:
    assert combine_texts(base, theirs, mine) == expected


@given(WORDS, WORDS, WORDS)
def test_no_word_that_either_side_added_is_lost(base: str, theirs: str, mine: str) -> None:
    added = {word for side in (theirs, mine) for word in side.split()} - set(base.split())

    assert added <= set(combine_texts(base, theirs, mine).split())


@given(WORDS, WORDS)
def test_the_change_of_one_side_alone_is_taken_as_it_is(base: str, other: str) -> None:
    assert combine_texts(base, other, base) == other
    assert combine_texts(base, base, other) == other
    assert combine_texts(base, other, other) == other


@pytest.mark.parametrize(
    ("base", "theirs", "mine", "expected"),
    [
        ({"a": 1, "b": 2}, {"a": 9, "b": 2}, {"a": 1, "b": 8}, {"a": 9, "b": 8}),
        ({"a": 1}, {"a": 1, "b": 2}, {"a": 1, "c": 3}, {"a": 1, "b": 2, "c": 3}),
        ({"a": 1, "b": 2}, {"a": 1}, {"a": 5, "b": 2}, {"a": 5}),
        ({"a": 1}, {}, {"a": 2}, {"a": 2}),
        ({"a": 1}, {"a": 2}, {}, {"a": 2}),
        ({"a": 1}, {"a": 2}, {"a": 3}, {"a": 3}),
        ({"r": ["a", "b"]}, {"r": ["a", "b", "c"]}, {"r": ["b", "d"]}, {"r": ["b", "c", "d"]}),
        (
            {"p": {"x": {"t": 1}}},
            {"p": {"x": {"t": 2}}},
            {"p": {"x": {"t": 1, "d": 3}}},
            {"p": {"x": {"t": 2, "d": 3}}},
        ),
        (None, {"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": True}, {"a": 1}, {"a": True}),
        ({}, [1], {"a": 1}, {"a": 1}),
    ],
)
def test_documents_are_brought_together(base: Any, theirs: Any, mine: Any, expected: Any) -> None:
    assert combine_json(base, theirs, mine) == expected
