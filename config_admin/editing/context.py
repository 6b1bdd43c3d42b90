"""The configuration in force and the installation, for editors during one request."""

from typing import Any, NamedTuple

from django.http import HttpRequest

from config_admin.releases.active import snapshots
from config_admin.validation.installation import describe_installation
from config_admin.validation.world import World
from convengine.engine.turn.snapshot import Snapshot


class EditorContext(NamedTuple):
    """The configuration and installation for checks and pickers."""

    snapshot: Snapshot
    world: World


def get_editor_context(request: HttpRequest) -> EditorContext:
    """The editor context of a request, made once with one query."""
    held: Any = request
    if not hasattr(held, "_editor_context"):
        held._editor_context = EditorContext(snapshots.current(), describe_installation())
    context: EditorContext = held._editor_context
    return context
