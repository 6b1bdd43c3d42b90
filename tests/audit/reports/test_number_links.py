"""Every link whose text is a number leads to a list of as many lines, on every page with numbers, in three worlds."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

import pytest
from django.contrib.auth.models import User
from django.core.paginator import Page
from django.http import QueryDict
from django.test import Client, RequestFactory
from django.urls import resolve, reverse

from audit.models import CeInboxGroup
from config_admin.editing.links import chart_url
from config_admin.models import CeIntent
from config_admin.releases.models import CeRelease
from tests.audit.reports.seeded_worlds import TRADES, build_world

pytestmark = [pytest.mark.django_db, pytest.mark.nightly]
#: A number with what it counts: "12", "1,204 turns", "All 7 groups in the inbox".
_NUMBER = re.compile(r"(?:All )?(\d[\d,]*)(?: (?:turns?|conversations?|messages?|groups?)\b.*)?")
#: The pages, each with what its address needs.
_PAGES = (
    *("index", "audit_ceaudit_reports", "audit_ceaudit_forms", "audit_ceaudit_rows", "audit_ceaudit_week"),
    *("audit_ceaudit_not_understood", "audit_ceaudit_times", "audit_ceaudit_ratings"),
)


class LinkReader(HTMLParser):
    """The links of a page: each address with its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self._address = ""
        self._texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self._address, self._texts = dict(attrs).get("href") or "", []

    def handle_data(self, data: str) -> None:
        self._texts.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            self.links.append((self._address, " ".join("".join(self._texts).split())))


def list_numbers(page: str, text: str) -> Iterator[tuple[str, int]]:
    """The links of a page whose text is a number, without those that name a release."""
    for address, label in LinkReader(text).links:
        number = _NUMBER.fullmatch(label)
        if number and "/cerelease/" not in address:
            yield urljoin(page, address), int(number[1].replace(",", ""))


def count_lines(user: User, address: str) -> int:
    """The lines of a list over all its pages, as its template gets them: drawing them all would take minutes."""
    count = 0
    while address:
        path, _, query = address.partition("?")
        request = RequestFactory().get(path, QueryDict(query))
        request.user = user
        view, args, options = resolve(path)
        context: Any = view(request, *args, **options).context_data
        count += len(context["lines"])
        address = context.get("older") or context.get("look_further") or ""
        if isinstance(context.get("page"), Page) and context["page"].has_next():
            address = f"{path}?{context['query']}&page={context['page'].next_page_number()}"
    return count


@pytest.mark.parametrize("seed", TRADES)
def test_every_number_leads_to_as_many_lines(seed: int) -> None:
    build_world(seed)
    user = User.objects.create_superuser("ada")
    client = Client()
    client.force_login(user)
    pages = [reverse(f"admin:{name}") for name in _PAGES]
    inbox = reverse("admin:audit_ceaudit_inbox")
    pages += [f"{inbox}?kind={kind}" for kind in CeInboxGroup.objects.values_list("kind", flat=True).distinct()]
    pages += [f"{reverse('admin:audit_ceaudit_reports')}?days=30&channel=web"]
    flow = CeIntent.objects.get(intent_code__in=("BOOK_VISIT", "RENT_BIKE", "BOOK_CAR_IN"))
    pages.append(f"{chart_url(flow.pk)}?traffic=1")
    newest = CeRelease.objects.filter(author="ben").latest("pk")
    pages.append(reverse("admin:audit_ceaudit_effect", args=[newest.pk]))
    lengths: dict[str, int] = {}
    differences = []
    for page in pages:
        numbers = list(list_numbers(page, client.get(page).content.decode()))
        assert numbers, f"{page} has no number that is a link"
        for address, number in numbers:
            if address not in lengths:
                lengths[address] = count_lines(user, address)
            if lengths[address] != number:
                differences.append(f"{page}: {number} leads to {lengths[address]} lines at {address}")
    assert not differences, "\n".join(differences)
    assert len(lengths) > 50
