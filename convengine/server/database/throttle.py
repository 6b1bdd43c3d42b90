"""Counters of calls and attempts, shared by all processes: a row each, which one statement changes.

What counts calls or sign-ins imports it, such as the throttle of API keys (`api/authentication.py`). A key is hashed
with the secret of the installation, so that the table names no address and no user.
"""

import time
from dataclasses import dataclass

from django.db import connection
from django.utils.crypto import salted_hmac

#: An attempt is forgotten this many seconds after its delay.
_FORGOTTEN = 3600
#: Rows that one statement removes.
_ROWS = 1000


@dataclass(frozen=True)
class Delay:
    """How attempts slow down: the number of free ones, then 1, 2, 4, … seconds between them, up to the longest."""

    free: int
    longest: int


def count_call(name: str, seconds: int, now: float | None = None) -> tuple[int, float]:
    """Count a call in the present window; returns the calls so far, and the seconds until the next window."""
    at = time.time() if now is None else now
    window = int(at // seconds)
    ends = (window + 1) * seconds
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ce_throttle (key, count, next_at, expires_at) VALUES (%s, 1, 0, %s) "
            "ON CONFLICT (key) DO UPDATE SET count = ce_throttle.count + 1 RETURNING count",
            [_hash(f"{name}:{window}"), ends],
        )
        return int(cursor.fetchone()[0]), ends - at


def count_attempt(name: str, delay: Delay, now: float | None = None) -> float:
    """Count an attempt and set the delay before the next; 0.0, or the seconds until an attempt is possible again.

    Of attempts at the same moment, one counts at a time: the others find its delay. A refused attempt changes nothing.
    """
    at = time.time() if now is None else now
    count = f"CASE WHEN ce_throttle.expires_at <= {at!r} THEN 1 ELSE ce_throttle.count + 1 END"
    over = f"({count}) - {delay.free}"
    wait = (
        f"(CASE WHEN {over} < 0 THEN 0 WHEN {over} > 20 OR (1 << ({over})) > {delay.longest} THEN {delay.longest} "
        f"ELSE (1 << ({over})) END)"
    )
    first = 0 if delay.free > 1 else 1
    # No delay is longer than the longest, unless the clock was ahead when it was set.
    ahead = at + delay.longest
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ce_throttle (key, count, next_at, expires_at) VALUES (%s, 1, %s, %s) "
            f"ON CONFLICT (key) DO UPDATE SET count = {count}, next_at = {at!r} + {wait}, "
            f"expires_at = {at + _FORGOTTEN!r} + {wait} WHERE ce_throttle.next_at <= {at!r} "
            f"OR ce_throttle.next_at > {ahead!r} RETURNING count",
            [_hash(name), at + first, at + first + _FORGOTTEN],
        )
        if cursor.fetchone():
            return 0.0
        cursor.execute("SELECT next_at FROM ce_throttle WHERE key = %s", [_hash(name)])
        row = cursor.fetchone()
    return max(float(row[0]) - at, 0.001) if row else 0.0


def take_back_attempt(name: str, now: float | None = None) -> None:
    """An attempt succeeded: it does not count, and no delay follows it."""
    at = time.time() if now is None else now
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE ce_throttle SET count = count - 1, next_at = %s WHERE key = %s AND count > 0", [at, _hash(name)]
        )


def forget(name: str) -> None:
    """Remove a counter."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM ce_throttle WHERE key = %s", [_hash(name)])


def remember(name: str, seconds: int, now: float | None = None) -> None:
    at = time.time() if now is None else now
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ce_throttle (key, count, next_at, expires_at) VALUES (%s, 0, 0, %s) "
            "ON CONFLICT (key) DO UPDATE SET expires_at = EXCLUDED.expires_at",
            [_hash(name), at + seconds],
        )


def use_once(name: str, seconds: int, now: float | None = None) -> bool:
    """Whether nobody has used a name in the last seconds; of uses at the same moment, one is the first."""
    at = time.time() if now is None else now
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ce_throttle (key, count, next_at, expires_at) VALUES (%s, 0, 0, %s) ON CONFLICT (key) "
            "DO UPDATE SET expires_at = EXCLUDED.expires_at WHERE ce_throttle.expires_at <= %s RETURNING 1",
            [_hash(name), at + seconds, at],
        )
        return cursor.fetchone() is not None


def is_remembered(name: str, now: float | None = None) -> bool:
    """Whether a name was noted, and its time is not over."""
    at = time.time() if now is None else now
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM ce_throttle WHERE key = %s AND expires_at > %s", [_hash(name), at])
        return cursor.fetchone() is not None


def remove_expired(now: float | None = None) -> int:
    """Remove expired counters, at most a batch; returns their number."""
    at = time.time() if now is None else now
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM ce_throttle WHERE key IN (SELECT key FROM ce_throttle WHERE expires_at <= %s LIMIT %s)",
            [at, _ROWS],
        )
        return int(cursor.rowcount)


def _hash(name: str) -> str:
    return salted_hmac("convengine.throttle", name, algorithm="sha256").hexdigest()
