"""Any two releases beside each other: by table, by row, by field, a page at a time."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.editing import row_diff
from config_admin.history.release_admin import compare_url
from config_admin.releases.change_set import change_set
from tests.config_admin.admin.pages import a_response, address, newest
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db
PAGE = "admin:config_admin_cerelease_compare"


def open_comparison(client: Client, before: int, after: int, more: str = "") -> Any:
    return client.get(compare_url(before, after) + more)


@pytest.fixture
def story(db: None) -> tuple[int, int]:
    """Two releases with one in between: a response changed, a rule added, an intent added, a policy removed."""
    row = a_response()
    with change_set(reason="first"):
        policy = make(m.CePolicy)
    first = newest().pk
    with change_set("ADMIN", "ada", "in between"):
        make(m.CeIntent)
        row.priority = 7
        row.save()
    with change_set("ADMIN", "ada", "second"):
        policy.delete()
        make(m.CeRule)
    return first, newest().pk


def test_what_differs_is_counted_by_table_and_spelt_out_by_row_and_field(ada: Client, story: tuple[int, int]) -> None:
    page = open_comparison(ada, *story)

    comparison = page.context["comparison"]
    assert [(table.title, table.added, table.changed, table.removed) for table in comparison.tables] == [
        ("Intents", 1, 0, 0),
        ("Rules", 1, 0, 0),
        ("Policies", 0, 0, 1),
        ("Answers", 0, 1, 0),
    ]
    assert [(row.name.split()[0], row.how) for row in comparison.rows] == [
        ("Intent", "added"),
        ("Rule", "added"),
        ("Policy", "removed"),
        ("Answer", "changed"),
    ]
    assert [change.label for change in comparison.rows[-1].changes] == ["Priority"]
    assert f'href="{comparison.rows[-1].url}"' in page.content.decode()


def test_the_other_way_round_what_was_added_is_removed(ada: Client, story: tuple[int, int]) -> None:
    onward = open_comparison(ada, *story)
    back = ada.get(onward.context["other_way_url"])

    assert [row.how for row in back.context["comparison"].rows] == ["removed", "removed", "added", "changed"]


def test_without_numbers_the_newest_release_is_compared_with_the_one_before(ada: Client, story: Any) -> None:
    page = ada.get(reverse(PAGE))

    assert (page.context["pair"].before.pk, page.context["pair"].after.pk) == (story[1] - 1, story[1])


def test_nothing_is_a_release_too(ada: Client, story: tuple[int, int]) -> None:
    page = open_comparison(ada, 0, 1)

    assert page.context["pair"].before is None
    assert {row.how for row in page.context["comparison"].rows} == {"added"}


def test_the_same_release_twice_does_not_differ(ada: Client, story: tuple[int, int]) -> None:
    assert (
        "No setting or row that a turn reads is different." in open_comparison(ada, story[0], story[0]).content.decode()
    )


@pytest.mark.parametrize(
    ("number", "message"), [("4711", "Release 4711 does not exist. The newest is"), ("x", "whole number")]
)
def test_a_number_that_is_no_release_is_told_at_its_field(
    number: str, message: str, ada: Client, story: tuple[int, int]
) -> None:
    page = ada.get(f"{reverse(PAGE)}?before=1&after={number}")

    assert message in page.context["form"].errors["after"][0]
    assert "comparison" not in page.context


def test_one_table_is_shown_alone(ada: Client, story: tuple[int, int]) -> None:
    comparison = open_comparison(ada, *story, "&table=ce_rule").context["comparison"]

    assert [row.table for row in comparison.rows] == ["Rules"]
    assert (comparison.total, [table.is_shown for table in comparison.tables]) == (4, [False, True, False, False])
    assert comparison.all_url


def test_long_comparisons_are_read_page_by_page(ada: Client, story: tuple[int, int], monkeypatch: Any) -> None:
    monkeypatch.setattr(row_diff, "SHOWN", 3)
    first = open_comparison(ada, *story)
    comparison = first.context["comparison"]
    rest = ada.get(address(m.CeRelease) + "compare/" + comparison.next_url).context["comparison"]

    assert (len(comparison.rows), comparison.more, comparison.skipped) == (3, 1, 0)
    assert (len(rest.rows), rest.more, rest.skipped, rest.next_url) == (1, 0, 3, "")
    assert not {row.name for row in comparison.rows} & {row.name for row in rest.rows}


def test_analysts_compare_and_go_nowhere_back(ben: Client, somebody: Any, story: tuple[int, int]) -> None:
    assert "Roll back" not in open_comparison(ben, *story).content.decode()
    assert open_comparison(somebody("ines", "integrator"), *story).status_code == 403


def test_a_template_and_a_document_are_compared_as_what_they_are(ada: Client) -> None:
    with change_set():
        make(m.CeIntent)
        schema = make(m.CeOutputSchema)
        prompt = make(m.CePromptTemplate, user_prompt="Say {{ user_input }}")
    first = newest().pk
    with change_set():
        m.CeOutputSchema.objects.filter(pk=schema.pk).update(json_schema=schema.json_schema | {"required": ["amount"]})
        m.CePromptTemplate.objects.filter(pk=prompt.pk).update(user_prompt="Say {{ standalone_query }}")

    text = open_comparison(ada, first, newest().pk).content.decode()

    assert "<code>required</code>" in text
    assert "<del>{{ user_input }}</del><ins>{{ standalone_query }}</ins>" in text
    assert "Now uses: standalone_query. No longer uses: user_input." in text
