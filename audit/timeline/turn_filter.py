"""The filter of a turn's page: one part of the turn, or a text."""

from dataclasses import dataclass
from typing import Self

from django.http import HttpRequest

from convengine.engine.turn.stage import Family

#: The labels of the parts of a turn.
_LABELS = {
    Family.FRAME: "Pipeline",
    Family.OPENING: "Start of the turn",
    Family.POLICY: "Policies",
    Family.DIALOGUE: "Dialogue act",
    Family.INTENT: "Intent",
    Family.DATA: "Forms and data",
    Family.ACTION: "Actions",
    Family.TOOL: "Tools",
    Family.RULE: "Rules",
    Family.RESPONSE: "Answer",
    Family.SESSION: "Session",
}
FAMILIES = [(family.value, _LABELS[family]) for family in Family]


@dataclass(frozen=True)
class TurnFilter:
    """The filter of a turn's page; empty fields match everything."""

    family: str = ""
    text: str = ""

    @classmethod
    def of(cls, request: HttpRequest) -> Self:
        """The filter of the query; an unknown family is ignored."""
        family = request.GET.get("family", "")
        return cls(family if family in dict(FAMILIES) else "", request.GET.get("q", "").strip())

    def __bool__(self) -> bool:
        return bool(self.family or self.text)

    def admits(self, family: str, *texts: str) -> bool:
        """True for the family and the text."""
        has = not self.text or any(self.text.casefold() in text.casefold() for text in texts)
        return has and self.family in ("", family)
