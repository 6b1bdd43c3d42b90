"""Every edit, by any person and any way, counts from the next turn on in every process."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event

import pytest
from django.db import connection

from audit.models import CeAudit
from config_admin.models import CeResponse
from config_admin.releases.change_set import change_set
from config_admin.releases.diff import differences
from config_admin.releases.models import CeRelease
from config_admin.releases.queries import row_at
from tests.api import make_key
from tests.database import in_another_process
from tests.live import ledger
from tests.live.client import Reply, Talk
from tests.live.processes import Server
from tests.worlds import create_help_desk

Servers = Callable[..., list[Server]]


@pytest.fixture
def two(servers: Servers) -> list[Server]:
    create_help_desk()
    return servers(2)


def hours() -> CeResponse:
    """The row that answers "hours"."""
    return CeResponse.objects.get(intent_code="HOURS", state_code="IDLE")


def read_answer(reply: Reply | None) -> tuple[str, int]:
    """What was said, and on which release."""
    assert reply
    return reply.said, reply.body["configVersion"]


#: The test of constant editing below makes thirty edits. The next answer has each of them.
@pytest.mark.nightly
def test_an_edit_is_the_very_next_answer_of_both_processes(two: list[Server]) -> None:
    talks = [Talk(make_key()) for _ in two]
    before = [read_answer(talk.say(server.port, "hours")) for talk, server in zip(talks, two, strict=True)]

    row = hours()
    row.exact_text = "Ten to six."
    row.save()
    after = [read_answer(talk.say(server.port, "hours")) for talk, server in zip(talks, two, strict=True)]

    (_, version), _ = before
    assert before == [("Nine to five.", version)] * 2
    assert after == [("Ten to six.", version + 1)] * 2
    versions = CeAudit.objects.filter(turn_no=2).values_list("config_version", flat=True)
    assert set(versions) == {version + 1}
    assert ledger.check(talks) == {"OK": 4}


#: A conversation that goes to either process is in `test_racing_sessions` too, with 200 messages.
@pytest.mark.nightly
def test_one_conversation_may_go_to_either_process(two: list[Server]) -> None:
    talk = Talk(make_key())

    replies = [talk.say(two[n % 2].port, "hours", params={f"p{n}": n}) for n in range(6)]

    assert [reply.body["turnNo"] for reply in replies if reply] == [1, 2, 3, 4, 5, 6]
    assert ledger.check([talk]) == {"OK": 6}


@pytest.mark.long
def test_raw_sql_of_a_third_process_is_the_next_answer_of_both_and_one_release(two: list[Server]) -> None:
    talks = [Talk(make_key()) for _ in two]
    row, (_, version) = hours(), read_answer(talks[0].say(two[0].port, "hours"))

    in_another_process(
        "from django.db import connection\n"
        "with connection.cursor() as cursor:\n"
        f"    cursor.execute(\"UPDATE ce_response SET exact_text = 'By hand.' WHERE response_id = {row.pk}\")"
    )
    with ThreadPoolExecutor(2) as pool:
        after = list(
            pool.map(lambda pair: read_answer(pair[0].say(pair[1].port, "hours")), zip(talks, two, strict=True))
        )

    assert after == [("By hand.", version + 1)] * 2
    release = CeRelease.objects.get(pk=version + 1)
    assert (release.origin, release.parent_id) == ("OUT_OF_BAND", version)
    by_table = differences(version, version + 1)
    assert list(by_table) == ["ce_response"]
    (changed,) = by_table["ce_response"]
    assert (changed.pk, changed.fields) == (row.pk, {"exact_text": ("Nine to five.", "By hand.")})
    assert CeRelease.objects.count() == version + 1
    of_the_second = CeAudit.objects.filter(conversation_id=talks[1].conversation_id)
    assert set(of_the_second.values_list("config_version", flat=True)) == {version + 1}


#: Every turn of the test below is run again as well, by its process.
@pytest.mark.nightly
def test_replay_of_turns_before_and_after_an_edit_says_equal(two: list[Server]) -> None:
    talk = Talk(make_key())
    talk.say(two[0].port, "hours")
    CeResponse.objects.filter(pk=hours().pk).update(exact_text="Ten to six.")
    talk.say(two[1].port, "hours")

    said = in_another_process(
        "from django.core.management import call_command\n"
        f"for turn in (1, 2): call_command('replay', '{talk.conversation_id}', turn)"
    )

    assert said.split() == ["equal", "equal"]


@pytest.mark.long
def test_under_constant_editing_every_turn_answers_what_its_release_says_and_none_is_behind(two: list[Server]) -> None:
    """Edits by form and by raw SQL while four clients talk: an edit that was committed before a message is in it."""
    row, secret, over = hours(), make_key(), Event()
    CeResponse.objects.filter(pk=row.pk).update(exact_text="text 0")
    begun = committed = 0
    seen: list[tuple[int, int, int, Reply]] = []

    def speak(client: int) -> Talk:
        talk = Talk(secret)
        for n in count():
            if over.is_set():
                return talk
            least = committed
            reply = talk.say(two[(client + n) % 2].port, "hours")
            assert reply
            assert reply.status == 200
            seen.append((least, int(reply.said.removeprefix("text ")), begun, reply))
        raise AssertionError

    with ThreadPoolExecutor(4) as pool:
        talking = [pool.submit(speak, client) for client in range(4)]
        try:
            for number in range(1, 31):
                begun = number
                edit(row.pk, f"text {number}", past_the_application=number % 3 == 0)
                committed = number
                time.sleep(0.05)
        finally:
            over.set()
    talks = [future.result() for future in talking]

    assert len(seen) > 60
    assert [(least, said, most) for least, said, most, _ in seen if not least <= said <= most] == []
    for _, said, _, reply in seen:
        stored = row_at(reply.body["configVersion"], "ce_response", row.pk)
        assert stored
        assert stored["exact_text"] == f"text {said}"
    versions = list(CeRelease.objects.order_by("pk").values_list("pk", flat=True))
    assert versions == list(range(1, len(versions) + 1))
    assert CeRelease.objects.filter(origin="OUT_OF_BAND").exists()
    assert ledger.check(talks) == {"OK": len(seen)}


def edit(pk: int, text: str, *, past_the_application: bool) -> None:
    """Change the response as the admin does, or as somebody at the database does."""
    if past_the_application:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE ce_response SET exact_text = %s WHERE response_id = %s", [text, pk])
        return
    with change_set(reason="a better text"):
        row = CeResponse.objects.get(pk=pk)
        row.exact_text = text
        row.save()
