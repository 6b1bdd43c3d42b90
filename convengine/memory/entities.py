"""Names that stand in a text as they are: links, e-mail addresses, files, and what is quoted (sessions 8)."""

import re
from collections.abc import Iterator

_FILE_TYPES = "pdf|docx?|xlsx?|pptx?|odt|ods|csv|tsv|txt|rtf|md|html?|json|xml|ya?ml|log|zip|png|jpe?g|gif|svg|mp[34]"
#: Every repetition is bounded, so that no text makes the search slow (law 7).
_NAMES = re.compile(
    r"(?P<link>https?://[^\s<>\"'“”«»]{1,300})"
    r"|(?P<mail>(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5})"
    rf"|(?P<file>(?<![\w.-])[\w-](?:[\w.-]{{0,80}}?)\.(?:{_FILE_TYPES})(?![\w-]))"
    r"|\"(?P<plain>[^\"\n]{2,60})\"|“(?P<curly>[^“”\n]{2,60})”|„(?P<low>[^„“”\n]{2,60})[“”]"
    r"|«(?P<angle>[^«»\n]{2,60})»|「(?P<corner>[^「」\n]{2,60})」",
    re.IGNORECASE,
)
_CLOSING = ".,;:!?)]}…"
#: A text without any of these holds no such name: most do not, and need not be searched.
_MARKS = frozenset('.@/"“„«「')


def entities(text: str) -> Iterator[str]:
    """The names found in a text, in order; a name may come more than once."""
    if _MARKS.isdisjoint(text):
        return
    for match in _NAMES.finditer(text):
        found = match.group(match.lastgroup or 0)
        yield found.rstrip(_CLOSING) if match.lastgroup == "link" else found.strip()
