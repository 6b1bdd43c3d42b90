"""Several texts in one template, with a line `{% or %}` between them: each conversation always gets the same one."""

import hashlib
import re
from functools import lru_cache

#: What joins texts to a template.
OR = "\n{% or %}\n"
#: A line between two texts.
OR_LINE = re.compile(r"^[ \t]*\{%[-+]?[ \t]*or[ \t]*[-+]?%\}[ \t]*\r?$", re.MULTILINE)


@lru_cache(maxsize=2048)
def split_texts(template: str) -> tuple[str, ...]:
    """The texts of a template; a template of one text is unchanged."""
    texts = OR_LINE.split(template)
    return tuple(text.strip() for text in texts) if len(texts) > 1 else (template,)


def select_text(template: str, conversation_id: str) -> str:
    """The text that a conversation gets. A hash decides, so that a replay gets the same one."""
    texts = split_texts(template)
    if len(texts) == 1:
        return template
    digest = hashlib.sha256(f"{conversation_id}\n{template}".encode("utf-8", "replace")).digest()
    return texts[int.from_bytes(digest[:8]) % len(texts)]
