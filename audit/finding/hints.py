"""What helps to find: names to choose from, and why nothing may have been found."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from audit.finding.search import Search
from convengine import conf
from convengine.domain import settings
from convengine.domain.catalogue.audit import RETENTION_DAYS
from convengine.domain.scope import ANY
from convengine.domain.snapshot import Snapshot
from convengine.errors import ConvEngineError
from convengine.sessions.models import CeConversation, CeThread


def suggestions() -> Mapping[str, Sequence[str]]:
    """Names of today's configuration, by field. Older turns may have others."""
    here: Snapshot = conf.load("SNAPSHOT").latest
    return {"intent": _intents(here), "state": _states(here), "error": error_codes()}


def hints(search: Search) -> list[str]:
    """Why a search may have found nothing."""
    return list(_hints(search, conf.load("SNAPSHOT").latest))


def _hints(search: Search, here: Snapshot) -> Iterator[str]:
    if search.intent and search.intent not in _intents(here):
        yield f"No row of today's configuration names the intent {search.intent}."
    if search.state and search.state not in _states(here):
        yield f"No row of today's configuration names the state {search.state}."
    if search.participant and not _known(search.participant):
        yield f"Nobody is called {search.participant}: a participant is found by their whole name on the channel."
    if search.text:
        yield "Whole words are looked for, without regard to case and accents. The beginning of one: begin*."
    if search.stage:
        yield "What AUDIT/LEVEL and the filters of stages leave out of the record cannot be found by its stage."
    if days := settings.read(here, RETENTION_DAYS).value:
        yield f"Turns older than {days} days are removed (AUDIT/RETENTION_DAYS)."


def _known(participant: str) -> bool:
    return (
        CeThread.objects.filter(remote_jid=participant).exists()
        or CeConversation.objects.filter(remote_jid=participant).exclude(channel="api").exists()
    )


def _intents(here: Snapshot) -> list[str]:
    return sorted(here.active_intents - {ANY})


def _states(here: Snapshot) -> list[str]:
    return sorted(here.known_states)


@cache
def error_codes() -> Sequence[str]:
    """Every code that a turn may end with, by the errors that there are."""
    return sorted(_codes(ConvEngineError))


def _codes(error: type[ConvEngineError]) -> set[str]:
    return {error.code, *(name for one in error.__subclasses__() for name in _codes(one))}
