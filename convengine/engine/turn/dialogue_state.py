"""What the dialogue must remember from one turn to the next: the reserved context branch `dialogue`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

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
    #: Likewise, of offers that the user left unanswered while going on with other fields.
    open_offers: Mapping[str, Json] = field(default_factory=dict)
    #: The fields whose values the last answer repeated, so that a "no" may mean them.
    echoed: tuple[str, ...] = ()

    @property
    def asks_what_to_change(self) -> bool:
        """True after "What should I change: …?", which lists fields and asks for none of them."""
        return self.asked_field is None and bool(self.listed_options)

    @classmethod
    def of(cls, session: Session) -> "DialogueState":
        """The state of a session; unreadable parts have their defaults."""
        branch = session.context.get(DIALOGUE)
        if not branch or not isinstance(branch, Mapping):
            return _DEFAULT
        asked_field, options = branch.get("asked_field"), branch.get("listed_options")
        leaving, known_part = branch.get("leaving"), branch.get("known_part")
        offered, asked_about = branch.get("offered"), branch.get("asked_about")
        open_offers, echoed = branch.get("open_offers"), branch.get("echoed")
        return cls(
            asked_field if isinstance(asked_field, str) else None,
            _read_count(branch.get("misses")),
            tuple(options) if isinstance(options, (list, tuple)) else (),
            known_part if isinstance(known_part, str) else "",
            _read_id(branch.get("last_schema")),
            _read_count(branch.get("not_understood_count")),
            leaving if isinstance(leaving, str) else None,
            asked_about if isinstance(asked_about, str) else "",
            _read_id(branch.get("done_schema")),
            offered if isinstance(offered, Mapping) else {},
            open_offers if isinstance(open_offers, Mapping) else {},
            tuple(map(str, echoed)) if isinstance(echoed, (list, tuple)) else (),
        )

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


def _read_id(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _read_count(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
