"""The functions of `bench.inside`. Arguments and answers are JSON values."""

import json
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from statistics import median
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.core.management import call_command
from django.db import connection
from django.test import Client, override_settings

from audit.models import CeTurnIndex
from audit.search.query import SearchQuery
from audit.what_if.engine import ConfigurationPair
from audit.what_if.selection import select_turns
from bench import people, worlds
from bench.statements import count_statements
from config_admin.drafts.open_draft import open_draft
from config_admin.drafts.publish_draft import publish_draft
from config_admin.models import CeDraft, CeResponse, CeRule
from config_admin.releases.audience import AudienceSpec
from config_admin.releases.change_set import change_set
from convengine.engine.pipeline.engine import Engine, EngineOutcome
from convengine.engine.rules.patterns import compile_pattern
from convengine.engine.turn.turn import Turn
from convengine.server import wiring
from convengine.server.api.models import CeApiKey
from convengine.server.interfaces.configuration import ConfigurationName, configuration, named_configurations

PATH = "/api/v1/conversation/message"
AUDIT = "/api/v1/conversation/audit"


def prepare() -> str:
    """Migrate, and make an API key; returns its secret."""
    call_command("migrate", verbosity=0, interactive=False)
    _, secret = CeApiKey.objects.create_key(name="bench")
    return str(secret)


def load(rules: int, patterns: int) -> list[str]:
    """Put a world into the database; returns its messages."""
    return worlds.load(rules, patterns)


def load_people(rules: int) -> list[str]:
    """Put the world of `bench/people.py` into the database; returns its messages."""
    return people.load(rules)


def open_drafts(count: int) -> None:
    """Open drafts of one edit each, and one more that half of the conversations get."""
    for number in range(count + 1):
        draft = CeDraft.objects.create(title=f"Draft {number}")
        with open_draft(draft.pk, None, writing=True), change_set(author="bench"):
            response = CeResponse.objects.filter(intent_code="DELIVERY").get()
            response.exact_text = f"In {number + 2} days."
            response.save()
    publish_draft(draft.pk, "bench", audience=AudienceSpec(share=50))


def talk(secret: str, count: int, turns: int) -> list[str]:
    """Open conversations and take some turns in each; returns their ids."""
    client = Client(SERVER_NAME="127.0.0.1")
    ids = []
    for _ in range(count):
        conversation_id = str(uuid.uuid4())
        for turn in range(turns):
            say(client, secret, conversation_id, turn)
        ids.append(conversation_id)
    return ids


def lengthen(conversation_id: str, turns: int) -> None:
    """Make a conversation look long, by repeating its last record."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'ce_conversation_history' "
            "AND column_name NOT IN ('history_id', 'turn_no', 'turn_id') ORDER BY 1"
        )
        columns = ", ".join(name for (name,) in cursor.fetchall())
        cursor.execute(
            f"""INSERT INTO ce_conversation_history (turn_no, turn_id, {columns})
                SELECT number, gen_random_uuid(), {columns} FROM ce_conversation_history,
                       generate_series(turn_no + 1, %s) AS number
                 WHERE conversation_id = %s
                   AND turn_no = (SELECT last_turn_no FROM ce_conversation WHERE conversation_id = %s)""",
            [turns, conversation_id, conversation_id],
        )
        cursor.execute(
            "UPDATE ce_conversation SET last_turn_no = %s, turn_count = %s, version = %s WHERE conversation_id = %s",
            [turns, turns, turns, conversation_id],
        )
        cursor.execute("ANALYZE ce_conversation_history")


def read_conversation(secret: str, conversation_id: str, turns: int) -> dict[str, float]:
    """Milliseconds of processor time to read a turn's events in a whole conversation, and to take a turn."""
    client, headers = Client(SERVER_NAME="127.0.0.1"), {"Authorization": f"Api-Key {secret}"}
    cursor: str | None = ""
    start = time.process_time()
    while cursor is not None:
        page = client.get(f"{AUDIT}/{conversation_id}", {"cursor": cursor}, headers=headers)
        cursor = page.json()["next"]
    middle = time.process_time()
    for number in range(turns):
        say(client, secret, conversation_id, number)
    return {"read": (middle - start) * 1000 / turns, "take": (time.process_time() - middle) * 1000 / turns}


def fill_audit(conversation_id: str, rows: int) -> int:
    """Add events: a quarter to the conversation, the others to 10,000 artificial ones; returns its last turn."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT last_seq FROM ce_conversation_history WHERE conversation_id = %s AND turn_no = 4", [conversation_id]
        )
        turns = rows // int(cursor.fetchone()[0])
        cursor.execute(
            """SELECT column_name FROM information_schema.columns WHERE table_name = 'ce_conversation_history'
                AND column_name NOT IN ('history_id', 'conversation_id', 'turn_no', 'turn_id', 'created_at')
              ORDER BY 1"""
        )
        columns = ", ".join(name for (name,) in cursor.fetchall())
        cursor.execute(
            """INSERT INTO ce_conversation (conversation_id, remote_jid, status, intent_code, state_code, context_json,
                   input_params_json, created_at, updated_at, version, last_turn_no, turn_count, context_epoch,
                   workspace_id, channel, lifecycle, lifecycle_detail, context_summary, preferences)
               SELECT md5(number::text)::uuid, md5(number::text), status, intent_code, state_code, context_json,
                      input_params_json, created_at, updated_at, version, last_turn_no, turn_count, context_epoch,
                      workspace_id, channel, 'COMPLETE', lifecycle_detail, context_summary, preferences
                 FROM ce_conversation, generate_series(0, 9999) AS number WHERE conversation_id = %s""",
            [conversation_id],
        )
        cursor.execute(
            f"""INSERT INTO ce_conversation_history (conversation_id, turn_no, turn_id, created_at, {columns})
               SELECT CASE WHEN number <= %s THEN conversation_id ELSE md5((number %% 10000)::text)::uuid END,
                      number, md5('turn' || number)::uuid, created_at + number * interval '1 second', {columns}
                 FROM generate_series(5, %s) AS number, ce_conversation_history
                WHERE conversation_id = %s AND turn_no = 4 ORDER BY number""",
            [turns // 4, turns, conversation_id],
        )
        cursor.execute("ANALYZE ce_conversation_history")
    return turns // 4


#: Patterns on which a backtracking engine never ends, each with a text for it.
_WORST = {
    r"(a+)+$": "a" * 3_999 + "!",
    r"(a|aa)+b": "a" * 4_000,
    r"(.*)*x": "y" * 4_000,
    r"(\w+\s?)*!": "word " * 800,
    r"^(([a-z])+.)+[A-Z]([a-z])+$": "a" * 4_000,
    r"(x{1,30}){1,30}y": "x" * 4_000,
}


def worst_pattern(rounds: int) -> float:
    """The maximum time of these patterns on 4,000 characters, in milliseconds, compiled before."""
    took = []
    for text, subject in _WORST.items():
        pattern = compile_pattern(text)
        times = []
        for _ in range(rounds):
            start = time.perf_counter()
            pattern.occurs_in(subject)
            pattern.fits(subject)
            times.append(time.perf_counter() - start)
        took.append(median(times) * 1000)
    return max(took)


def what_if(secret: str, turns: int) -> dict[str, float]:
    """Seconds of a what-if over so many recorded turns, with one phrase removed, and the number that differs."""
    keys: list[Any] = []
    while len(keys) < turns:
        talk(secret, 20, len(worlds.MESSAGES))
        keys = select_turns(SearchQuery(), turns)[:turns]
    live = ConfigurationName("live")
    table = "ce_intent_classifier"
    phrase = int(CeTurnIndex.objects.filter(kind=table).order_by("-id").values_list("value", flat=True)[0])
    old, new = (named_configurations().read(live, unsaved) for unsaved in (None, {table: {phrase: None}}))
    start = time.perf_counter()
    differing = sum(result.differs for result in ConfigurationPair(new, old).compare_turns(keys))
    return {"seconds": time.perf_counter() - start, "differing": differing}


def edit(scoped: bool) -> None:
    """Change one rule: of its own scope, or of the bucket of texts that every turn tests."""
    rules = CeRule.objects.filter(rule_type="REGEX").order_by("rule_id")
    rule = rules.exclude(intent_code="ANY").first() if scoped else rules.filter(intent_code="ANY").last()
    assert rule
    with change_set(author="bench", reason="an edit"):
        rule.match_pattern = f"edited {time.time_ns()}"
        rule.save()


def statements(secret: str) -> list[str]:
    """The statements of an ordinary turn's whole request."""
    client, conversation_id = Client(SERVER_NAME="127.0.0.1"), str(uuid.uuid4())
    for turn in range(3):
        say(client, secret, conversation_id, turn)
    with count_statements() as work:
        say(client, secret, conversation_id, 3)
    return work.statements


def live(rounds: int) -> dict[str, float]:
    """The cost of looking for a new release: milliseconds with the head in a statement, and without."""
    snapshots: Any = configuration()
    snapshots.current()
    with_head, without = [], []
    with connection.cursor() as cursor:
        for _ in range(rounds):
            start = time.perf_counter()
            cursor.execute("SELECT 1")
            cursor.fetchone()
            middle = time.perf_counter()
            cursor.execute(f"SELECT {snapshots.head_sql}")
            snapshots.pin(cursor.fetchone()[0])
            with_head.append(time.perf_counter() - middle)
            without.append(middle - start)
    return {"with": median(with_head) * 1000, "without": median(without) * 1000}


def pipeline(secret: str, rounds: int) -> dict[str, float]:
    """Milliseconds of the pipeline alone, on a real turn, and of a DRF request that does nothing."""
    turns: list[Turn] = []
    engine = wiring.engine()

    class Watched(Engine):
        def run(self, turn: Turn) -> EngineOutcome:
            turns.append(turn)
            return super().run(turn)

    engine.__class__ = Watched
    client, conversation_id = Client(SERVER_NAME="127.0.0.1"), str(uuid.uuid4())
    for number in range(4):
        say(client, secret, conversation_id, number)
    engine.__class__ = Engine
    ours, theirs = [], []
    with _empty_request() as empty:
        for _ in range(rounds):
            turn = _repeat_turn(turns[-1])
            start = time.perf_counter()
            engine.run(turn)
            middle = time.perf_counter()
            empty()
            theirs.append(time.perf_counter() - middle)
            ours.append(middle - start)
    return {"pipeline": median(ours) * 1000, "empty": median(theirs) * 1000}


def _repeat_turn(turn: Turn) -> Turn:
    """The same turn before it ran: its port keeps what it loaded."""
    trail = type(turn.trail)(turn.ports.clock.elapsed_ms)
    return Turn(turn.turn_id, turn.turn_no, turn.request, turn.snapshot, turn.ports, trail)


@contextmanager
def _empty_request() -> Iterator[Callable[[], None]]:
    """A function that sends a JSON body to a DRF view that does nothing, without middleware."""
    body = json.dumps({"conversationId": str(uuid.uuid4()), "message": worlds.MESSAGES[0]}).encode()
    about = {
        "REQUEST_METHOD": "POST", "PATH_INFO": "/empty", "SERVER_NAME": "127.0.0.1", "SERVER_PORT": "80",
        "CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(body)), "wsgi.url_scheme": "http",
    }  # fmt: skip
    with override_settings(MIDDLEWARE=[], ROOT_URLCONF="bench.rivals.empty"):
        handler = WSGIHandler()

        def call() -> None:
            answer = handler(
                {**about, "wsgi.input": BytesIO(body)}, lambda status, headers, exc_info=None: bytes.__len__
            )
            b"".join(answer)
            answer.close()

        yield call


def say(client: Client, secret: str, conversation_id: str, turn: int) -> None:
    """Take one turn. Raises RuntimeError with the answer when it fails."""
    body = {"conversationId": conversation_id, "message": worlds.MESSAGES[turn % len(worlds.MESSAGES)]}
    headers = {"Authorization": f"Api-Key {secret}"}
    answer = client.post(PATH, body, content_type="application/json", headers=headers)
    if answer.status_code != 200:
        raise RuntimeError(answer.content.decode())
