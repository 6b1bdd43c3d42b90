import uuid
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import RequestFactory

from convengine.server.database import replica
from convengine.server.database.replica import RecordRouter, reads_record
from convengine.server.sessions.models import CeConversation

AT = datetime(2026, 1, 31, 12, 0, 3, tzinfo=UTC)
router = RecordRouter()


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """A replica that has everything until AT."""
    monkeypatch.setattr(replica, "find_replica_time", lambda: AT)
    monkeypatch.setattr(replica, "connections", {"replica": SimpleNamespace(close=lambda: None)})


def describe(request: HttpRequest) -> str:
    """Where a page reads the record and users, and as of when it is."""
    as_of = getattr(request, "record_as_of", None)
    time = as_of and f"{as_of:%H:%M:%S}"
    return f"{router.db_for_read(CeConversation)} {router.db_for_read(User)} {time}"


@reads_record
def page(request: HttpRequest) -> HttpResponse:
    return HttpResponse(describe(request))


def test_a_page_reads_the_record_and_nothing_else_from_the_replica(fresh: None, rf: RequestFactory) -> None:
    assert page(rf.get("/")).content == b"replica None 12:00:03"
    assert router.db_for_read(CeConversation) is None


def test_what_is_sent_reads_the_primary(fresh: None, rf: RequestFactory) -> None:
    assert page(rf.post("/")).content == b"None None None"


def test_without_a_replica_pages_read_the_primary(rf: RequestFactory) -> None:
    assert replica.find_replica_time() is None
    assert page(rf.get("/")).content == b"None None None"


def test_a_file_is_read_from_the_replica_to_its_end(fresh: None, rf: RequestFactory) -> None:
    @reads_record
    def export(request: HttpRequest) -> StreamingHttpResponse:
        return StreamingHttpResponse(describe(request) + "\n" for _ in range(2))

    assert b"".join(export(rf.get("/"))) == b"replica None 12:00:03\n" * 2  # type: ignore[arg-type]


def test_a_replica_that_goes_away_is_not_read(fresh: None, rf: RequestFactory) -> None:
    @reads_record
    def failing(request: HttpRequest) -> HttpResponse:
        if router.db_for_read(CeConversation):
            raise OperationalError("terminating connection")
        return HttpResponse(describe(request))

    assert failing(rf.get("/")).content == b"None None None"


def test_rows_of_the_replica_are_written_to_the_primary() -> None:
    row = CeConversation(conversation_id=uuid.uuid4())
    hints: dict[str, Any] = {"instance": row}

    assert router.db_for_write(CeConversation, **hints) is None
    row._state.db = "replica"
    assert router.db_for_write(CeConversation, **hints) == "default"
    assert router.allow_relation(row, CeConversation()) is True
    assert router.allow_migrate("replica", "audit") is False
