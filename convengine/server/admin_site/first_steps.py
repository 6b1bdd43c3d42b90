"""The first steps of a user, as the pages where they are done note them in the browser session; Home stores them."""

from collections.abc import Set

from django.http import HttpRequest

#: The user talked to the bot; the user opened a turn, which says why.
TRY, WHY = "TRY", "WHY"
_KEY = "ce_first_steps"


def note_step(request: HttpRequest, step: str) -> None:
    """Note that the user has done a step. Writes once in a session."""
    noted = list_session_steps(request)
    if step not in noted:
        request.session[_KEY] = [*noted, step]


def list_session_steps(request: HttpRequest) -> Set[str]:
    return frozenset(request.session.get(_KEY, ()))
