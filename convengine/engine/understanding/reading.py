"""What of a message goes into a form: taken, offered, refused, emptied."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.span import RefusalReason
from convengine.json_value import Json


class Doubt(StrEnum):
    """Why a value is offered instead of taken."""

    #: Its clause only supposes it: "maybe Friday".
    SUPPOSED = "SUPPOSED"
    #: The words are only similar to an option.
    SIMILAR = "SIMILAR"
    #: The words mean about the same as an option.
    MEANING = "MEANING"
    #: Nothing explains other words of the message.
    UNEXPLAINED = "UNEXPLAINED"
    #: It may be meant for another field, or another value is possible.
    UNCLEAR = "UNCLEAR"
    #: The words are those of a model.
    MODEL = "MODEL"


@dataclass(frozen=True)
class Taken:
    """A value that is stored. Positions are those of the message's characters."""

    field: str
    value: Json
    start: int
    end: int
    #: What made it a value of this field: ASKED, LABEL, KIND, CORRECTION, TEXT, MODEL; OFFER for a yes to an offer;
    #: EARLIER for a message of before the question which intent is meant.
    by: str
    #: The answer repeats it, because it was mended, supplied, corrected, or not all of its clause is explained.
    is_echoed: bool = False
    #: What the words do not say and was assumed: `month`, `year`, `half`, `country`, `sum`, `spelling` (a mended slip).
    assumed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Offered:
    """A value that is stored only after a yes."""

    field: str
    value: Json
    start: int
    end: int
    why: Doubt = Doubt.UNCLEAR


@dataclass(frozen=True)
class RefusedText:
    """A text that was meant as a value and is not taken, with the reason."""

    field: str
    text: str
    #: A `Reason`, or a code of the deployment's.
    reason: str
    data: Mapping[str, Json] = dataclasses.field(default_factory=dict)
    #: Positions in the message's characters; both 0 where no words are meant.
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Reading:
    """What of a message goes into a form. A field is in it at most once."""

    taken: tuple[Taken, ...] = ()
    offered: tuple[Offered, ...] = ()
    refused: tuple[RefusedText, ...] = ()
    #: Optional fields that are left empty, and required ones that are emptied and asked for again.
    cleared: tuple[str, ...] = ()
    #: Fields that the message names without a new value: they are asked for again.
    named: tuple[str, ...] = ()
    #: Words that nothing explains: pairs of positions in the message's characters.
    unexplained: tuple[tuple[int, int], ...] = ()
    #: The message asks something of which every word is explained: what the asked field is for, what there is.
    asks_about_asked: bool = False
    #: What else a model found that the user wants: LEAVE, PERSON.
    wishes: tuple[MoveKind, ...] = ()
    #: Where the message names a field: its path and two positions in the message's characters.
    names: tuple[tuple[str, int, int], ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that the message says something for."""
        results: tuple[Taken | Offered | RefusedText, ...] = (*self.taken, *self.offered, *self.sure_refusals)
        return (*(item.field for item in results), *self.cleared)

    @property
    def gives_anything(self) -> bool:
        """False for a miss."""
        return bool(self.fields or self.named)

    @property
    def sure_refusals(self) -> tuple[RefusedText, ...]:
        """The refusals of what was surely meant as a value: words that are no option may mean anything."""
        return tuple(item for item in self.refused if item.reason is not RefusalReason.NOT_AN_OPTION)
