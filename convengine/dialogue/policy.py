"""What an act means to what the dialogue waits for: the table of pipeline-1 9.2, first hit wins."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from convengine.domain.catalogue import interaction
from convengine.domain.enums import DialogueAct, PolicyDecision
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn

#: Acts that are never the value of a slot.
_NO_VALUE = (DialogueAct.NEW_REQUEST, DialogueAct.GREETING, DialogueAct.RESET)


@dataclass(frozen=True)
class Waiting:
    """What the dialogue waits for (9.1)."""

    action: bool
    slot: bool
    #: Intent and state are known well enough to decide anything.
    resolved: bool

    @property
    def subject(self) -> str:
        """The left side of a matrix key."""
        return "PENDING_ACTION" if self.action else "PENDING_SLOT" if self.slot else "NONE"


@dataclass(frozen=True)
class Decided:
    """A decision and the line of the table that took it."""

    decision: PolicyDecision
    by: str
    matrix_key: str | None = None

    @property
    def skips_resolution(self) -> bool:
        """True when the message is no matter of intents."""
        return self.decision is not PolicyDecision.RECLASSIFY_INTENT


def decide(session: Session, turn: Turn, act: DialogueAct, waiting: Waiting) -> Decided:
    """Lines P1 to P6. P0, the answer to a question of ours, comes before them."""
    if not waiting.resolved:
        return Decided(PolicyDecision.RECLASSIFY_INTENT, "P1")
    key = f"{waiting.subject}:{act.value}"
    if decision := _by_matrix(session, turn, key):
        return Decided(decision, "P2", key)
    if waiting.action and act is DialogueAct.AFFIRM and turn.config(session, interaction.EXECUTE_PENDING_ON_AFFIRM):
        return Decided(PolicyDecision.EXECUTE_PENDING_ACTION, "P3")
    if waiting.action and act is DialogueAct.NEGATE and turn.config(session, interaction.REJECT_PENDING_ON_NEGATE):
        return Decided(PolicyDecision.REJECT_PENDING_ACTION, "P4")
    fills = turn.config(session, interaction.FILL_PENDING_SLOT_ON_NON_NEW_REQUEST)
    if waiting.slot and fills and act not in _NO_VALUE:
        return Decided(PolicyDecision.FILL_PENDING_SLOT, "P5")
    return Decided(PolicyDecision.RECLASSIFY_INTENT, "P6")


def _by_matrix(session: Session, turn: Turn, key: str) -> PolicyDecision | None:
    """The matrix's word on a key; an entry that names no decision is told and does not count."""
    said = _matrix(turn.config(session, interaction.MATRIX)).get(key)
    if said is None or said == "":
        return None
    decision = PolicyDecision.read(said)
    if decision is None:
        turn.tell_once(
            session,
            Stage.CONFIG_VALUE_INVALID,
            f"{interaction.MATRIX.name} {key}",
            configType=interaction.MATRIX.type,
            configKey=interaction.MATRIX.key,
            value={key: said},
            usedDefault=None,
            reason=f"{said!r} is not a decision.",
        )
    return decision


def _matrix(row: Mapping[str, Any]) -> dict[str, Any]:
    own = {str(key).replace(" ", "").upper(): value for key, value in row.items()}
    return {**interaction.MATRIX.default, **own}
