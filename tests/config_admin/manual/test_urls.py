"""Pages of the manual: for whoever may work here, by contents, by words, and by one entry for the panel."""

from collections.abc import Callable

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def test_strangers_are_asked_to_sign_in(client: Client) -> None:
    assert client.get("/docs/")["Location"] == "/admin/login/?next=/docs/"


def test_the_contents_lead_to_every_chapter(ben: Client) -> None:
    page = ben.get("/docs/").content.decode()

    assert 'href="/docs/rules/"' in page
    assert 'href="/docs/reference/ce_rule/"' in page
    assert 'href="/docs/reference/settings-Session/"' in page


def test_the_contents_begin_with_what_readers_want_to_do(ben: Client) -> None:
    source = ben.get("/docs/").content.decode()
    tasks = source[source.index("I want to …") : source.index("For analysts and QA")]

    assert tasks.count("<tr>") > 20
    assert '<a href="/docs/first_hour_analyst/#undo-yesterdays-change">' in tasks


def test_words_find_chapters_and_entries(ben: Client) -> None:
    page = ben.get("/docs/", {"q": "null_leaf_matches"}).content.decode()

    assert 'href="/docs/reference/ce_rule/#ce_rule.null_leaf_matches"' in page
    assert "Also match an empty value" in page


def test_words_that_nothing_has_are_told(ben: Client) -> None:
    assert "Nothing in the manual contains this word" in ben.get("/docs/", {"q": "zyzzyva"}).content.decode()


@pytest.mark.parametrize("address", ["/docs/rules/", "/docs/reference/stages/", "/docs/reference/groups/"])
def test_a_chapter_is_a_page(ben: Client, address: str) -> None:
    assert ben.get(address).status_code == 200


@pytest.mark.parametrize("address", ["/docs/nothing/", "/docs/reference/nothing/", "/docs/entry/nothing/"])
def test_what_is_not_there_is_not_found(ben: Client, address: str) -> None:
    assert ben.get(address).status_code == 404


def test_an_entry_comes_alone_for_the_panel(ben: Client) -> None:
    entry = ben.get("/docs/entry/ce_rule.priority/").content.decode()

    assert "Within one scope, lower numbers come first." in entry
    assert "<html" not in entry


def test_an_entry_leads_to_the_chapters_about_it(ben: Client) -> None:
    assert 'href="/docs/rules/"' in ben.get("/docs/entry/ce_rule.match_pattern/").content.decode()


def test_chapters_are_found_with_everything_else(ben: Client) -> None:
    assert 'href="/docs/rules/"' in ben.get("/admin/find/", {"q": "conditions and texts"}).content.decode()


def test_the_entry_of_a_setting_is_found_by_its_name(ben: Client) -> None:
    assert "idle minutes" in ben.get("/docs/entry/setting.Session/TIMEOUT_MINUTES/").content.decode()


def test_the_entry_of_a_table_lists_its_columns(ben: Client) -> None:
    assert 'data-entry="ce_rule.phase"' in ben.get("/docs/entry/ce_rule/").content.decode()


def test_no_page_of_the_manual_asks_the_database_for_more_than_who_reads_it(
    ben: Client, django_assert_max_num_queries: Callable[[int], object]
) -> None:
    with django_assert_max_num_queries(6):
        ben.get("/docs/reference/ce_rule/")
