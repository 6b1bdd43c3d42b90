"""The page of a session: where it stood and when, what it keeps, its turns, and what comes before and after it."""

import re
import uuid
from datetime import timedelta
from itertools import chain
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from config_admin.models import CeResponse
from convengine.server.admin import session_memory
from convengine.server.executors.models import CeDocumentCollection
from convengine.server.model_clients.connections import read_connections
from convengine.server.sessions.models import CeConversation, CeSessionUnit
from tests.record import entry, store_turn
from tests.sign_in import sign_in
from tests.threads import Participant, row_of, travel_desk

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("changeable_turns")]


@pytest.fixture
def reader() -> Client:
    return sign_in("quinn", "qa")


def page_of(row: Any, query: str = "") -> str:
    return reverse("admin:ce_sessions_ceconversation_change", args=[row.pk]) + query


def words(reader: Client, row: Any, query: str = "") -> str:
    """What the page says, without its marks."""
    page = reader.get(page_of(row, query))
    assert page.status_code == 200
    main = page.content.decode().partition('class="ce-workspace"')[2]
    return " ".join(re.sub(r"<[^>]+>", " ", main).replace("&nbsp;", " ").split()).replace(" ,", ",")


def states(reader: Client, row: Any, query: str = "") -> list[tuple[str, str, int]]:
    """The line of states as (name, reason, turn)."""
    line = reader.get(page_of(row, query)).context["line"]
    return [(state.name, state.reason, state.turn_no) for state in line]


def long_session(turns: int) -> CeConversation:
    """A session with so many turns, each an answer that is followed by a question."""
    row = CeConversation.objects.create(
        remote_jid=str(uuid.uuid4()),
        channel="whatsapp",
        lifecycle="AWAITING_USER",
        last_turn_no=turns,
        turn_count=turns,
    )
    at = timezone.now()
    for number in range(1, turns + 1):
        moves = (("AWAITING_USER", "RUNNING", "response"), ("RUNNING", "AWAITING_USER", "question"))
        entries = [
            entry(seq, "SESSION_LIFECYCLE", {"from": start, "to": end, "reason": reason, "turn_no": number})
            for seq, (start, end, reason) in enumerate(moves, start=1)
        ]
        entries[-1]["rows"] = [["ce_rule", str(pk), "RULE"] for pk in (7, 8)]
        store_turn(
            row, entries, at + timedelta(seconds=number), turn_no=number, user_input=f"text {number}",
            duration_ms=number, assistant_output={"type": "TEXT", "value": f"answer {number}"},
            facts={"message_intent": "RESPONSE"},
        )  # fmt: skip
    return row


def test_the_line_of_states_tells_each_move_its_reason_and_its_turn(reader: Client) -> None:
    travel_desk()
    guest = Participant()
    guest.say("a trip")
    answer = guest.say("looks good")

    row = row_of(answer)
    assert states(reader, row) == [
        ("Running", "begun", 1),
        ("Pending completion", "mode_review", 1),
        ("Complete", "confirmed", 2),
    ]
    text = words(reader, row)
    assert "Ended: the user accepted the end." in text
    assert "Accepts the proposed end" in text


def test_a_task_that_another_one_ended_and_the_one_that_followed_each_tell_their_own_moves(reader: Client) -> None:
    travel_desk()
    guest = Participant()
    before = row_of(guest.say("hours"))
    after = row_of(guest.say("a visa please"))

    assert states(reader, before) == [("Running", "begun", 1), ("Complete", "new_task", 2)]
    assert states(reader, after) == [("Running", "begun", 1), ("Awaiting the user", "question", 1)]
    assert f'href="{page_of(after)}"' in reader.get(page_of(before)).content.decode()
    assert f'href="{page_of(before)}"' in reader.get(page_of(after)).content.decode()
    assert "Waiting for an answer to “Which country?”" in words(reader, after)


def test_what_a_turn_did_that_failed_is_no_state_of_the_session(reader: Client) -> None:
    guest = Participant()
    travel_desk()
    row = row_of(guest.say("hours"))
    CeResponse.objects.filter(intent_code="TRIP").delete()

    assert not guest.say("I need a trip")["ok"]

    # It had begun another session, which it took back.
    assert states(reader, row) == [("Running", "begun", 1)]


def test_an_end_outside_of_turns_is_in_the_line(reader: Client) -> None:
    travel_desk()
    guest = Participant()
    answer = guest.say("hours")
    guest.call("post", f"/{answer['session_id']}/close", {"reason": "moved to a person"})

    assert states(reader, row_of(answer))[-1] == ("Complete", "moved to a person", 1)


def test_a_session_without_a_turn_says_what_is_not_there_yet(reader: Client) -> None:
    row = CeConversation.objects.create(remote_jid="nobody")

    text = words(reader, row)

    for part in ("No turns yet.", "No summary yet. The first completed turn creates it.", "(single session)",
                 "None. No form has stored a fact yet.", "None. The settings apply."):  # fmt: skip
        assert part in text
    assert states(reader, row) == [("Running", "begun", 1)]


def test_it_tells_summary_units_and_what_preferences_stand_for(reader: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = read_connections({"desk": {"base_url": "http://127.0.0.1:9/v1", "models": ["quick"]}})
    monkeypatch.setattr("convengine.server.admin.session_memory.models", lambda: desk)
    for name, expires_at in (("rules", None), ("prices", timezone.now() - timedelta(days=1))):
        CeDocumentCollection.objects.create(name=name, expires_at=expires_at)
    row = CeConversation.objects.create(
        remote_jid="+40",
        context_summary="GOAL: Plan a trip\nENTITIES: Japan, 2041\nDECISIONS: none\nPENDING: none\nTURNS: 3",
        preferences={"model": "desk:quick", "knowledge_base": "rules", "planner": "built-in"},
        mounted_kb_id="prices",
    )
    CeSessionUnit.objects.bulk_create(
        CeSessionUnit(
            conversation=row, kind="FACT", topic=f"t{n}", claim=f"claim {n}", source_turn=n, content_hash=str(n)
        )
        for n in range(session_memory.UNITS + 1)
    )

    text = words(reader, row)

    for part in (
        "Goal Plan a trip", "Entities Japan, 2041", "Model desk:quick quick at http://127.0.0.1:9/v1",
        "Knowledge base rules collection rules", "Planner built-in the engine",
        "Mounted prices collection prices, expired",
        "t10 claim 10 Fact turn 10", "All units of this session",
    ):  # fmt: skip
        assert part in text, part
    assert "claim 0" not in text


def test_what_is_not_installed_any_more_is_told(reader: Client) -> None:
    row = CeConversation.objects.create(
        remote_jid="+41", preferences={"model": "gone", "knowledge_base": "burnt"}, mounted_kb_id="burnt"
    )

    text = words(reader, row)

    assert "gone no longer allowed, so the model of the settings is used" in text
    assert text.count("burnt no longer exists, so turns do not use it (KB_UNAVAILABLE)") == 2


def test_turns_are_told_with_what_they_meant_what_decided_them_and_how_they_ended(reader: Client) -> None:
    row = long_session(2)
    row.turns.filter(turn_no=2).update(status="FAILED", error_code="RESPONSE_MAPPING_NOT_FOUND")

    text = words(reader, row)

    assert "rule 7, rule 8" in text
    assert "Answers the open question" in text
    assert "RESPONSE_MAPPING_NOT_FOUND" in text
    assert reverse("admin:config_admin_cerule_change", args=[7]) in reader.get(page_of(row)).content.decode()


def test_turns_are_listed_fifty_at_a_look_to_the_last(reader: Client) -> None:
    row = long_session(120)
    seen: list[list[int]] = []
    query: str | None = ""

    while query is not None:
        turns = reader.get(page_of(row, query)).context["turns"]
        seen.append([line.turn.turn_no for line in turns.lines])
        query = f"?before={turns.older}" if turns.older else None

    assert [len(numbers) for numbers in seen] == [50, 50, 20]
    assert list(chain(*seen)) == list(range(120, 0, -1))
    assert "« Newest" in words(reader, row, "?before=21")
    # The states are those of the turns that are shown.
    assert {turn for _, _, turn in states(reader, row, "?before=21")} <= set(range(1, 21))
    assert "88 earlier changes of these turns are not shown." in words(reader, row)


@pytest.mark.parametrize("cursor", ["nonsense", "-5", "²", "99999999999999999999"])
def test_a_place_that_is_none_shows_the_newest(cursor: str, reader: Client) -> None:
    assert "answer 3" in words(reader, long_session(3), f"?before={cursor}")


@pytest.mark.nightly
def test_a_session_of_thousands_of_turns_costs_what_one_of_one_turn_costs(reader: Client) -> None:
    def queries(row: CeConversation) -> int:
        reader.get(page_of(row))
        with CaptureQueriesContext(connection) as captured:
            reader.get(page_of(row))
        assert not [query for query in captured.captured_queries if "COUNT(" in query["sql"]]
        return len(captured)

    short, many = long_session(1), long_session(2000)

    assert queries(many) == queries(short) <= 16


def test_who_may_not_see_it_is_refused_and_one_that_is_not_there_is_told(reader: Client) -> None:
    row = CeConversation.objects.create(remote_jid="+42")
    stranger = sign_in("sam")

    assert stranger.get(page_of(row)).status_code == 403
    missing = reverse("admin:ce_sessions_ceconversation_change", args=[uuid.uuid4()])
    assert reader.get(missing).status_code == 302
