"""The page of forms: every linked number leads to a list of as many turns."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from tests.audit.reports.counts import count_listed_turns
from tests.audit.reports.test_funnel import talk
from tests.audit.reports.test_page import list_numbers, reader

__all__ = ["reader"]
pytestmark = [pytest.mark.django_db]


@pytest.fixture
def address() -> str:
    return reverse("admin:audit_ceaudit_forms")


def test_every_number_leads_to_as_many_turns(reader: Client, address: str) -> None:
    talk()
    views = reader.get(address).context["funnels"]
    numbers = [number for view in views for _, of_field in view.rows for number in of_field]
    numbers += list_numbers([label for view in views for label in view.whole])
    numbers += [number for view in views for _, number in view.states]
    linked = [number for number in numbers if number.url]
    assert len(linked) > 15
    for number in linked:
        assert count_listed_turns(reader, number.url) == number.value, number.url


def test_the_page_says_how_many_were_completed(reader: Client, address: str) -> None:
    assert "No form started in this period." in reader.get(address).content.decode()
    talk()
    text = reader.get(address).content.decode()
    assert "33.3\xa0% of the started forms were completed." in text
    assert "Collect 3 2 1" in re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))
    assert text.count("<h1") == 1
    assert 'aria-current="page"' in text


def test_the_table_is_a_file_too(reader: Client, address: str) -> None:
    talk()
    lines = reader.get(address, {"format": "csv"}).content.decode().splitlines()
    assert lines[0].startswith("form,intent,field,started,asked,given,")
    assert lines[1].startswith("2,RENT_BICYCLE,,3,")
