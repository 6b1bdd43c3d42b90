"""All conversations verified, by as many processes as there are processors."""

import os
import uuid
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TYPE_CHECKING

import django

if TYPE_CHECKING:
    # A new process imports this before Django is set up there.
    from audit.chain.verify import Report

#: Parts that the conversations are taken apart into, by their ids, which are spread evenly.
_PARTS = 32


def verified(workers: int | None = None, say: "Callable[[Report], None]" = lambda report: None) -> "Report":
    """Look at everything. `say` is told how far it is."""
    from django.db import connection

    from audit.chain.verify import Report, between

    count = workers or os.cpu_count() or 1
    report = Report()
    # Another process sees nothing of a transaction that is open here.
    if count == 1 or connection.in_atomic_block:
        for part in between():
            report.merge(part)
            say(report)
        return report
    name = str(connection.settings_dict["NAME"])
    with ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_begin, initargs=(name,)) as pool:
        for done in as_completed([pool.submit(_part, place) for place in range(_PARTS)]):
            report.merge(done.result())
            say(report)
    return report


def _begin(name: str) -> None:
    """A process of its own, on the same database."""
    from django.conf import settings

    settings.DATABASES["default"]["NAME"] = name
    django.setup()


def _part(place: int) -> "Report":
    from audit.chain.verify import LAST, Report, between

    width = 2**128 // _PARTS
    first = uuid.UUID(int=place * width - 1) if place else None
    last = LAST if place == _PARTS - 1 else uuid.UUID(int=(place + 1) * width - 1)
    report = Report()
    for part in between(first, last):
        report.merge(part)
    return report
