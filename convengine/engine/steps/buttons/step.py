"""ButtonStep: replace a pressed button of the last answer by the message that it sends."""

from collections.abc import Sequence

from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.text.compare import match_text
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.owned_params import DialogueParams
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

BUTTON_PRESSED = declare_stage(
    "BUTTON_PRESSED",
    Family.OPENING,
    "The user pressed a button of the last answer. The turn reads the message that the button sends.",
    steps="ButtonStep",
    keys="label message",
    sentences=(SentenceTemplate("The user pressed {label:said}, which sends {message:said}."),),
)


class ButtonStep(Step):
    """Read the message that a pressed button sends instead of its label or number."""

    after = ("AuditUserInputStep",)
    before = ("LanguageStep", "HandOverStep", "PolicyEnforcementStep")
    rank = 510
    requires_persisted = True
    writes = frozenset({"context", "dialogue", "user_text"})

    def active(self, session: Session, turn: Turn) -> bool:
        """True after an answer with buttons."""
        return bool(DialogueState.of(session).buttons)

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Replace the message, and forget the buttons."""
        state = DialogueState.of(session)
        button = _find_button(session.user_text or "", state.buttons)
        session = update_dialogue(session, buttons=())
        if button is None:
            return Continue(session)
        label, message = button
        turn.audit(session, BUTTON_PRESSED, label=label, message=message)
        return Continue(session.evolve(user_text=message).with_values(DialogueParams(resolved_user_input=message)))


def _find_button(text: str, buttons: Sequence[Json]) -> tuple[str, str] | None:
    """The label and the message of the button whose label or number is the text."""
    pairs, key = [(str(label), str(message)) for label, message in buttons], match_text(text)
    exact = [pair for pair in pairs if pair[0] == text.strip()]
    similar = [pair for pair in pairs if key and match_text(pair[0]) == key]
    numbered = [pair for number, pair in enumerate(pairs, 1) if str(number) == key]
    return next(iter([*exact, *similar, *numbered]), None)
