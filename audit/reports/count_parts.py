"""Count the parts of a recount, each in a process of its own."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from convengine.server.database.own_process import set_up_process


def count_parts(processes: int) -> Iterator[int]:
    """Count all parts; gives the number of records of each. If a process ends early, the job counts the rest."""
    from django.db import connection

    from audit.reports.counting import list_parts

    parts = [part.pk for part in list_parts()]
    name = str(connection.settings_dict["NAME"])
    with ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=set_up_process, initargs=(name,)
    ) as pool:
        for counted in as_completed([pool.submit(_count_whole_part, number) for number in parts]):
            yield counted.result()


def _count_whole_part(number: int) -> int:
    from audit.reports.counting import count_part

    total = 0
    while counted := count_part(number):
        total += counted
    return total
