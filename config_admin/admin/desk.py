"""What an editor has on the desk during one request: the configuration in force, and what is installed."""

from typing import Any, NamedTuple

from django.http import HttpRequest

from config_admin.snapshot.active import snapshots
from config_admin.validation.installation import installed
from config_admin.validation.world import World
from convengine.domain.snapshot import Snapshot


class Desk(NamedTuple):
    """What rows are judged against and picked from."""

    snapshot: Snapshot
    world: World


def desk_of(request: HttpRequest) -> Desk:
    """The desk of a request, laid once: one query however often it is asked for."""
    held: Any = request
    if not hasattr(held, "_desk"):
        held._desk = Desk(snapshots.current(), installed())
    found: Desk = held._desk
    return found
