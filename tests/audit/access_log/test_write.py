"""Access log is noted: people, not systems; append-only; listed for who may see it."""

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.db import DatabaseError, connection, transaction
from django.test import Client, RequestFactory
from django.urls import reverse

from audit.access_log.write import MAX_SEARCH_LENGTH, log_access
from audit.models import CeAccessLog, CeAudit
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.sign_in import sign_in
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db
CONVERSATION = uuid.uuid4()


def request_of(user: Any, path: str = "/admin/timeline/") -> Any:
    request = RequestFactory().get(path, {"q": "secret"}, REMOTE_ADDR="10.1.2.3")
    request.user = user
    return request


def test_a_look_is_noted_with_who_what_and_from_where() -> None:
    ada = User.objects.create_user("ada")
    log_access(request_of(ada), CeAccessLog.Kind.TURN, CONVERSATION, 7)

    row = CeAccessLog.objects.get()
    assert (row.reader, row.kind, row.conversation_id, row.turn_no) == ("ada", "TURN", CONVERSATION, 7)
    assert (row.address, row.path) == ("10.1.2.3", "/admin/timeline/")


def test_systems_and_strangers_are_no_people() -> None:
    log_access(request_of(None), CeAccessLog.Kind.EVENTS, CONVERSATION)
    log_access(request_of(AnonymousUser()), CeAccessLog.Kind.EVENTS, CONVERSATION)

    assert not CeAccessLog.objects.exists()


def test_a_long_search_is_cut_and_what_no_database_takes_is_replaced() -> None:
    log_access(request_of(User.objects.create_user("ada")), CeAccessLog.Kind.SEARCH, search="\x00" + "x" * 5000)

    assert len(CeAccessLog.objects.get().search) == MAX_SEARCH_LENGTH


def test_nobody_changes_a_look() -> None:
    log_access(request_of(User.objects.create_user("ada")), CeAccessLog.Kind.SEARCH, search="bob")

    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE ce_access_log SET reader = 'eve'")


def test_the_list_finds_a_reader_and_a_conversation() -> None:
    ada, boss = User.objects.create_user("ada"), Client()
    boss.force_login(User.objects.create_superuser("boss"))
    log_access(request_of(ada), CeAccessLog.Kind.CONVERSATION, CONVERSATION)
    log_access(request_of(ada), CeAccessLog.Kind.SEARCH, search="order 48392")
    address = reverse("admin:audit_ceaccesslog_changelist")

    page = boss.get(address).content.decode()
    assert "Timeline of a conversation" in page
    assert "order 48392" in page
    assert len(boss.get(address, {"q": str(CONVERSATION)}).context["cl"].result_list) == 1
    assert len(boss.get(address, {"q": "ada"}).context["cl"].result_list) == 2
    assert not boss.get(address, {"q": "nobody"}).context["cl"].result_list


def test_stored_rows_in_the_admin_are_looks_too() -> None:
    create_help_desk()
    caller, boss = Caller(), Client()
    caller.say("hours")
    boss.force_login(User.objects.create_superuser("boss"))
    turn, event = CeConversationHistory.objects.get(), CeAudit.objects.first()
    pages = [
        reverse("admin:ce_sessions_ceconversationhistory_changelist"),
        reverse("admin:ce_sessions_ceconversationhistory_change", args=[turn.pk]),
        reverse("admin:ce_sessions_ceconversation_change", args=[turn.conversation_id]),
        reverse("admin:audit_ceaudit_changelist"),
        reverse("admin:audit_ceaudit_change", args=[event.pk]),
    ]
    for address in pages:
        assert boss.get(address).status_code == 200
    looks = list(CeAccessLog.objects.order_by("access_id").values_list("path", "kind", "conversation_id", "turn_no"))
    of_turn = (turn.conversation_id, 1)
    assert looks == [
        (pages[0], "LIST", None, None),
        (pages[1], "ROW", *of_turn),
        (pages[2], "ROW", turn.conversation_id, None),
        (pages[3], "LIST", None, None),
        (pages[4], "ROW", *of_turn),
    ]

    nobody = sign_in("eve")
    assert [nobody.get(address).status_code for address in pages] == [403] * 5
    assert not CeAccessLog.objects.filter(reader="eve").exists()
