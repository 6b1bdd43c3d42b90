"""Help for the search: suggestions, and why nothing may have been found."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from audit.search.query import SearchQuery
from convengine.engine.errors import ConvEngineError
from convengine.engine.turn import live_settings
from convengine.engine.turn.audit_settings import RETENTION_DAYS
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.app_interfaces import configuration
from convengine.server.sessions.models import CeConversation, CeThread


def suggest_values() -> Mapping[str, Sequence[str]]:
    """Names of the present configuration, by filter. Older turns may have others."""
    snapshot: Snapshot = configuration().latest
    return {"intent": _known_intents(snapshot), "state": _known_states(snapshot), "error": list_error_codes()}


def list_hints(search: SearchQuery) -> list[str]:
    """Why a search may have found nothing."""
    return list(_iterate_hints(search, configuration().latest))


def _iterate_hints(search: SearchQuery, snapshot: Snapshot) -> Iterator[str]:
    if search.intent and search.intent not in _known_intents(snapshot):
        yield f"The current configuration does not have the intent {search.intent}."
    if search.state and search.state not in _known_states(snapshot):
        yield f"The current configuration does not have the state {search.state}."
    if search.participant and not _is_known_participant(search.participant):
        yield (
            f"No participant has the ID {search.participant}. Enter the complete ID of the participant on the channel."
        )
    if search.text:
        yield "The search finds whole words and ignores case and accents. Use begin* for word beginnings."
    if search.stage:
        yield "Events that AUDIT/LEVEL or stage filters exclude cannot be found by stage."
    if days := live_settings.read(snapshot, RETENTION_DAYS).value:
        yield f"Turns older than {days} days are removed (AUDIT/RETENTION_DAYS)."


def _is_known_participant(participant: str) -> bool:
    return (
        CeThread.objects.filter(remote_jid=participant).exists()
        or CeConversation.objects.filter(remote_jid=participant).exclude(channel="api").exists()
    )


def _known_intents(snapshot: Snapshot) -> list[str]:
    return sorted(snapshot.active_intents - {ANY})


def _known_states(snapshot: Snapshot) -> list[str]:
    return sorted(snapshot.known_states)


@cache
def list_error_codes() -> Sequence[str]:
    """Every error code of a turn."""
    return sorted(_codes_of(ConvEngineError))


def _codes_of(error: type[ConvEngineError]) -> set[str]:
    return {error.code, *(name for one in error.__subclasses__() for name in _codes_of(one))}
