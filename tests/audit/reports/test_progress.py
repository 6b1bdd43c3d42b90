"""While turns are counted again, pages, API and command say up to when their numbers are complete."""

from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from audit.models import CeCountProgress
from audit.reports.count_job import count_everything
from audit.reports.progress import describe_recount
from audit.reports.recount import begin_recount
from convengine.engine.turn.turn import TurnRequest
from convengine.server.sessions.models import CeConversation
from convengine.server.turns.take_turn import take_turn
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def counted_turns() -> None:
    create_help_desk()
    key = str(CeConversation().conversation_id)
    for message in ("hours", "fees"):
        take_turn(TurnRequest(key, message))
    list(count_everything(timedelta()))


def test_nothing_is_said_when_all_turns_are_counted() -> None:
    assert describe_recount() == ""


def test_a_recount_says_up_to_when_it_came() -> None:
    begin_recount()
    assert "no turn is counted yet" in describe_recount()
    CeCountProgress.objects.filter(pk=CeCountProgress.FIRST_PART).update(counted=1_000_000)
    assert "complete up to" in describe_recount()
    list(count_everything(timedelta()))
    assert describe_recount() == ""


@pytest.mark.parametrize("page", ["reports", "forms", "rows", "week"])
def test_every_page_of_the_reports_says_so(client: Client, page: str) -> None:
    client.force_login(User.objects.create_superuser("ada"))
    begin_recount()
    assert "Turns are being counted again" in client.get(reverse(f"admin:audit_ceaudit_{page}")).content.decode()


def test_the_command_says_so_beside_its_table() -> None:
    begin_recount()
    errors = StringIO()
    call_command("report", stdout=StringIO(), stderr=errors)
    assert "Turns are being counted again" in errors.getvalue()


def test_home_says_so_beside_the_week(client: Client) -> None:
    client.force_login(User.objects.create_superuser("ada"))
    assert "Turns are being counted again" not in client.get("/admin/").content.decode()
    begin_recount()
    assert "Turns are being counted again" in client.get("/admin/").content.decode()
