"""What an analyst may do with a word that nothing explains: each is a link to a form with the change filled in.

The address names the word by the turn and its position, because logs contain addresses.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from audit.narration.reading import MessagePart, MessageReading
from convengine.server.admin_site.record_columns import teach_url
from convengine.server.admin_site.rights import READ_TURNS
from convengine.server.sessions.models import CeConversationHistory

_CHANGES_FORMS = "config_admin.change_ceoutputschema"
_ADDS_PHRASES = "config_admin.add_ceintentclassifier"


@dataclass(frozen=True)
class WordLinks:
    """Addresses for one word, or for several that follow one another."""

    text: str
    #: The label of each option of the field for which it may be, with the address that makes the word its synonym.
    options: Sequence[tuple[str, str]]
    #: Blank without the right.
    filler_url: str
    teach_url: str


def list_word_links(
    request: HttpRequest, record: CeConversationHistory, reading: MessageReading | None
) -> list[WordLinks]:
    """The links for each word that nothing explains; none for users who may change neither forms nor phrases."""
    user: Any = request.user
    if reading is None or not user.has_perm(READ_TURNS):
        return []
    changes_forms = reading.schema_id is not None and user.has_perm(_CHANGES_FORMS)
    teaching_url = find_teach_url(request, record)
    if not (changes_forms or teaching_url):
        return []
    return [
        WordLinks(
            word.text,
            list(_list_options(record, reading, word)) if changes_forms else [],
            _make_url(record, reading, word) if changes_forms else "",
            teaching_url,
        )
        for word in reading.unknown_words
    ]


def find_teach_url(request: HttpRequest, record: CeConversationHistory) -> str:
    """The page that makes phrases of the message of a turn; blank without the rights."""
    user: Any = request.user
    if not user.has_perms((READ_TURNS, _ADDS_PHRASES)):
        return ""
    return teach_url(message_of=record.pk)


def _list_options(
    record: CeConversationHistory, reading: MessageReading, word: MessagePart
) -> Iterator[tuple[str, str]]:
    if word.field is not None:
        for option in word.field.spec.options:
            names = {"field": word.field.path, "option": str(option.value)}
            yield option.label, _make_url(record, reading, word, **names)


def _make_url(record: CeConversationHistory, reading: MessageReading, word: MessagePart, **names: str) -> str:
    query = urlencode({"message_of": record.pk, "start": word.start, "end": word.end, **names})
    return f"{reverse('admin:config_admin_ceoutputschema_change', args=[reading.schema_id])}?{query}"
