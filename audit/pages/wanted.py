"""What a reader looks for within a turn: one part of it, or a text."""

from dataclasses import dataclass
from typing import Self

from django.http import HttpRequest

from convengine.domain.stages import Family

FAMILIES = [(family.value, family.value.capitalize()) for family in Family]


@dataclass(frozen=True)
class Wanted:
    """What a reader looks for within a turn; empty fields admit everything."""

    family: str = ""
    text: str = ""

    @classmethod
    def of(cls, request: HttpRequest) -> Self:
        """What the query asks for; a family that there is not is none."""
        family = request.GET.get("family", "")
        return cls(family if family in dict(FAMILIES) else "", request.GET.get("q", "").strip())

    def __bool__(self) -> bool:
        return bool(self.family or self.text)

    def admits(self, family: str, *texts: str) -> bool:
        """True for what is of the family and contains the text."""
        has = not self.text or any(self.text.casefold() in text.casefold() for text in texts)
        return has and self.family in ("", family)
