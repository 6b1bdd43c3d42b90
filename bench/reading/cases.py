"""The measured pages, each with its limit in milliseconds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db import connection
from django.urls import reverse

from bench.reading.generate import (
    BUSIEST,
    LONGEST,
    RARE,
    RARE_ERROR,
    RARE_ROW,
    RARE_STAGE,
    RARE_WORD,
    RAREST_NAME,
    Record,
)

SEARCH, TIMELINE, DETAILS = 300, 300, 200


@dataclass(frozen=True)
class Case:
    """One page."""

    what: str
    address: str
    limit: int
    #: A search whose page may be empty.
    empty: bool = False


def cases(record: Record) -> list[Case]:
    """Every page with a limit."""
    return [*_searches(record), *_pages(record.long // 2)]


def _searches(record: Record) -> Iterator[Case]:
    common = _common()
    yield _find("newest turns", {})
    yield _find("newest conversations", {"show": "conversations"})
    yield _find(f"participant with {record.many:,} conversations", {"participant": BUSIEST})
    yield _find("the same, their conversations", {"participant": BUSIEST, "show": "conversations"})
    yield _find("participant of one conversation", {"participant": RAREST_NAME})
    yield _find("participant that is not there", {"participant": "+1"}, empty=True)
    yield _find("commonest intent", {"intent": common["intent"]})
    yield _find("rarest intent", {"intent": RARE})
    yield _find("commonest error", {"error": common["error"]})
    yield _find("rarest error", {"error": RARE_ERROR})
    yield _find("rule that fires in every turn", {"table": "ce_rule", "row": common["rule"]})
    yield _find("rule that fired once", {"table": "ce_rule", "row": RARE_ROW})
    yield _find("the commonest word", {"q": "number"})
    yield _find("the rarest word", {"q": RARE_WORD})
    yield _find("a word that is nowhere", {"q": "nowhere"}, empty=True)
    yield _find("words in their order", {"q": '"my number is 77777"'}, empty=True)
    yield _find("the beginning of many words", {"q": "num*"})
    yield _find("stage of every turn", {"stage": "USER_INPUT"})
    yield _find("stage of one turn", {"stage": RARE_STAGE})
    yield _find("state", {"state": common["state"]})
    yield _find("release in the middle", {"release": common["release"]})
    yield _find("failed turns", {"status": "FAILED"})
    yield _find(
        "intent, rule, stage and release together",
        {
            "intent": common["intent"],
            "table": "ce_rule",
            "row": common["rule"],
            "stage": "RULE_APPLIED",
            "release": common["release"],
        },
    )
    yield _find(
        "common intent and common word, never together", {"intent": "DELIVERY", "q": "warranty washing"}, empty=True
    )
    yield _find(
        "common intent and common error, never together", {"intent": "TOPIC_3", "error": common["error"]}, empty=True
    )
    yield _find("nothing but a duration that no turn has", {"ms": "3000000"}, empty=True)
    yield _find("nothing but a cost that no turn has", {"cost": "9"}, empty=True)
    yield _find("an hour half a year ago", {"since": common["at"], "until": common["until"]})
    yield _find("conversations of the commonest intent", {"intent": common["intent"], "show": "conversations"})
    for what, filters, cursor in _deep():
        yield _find(f"{what}, from the middle on", {**filters, "at": cursor})


def _pages(middle: int) -> Iterator[Case]:
    ordinary, busy = _find_conversation("plain"), _find_conversation("busy")
    names = {
        str(LONGEST): "the longest conversation",
        ordinary: "an ordinary conversation",
        busy: "one of the busiest participant",
    }
    for conversation, name in names.items():
        yield Case(
            f"session page of {name}", reverse("admin:ce_sessions_ceconversation_change", args=[conversation]), TIMELINE
        )
        yield Case(f"timeline of {name}", reverse("admin:audit_ceaudit_timeline", args=[conversation]), TIMELINE)
    url = f"{reverse('admin:audit_ceaudit_timeline', args=[LONGEST])}?turn={middle}"
    yield Case("timeline of the longest conversation, from its middle", url, TIMELINE)
    for what, key, turn in (
        ("in the longest conversation", LONGEST, middle),
        ("of an ordinary conversation", ordinary, 3),
    ):
        yield Case(f"a turn {what}", reverse("admin:audit_ceaudit_turn", args=[key, turn]), DETAILS)


def _find(what: str, filters: Mapping[str, str], *, empty: bool = False) -> Case:
    address = reverse("admin:audit_ceaudit_find")
    return Case(what, f"{address}?{urlencode(filters)}" if filters else address, SEARCH, empty)


def _common() -> dict[str, str]:
    """The most common values, and some of the middle."""
    with connection.cursor() as cursor:
        return {
            "intent": _first(
                cursor, "SELECT intent_code FROM ce_conversation_history GROUP BY 1 ORDER BY count(*) DESC"
            ),
            "state": _first(cursor, "SELECT state_code FROM ce_conversation_history GROUP BY 1 ORDER BY count(*) DESC"),
            "error": _first(
                cursor,
                "SELECT error_code FROM ce_conversation_history WHERE error_code IS NOT NULL "
                "GROUP BY 1 ORDER BY count(*) DESC",
            ),
            "rule": _first(
                cursor,
                "SELECT value FROM ce_turn_index WHERE kind = 'ce_rule' GROUP BY 1 ORDER BY count(*) DESC",
            ),
            "release": _first(cursor, "SELECT version FROM plan ORDER BY abs(i - (SELECT max(i) / 2 FROM plan))"),
            "at": _first(cursor, "SELECT to_char(now() - interval '180 days', 'YYYY-MM-DD\"T\"HH24:MI:SS')"),
            "until": _first(
                cursor, "SELECT to_char(now() - interval '180 days' + interval '1 hour', 'YYYY-MM-DD\"T\"HH24:MI:SS')"
            ),
        }


def _deep() -> Iterator[tuple[str, dict[str, str], str]]:
    with connection.cursor() as cursor:
        turn = _first(cursor, "SELECT max(history_id) / 2 FROM ce_conversation_history")
        row = _first(cursor, "SELECT id FROM ce_turn_index WHERE value = '" + _common()["rule"] + "' AND kind = "
                     "'ce_rule' AND id > (SELECT max(id) / 2 FROM ce_turn_index) ORDER BY id")  # fmt: skip
        busy = _first(cursor, "SELECT h.history_id FROM plan JOIN ce_conversation_history h USING (turn_id) "
                      "WHERE kind = 'busy' AND i > (SELECT max(i) / 2 FROM plan) ORDER BY i")  # fmt: skip
    common = _common()
    yield "newest turns", {}, f"oh{turn}"
    yield "commonest intent", {"intent": common["intent"]}, f"oi{turn}"
    yield "commonest word", {"q": "number"}, f"ow{turn}"
    yield "commonest rule", {"table": "ce_rule", "row": common["rule"]}, f"or{row}"
    yield "commonest stage", {"stage": "USER_INPUT"}, f"oh{turn}"
    yield "busiest participant", {"participant": BUSIEST}, f"op{busy}"
    yield "busiest participant, back to newer ones", {"participant": BUSIEST}, f"np{busy}"


def _find_conversation(kind: str) -> str:
    """A conversation from the middle of the record."""
    with connection.cursor() as cursor:
        return _first(
            cursor,
            f"SELECT conversation_id FROM plan WHERE kind = '{kind}' AND i > (SELECT max(i) / 2 FROM plan) ORDER BY i",
        )


def _first(cursor: Any, sql: str) -> str:
    cursor.execute(f"{sql} LIMIT 1" if "ORDER BY" in sql else sql)
    return str(cursor.fetchone()[0])
