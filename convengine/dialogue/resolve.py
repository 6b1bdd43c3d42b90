"""The act of a turn: who decides it, and what is stored of it (pipeline-1 8.1, 8.3 to 8.5)."""

from dataclasses import dataclass
from typing import Any

from convengine.dialogue.classify import FoundAct
from convengine.domain.catalogue.dialogue import LLM_THRESHOLD, RESOLUTE
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn

REGEX_ONLY = "REGEX_ONLY"
REGEX_THEN_LLM = "REGEX_THEN_LLM"
#: Where an act comes from: the patterns, or the patterns because the model gave none.
REGEX = "REGEX"
REGEX_FALLBACK = "REGEX_FALLBACK"


@dataclass(frozen=True)
class ResolvedAct:
    """The act of the turn, and what it was chosen from."""

    regex: FoundAct
    found: FoundAct
    source: str
    mode: str

    def params(self) -> dict[str, Any]:
        """The input params of 8.5."""
        return {
            "dialogue_act_regex": self.regex.act.value,
            "dialogue_act_regex_confidence": self.regex.confidence,
            "dialogue_act_llm_candidate": None,
            "dialogue_act_llm_confidence": None,
            "dialogue_act_llm_standalone_query": None,
            "dialogue_act_guard_applied": False,
            "dialogue_act_guard_reason": None,
            "dialogue_act": self.found.act.value,
            "dialogue_act_confidence": self.found.confidence,
            "dialogue_act_source": self.source,
        }


def resolve_act(session: Session, turn: Turn, regex: FoundAct) -> ResolvedAct:
    """The act by the mode of the turn. No model answers here, so the patterns' act stands in every mode (R9)."""
    mode = _mode(session, turn)
    sure = mode == REGEX_ONLY or (mode == REGEX_THEN_LLM and regex.confidence >= turn.config(session, LLM_THRESHOLD))
    return ResolvedAct(regex, regex, REGEX if sure else REGEX_FALLBACK, mode)


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
        llmCandidate=None,
        guardApplied=False,
        guardReason=None,
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
