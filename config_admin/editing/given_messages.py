"""The messages that an address names: of a group of the inbox (`group`), or of a turn (`message_of`).

The address names them instead of quoting them, because logs contain addresses.
"""

from urllib.parse import urlencode

from django.http import HttpRequest

from config_admin.releases.working_copy import find_working_copy, write_outside
from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.server.admin_site.rights import READ_TURNS
from convengine.server.interfaces.access_log import access_log
from convengine.server.interfaces.inbox import StoredMessage, inbox
from convengine.server.sessions.models import CeConversationHistory

_NAMES = ("group", "message_of")


def read_number(request: HttpRequest, name: str) -> int | None:
    """A number of the address. Returns None for anything else."""
    return parse_whole_number(request.GET.get(name, ""))


def read_given_messages(request: HttpRequest) -> list[StoredMessage]:
    """The wordings of the group, or the message of the turn. The access is logged.

    Empty without the right to read, and if there is no such message.
    """
    if not request.user.has_perm(READ_TURNS):
        return []
    group = read_number(request, "group")
    if group is not None:
        write_outside(lambda: access_log().log_row_access(request, None))
        return inbox().list_group_messages(group)
    turn = _find_turn(request)
    text = (turn.user_input or "").strip() if turn else ""
    return [StoredMessage(turn.pk, text)] if turn and text else []


def read_given_words(request: HttpRequest) -> str:
    """Words of the message of a turn, from `start` to `end`. The access is logged.

    Blank without the right to read, and if there is no such turn.
    """
    start, end = read_number(request, "start"), read_number(request, "end")
    if start is None or end is None or not request.user.has_perm(READ_TURNS):
        return ""
    turn = _find_turn(request)
    return (turn.user_input or "")[start:end].strip() if turn else ""


def _find_turn(request: HttpRequest) -> CeConversationHistory | None:
    """The turn that the address names. The access is logged."""
    turn = CeConversationHistory.objects.filter(pk=read_number(request, "message_of") or 0).first()
    if turn is not None:
        write_outside(lambda: access_log().log_row_access(request, turn))
    return turn


def note_taught(request: HttpRequest, what: str) -> None:
    """Note at the group of the inbox, if the address names one, what was taught; in a draft when its transaction has
    ended. `what`: "Taught as CANCEL_ORDER".
    """
    group, author = read_number(request, "group"), request.user.get_username()
    if group is None or not request.user.has_perm(READ_TURNS):
        return
    copy = find_working_copy()
    if copy is None:
        inbox().note_taught(group, author, what, is_live=True)
    else:
        # The transaction of a draft is rolled back.
        in_draft = f"{what} in the draft “{copy.title}”"
        copy.later.append(lambda: inbox().note_taught(group, author, in_draft, is_live=False))


def add_given_messages(url: str, request: HttpRequest) -> str:
    """An address that names the same messages."""
    named = {name: number for name in _NAMES if (number := read_number(request, name)) is not None}
    return f"{url}?{urlencode(named)}" if named else url
