"""What the dialogue must remember from one turn to the next: the reserved context branch `dialogue`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from convengine.engine.turn.session import Session
from convengine.json_value import Json

#: The branch of the context; no field may have its name. Every reset removes it with the rest of the context.
DIALOGUE = "dialogue"


@dataclass(frozen=True)
class DialogueState:
    """The branch, typed. A context without it has the defaults."""

    #: The field that the last answer asked for.
    asked_field: str | None = None
    #: How often in a row its answers were refused or not understood.
    misses: int = 0
    #: The values of the options that the last answer listed, in order.
    listed_options: tuple[Json, ...] = ()
    #: The day or the time that the asked field lacks the other half of: "tomorrow", then "at 3pm".
    known_part: str = ""
    #: The schema that the conversation worked on last; it stays known in later states of its intent.
    last_schema: int | None = None
    #: How many messages in a row were not understood outside of forms.
    not_understood_count: int = 0
    #: "Do you want to stop?" is open: the intent to go on with after a yes, blank for none.
    leaving: str | None = None
    #: The message about which the last answer asks which intent it means, or whether to go on with it.
    asked_about: str = ""
    #: The schema of the form that was done last, which "another one" begins again.
    done_schema: int | None = None
    #: By field: the values of "Do you mean Thursday 26 November?", which a yes stores.
    offered: Mapping[str, Json] = field(default_factory=dict)
    #: By field: values that were offered, and that the user passed over while going on with other fields.
    open_offers: Mapping[str, Json] = field(default_factory=dict)
    #: The fields whose values the last answer repeated, so that a "no" may mean them.
    echoed: tuple[str, ...] = ()
    #: The forms that other forms interrupted, the last one last: the id of its schema, its state, and its values.
    interrupted: tuple[Json, ...] = ()
    #: The labels of the buttons of the last answer, each with the message that it sends.
    buttons: tuple[Json, ...] = ()
    #: A person of the help desk has written since the hand-over.
    person_answers: bool = False
    #: By schema and field: the options that the data gave last, which stay while the data give none.
    options: Mapping[str, Json] = field(default_factory=dict)

    @property
    def asks_what_to_change(self) -> bool:
        """True after "What should I change: …?", which lists fields and asks for none of them."""
        return self.asked_field is None and bool(self.listed_options)

    @classmethod
    def of(cls, session: Session) -> "DialogueState":
        return cls.read(session.context)

    @classmethod
    def read(cls, context: Mapping[str, Json]) -> "DialogueState":
        """The state in a context; unreadable parts have their defaults."""
        branch = context.get(DIALOGUE)
        if not branch or not isinstance(branch, Mapping):
            return _DEFAULT
        return cls(**{name: read(branch[name]) for name, read in _READERS.items() if name in branch})

    def store(self, session: Session) -> Session:
        """The session with this state. The defaults need no branch."""
        branch = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
            if value != getattr(_DEFAULT, name)
        }
        if branch == session.context.get(DIALOGUE, {}):
            return session
        return session.with_context({DIALOGUE: branch}) if branch else session.without_context(DIALOGUE)


_DEFAULT = DialogueState()


def update_dialogue(session: Session, **changes: Json) -> Session:
    """The session whose dialogue state has these values; the same session if it has them already."""
    state = DialogueState.of(session)
    if all(getattr(state, name) == value for name, value in changes.items()):
        return session
    return replace(state, **changes).store(session)


def _read_name(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _read_id(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _read_list(value: Json) -> tuple[Json, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else ()


def _read_values(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


_PAIR = 2
#: How each part is read.
_READERS: Mapping[str, Callable[[Json], Any]] = {
    "asked_field": _read_name,
    "misses": lambda value: _read_id(value) or 0,
    "listed_options": _read_list,
    "known_part": lambda value: _read_name(value) or "",
    "last_schema": _read_id,
    "not_understood_count": lambda value: _read_id(value) or 0,
    "leaving": _read_name,
    "asked_about": lambda value: _read_name(value) or "",
    "done_schema": _read_id,
    "offered": _read_values,
    "open_offers": _read_values,
    "echoed": lambda value: tuple(map(str, _read_list(value))),
    "interrupted": _read_list,
    "buttons": lambda value: tuple(pair for pair in _read_list(value) if len(_read_list(pair)) == _PAIR),
    "person_answers": lambda value: value is True,
    "options": _read_values,
}
