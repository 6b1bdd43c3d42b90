"""Count days again, in several processes if wanted. Each imports this module before Django is set up there."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any

from convengine.server.database.own_process import set_up_process


def count_days(days: Sequence[Any], processes: int) -> Iterator[Any]:
    """Count each day again; gives those that are done."""
    if processes == 1:
        yield from map(_count_day, days)
        return
    from django.db import connection

    name = str(connection.settings_dict["NAME"])
    with ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=set_up_process, initargs=(name,)
    ) as pool:
        for counted in as_completed([pool.submit(_count_day, day) for day in days]):
            yield counted.result()


def _count_day(day: Any) -> Any:
    from audit.reports.recount import count_day

    return count_day(day)
