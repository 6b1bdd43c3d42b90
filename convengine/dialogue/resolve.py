"""The act of a turn: who decides it, and what is stored of it (pipeline-1 8.1, 8.3 to 8.5)."""

from dataclasses import dataclass
from typing import Any

from convengine.dialogue.classify import FoundAct, means_reset
from convengine.dialogue.model import LOW_CONFIDENCE, Said, ask_act
from convengine.domain.catalogue.dialogue import LLM_THRESHOLD, RESOLUTE
from convengine.domain.enums import DialogueAct
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank
from convengine.domain.turn import Turn

REGEX_ONLY = "REGEX_ONLY"
REGEX_THEN_LLM = "REGEX_THEN_LLM"
#: Where an act comes from: the patterns; the model; the patterns because the model gave none, or may not reset.
REGEX = "REGEX"
LLM = "LLM"
REGEX_FALLBACK = "REGEX_FALLBACK"
REGEX_GUARD = "REGEX_GUARD"
_GUARD_RESET = "REGEX_GUARD_RESET"


@dataclass(frozen=True)
class ResolvedAct:
    """The act of the turn, and what it was chosen from."""

    regex: FoundAct
    found: FoundAct
    source: str
    mode: str
    said: Said | None = None
    #: Why the model's act was not taken although there was one.
    reason: str | None = None

    @property
    def guarded(self) -> bool:
        """True when the model's reset was taken for what the patterns say (8.4)."""
        return self.source == REGEX_GUARD

    @property
    def candidate(self) -> str | None:
        """The model's act, whether it was taken or not."""
        return self.said.act.act.value if self.said else None

    @property
    def query(self) -> str | None:
        """The restated message, where the model's answer was taken."""
        return self.said.query if self.said and self.source == LLM else None

    def params(self) -> dict[str, Any]:
        """The input params of 8.5."""
        said = self.said
        return {
            "dialogue_act_regex": self.regex.act.value,
            "dialogue_act_regex_confidence": self.regex.confidence,
            "dialogue_act_llm_candidate": self.candidate,
            "dialogue_act_llm_confidence": said.act.confidence if said else None,
            "dialogue_act_llm_standalone_query": said.query if said else None,
            "dialogue_act_guard_applied": self.guarded,
            "dialogue_act_guard_reason": self.reason,
            "dialogue_act": self.found.act.value,
            "dialogue_act_confidence": self.found.confidence,
            "dialogue_act_source": self.source,
        }


def resolve_act(session: Session, turn: Turn, regex: FoundAct) -> ResolvedAct:
    """The act by the mode of the turn (8.3), and the guard on what the model says (8.4)."""
    mode = _mode(session, turn)
    if mode == REGEX_ONLY or (mode == REGEX_THEN_LLM and regex.confidence >= turn.config(session, LLM_THRESHOLD)):
        return ResolvedAct(regex, regex, REGEX, mode)
    # Nothing to ask about, or nothing left to find out.
    said = None if blank(session.user_text) or session.reset_only else ask_act(session, turn)
    if said is None:
        return ResolvedAct(regex, regex, REGEX_FALLBACK, mode)
    if said.unsure:
        return ResolvedAct(regex, regex, REGEX_FALLBACK, mode, said, LOW_CONFIDENCE)
    if said.act.act is DialogueAct.RESET and not means_reset(session, turn):
        return ResolvedAct(regex, regex, REGEX_GUARD, mode, said, _GUARD_RESET)
    return ResolvedAct(regex, said.act, LLM, mode, said)


def audit_act(session: Session, turn: Turn, resolved: ResolvedAct) -> None:
    """Write DIALOGUE_ACT_CLASSIFIED: the act before any rule may overrule it."""
    query = session.standalone_query
    turn.audit(
        session,
        Stage.DIALOGUE_ACT_CLASSIFIED,
        userText=session.user_text,
        dialogueAct=resolved.found.act.value,
        dialogueActConfidence=resolved.found.confidence,
        dialogueActSource=resolved.source,
        **({"standaloneQuery": query} if query else {}),
        dialogueActResolveMode=resolved.mode,
        intent=session.intent,
        state=session.state,
        regexAct=resolved.regex.act.value,
        llmCandidate=resolved.candidate,
        guardApplied=resolved.guarded,
        guardReason=resolved.reason,
    )


def audit_final(before: Session, after: Session, turn: Turn) -> None:
    """Write DIALOGUE_ACT_FINAL when the rules between the two sessions changed the act."""
    keys = ("dialogue_act", "dialogue_act_source")
    act, source = (after.input_params.get(key) for key in keys)
    if (act, source) != tuple(before.input_params.get(key) for key in keys):
        turn.audit(after, Stage.DIALOGUE_ACT_FINAL, dialogueAct=act, dialogueActSource=source)


def _mode(session: Session, turn: Turn) -> str:
    wanted = turn.config(session, RESOLUTE)
    return wanted if turn.ports.model.configured else REGEX_ONLY
