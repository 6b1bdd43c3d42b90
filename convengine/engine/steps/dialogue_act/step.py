"""DialogueActStep: find the dialogue act of a message."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from convengine.engine.clarification.agent_answer import SCORES_SCHEMA, SCORING, scores_intents
from convengine.engine.dialogue import settings as catalogue
from convengine.engine.dialogue.classify import ClassifiedAct, classify, means_reset, read_leave_answer
from convengine.engine.dialogue.settings import LLM_THRESHOLD, RESET_ACT_RESETS, RESOLUTE
from convengine.engine.errors import ConvEngineError
from convengine.engine.forms.form import Form
from convengine.engine.forms.life import awaits_confirmation, find_refused_form, keep_general_rules_out
from convengine.engine.forms.message import (
    find_open_form,
    find_open_schema,
    is_same_phrase,
    read_message,
    understand_message,
)
from convengine.engine.forms.session_form import find_schema, get_current_form
from convengine.engine.forms.store_reading import (
    TABLES_THEN_WORDS,
    find_extractor,
    has_reading_prompt,
    has_reading_prompt_elsewhere,
)
from convengine.engine.forms.user_answer import corrects_value
from convengine.engine.llm.ask import ModelQuestion, Stages, ask
from convengine.engine.llm.reply import read_confidence
from convengine.engine.pending_actions.disambiguation import has_open_action
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.prompts.fill import fill_prompts
from convengine.engine.prompts.select import list_allowed_interactions
from convengine.engine.rules.apply import RUN_RULES, run_phase
from convengine.engine.steps.dialogue_act.stages import (
    DIALOGUE_ACT_CLASSIFIED,
    DIALOGUE_ACT_FINAL,
    DIALOGUE_ACT_LLM_ERROR,
    DIALOGUE_ACT_LLM_INPUT,
    DIALOGUE_ACT_LLM_OUTPUT,
)
from convengine.engine.text.compare import blank
from convengine.engine.threads.message_intent import set_message_intent
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.enums import DialogueAct, ResetReason, RulePhase
from convengine.engine.turn.owned_params import DialogueParams
from convengine.engine.turn.reset import RESET, reset_session
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.phrases.recorded import match_user_message
from convengine.engine.understanding.phrases.settings import VERY_SURE
from convengine.json_value import Json

REGEX_ONLY = "REGEX_ONLY"
LLM_ONLY = "LLM_ONLY"
AUTO = "AUTO"
#: Sources of an act: the patterns; the model; the patterns because the model failed, or may neither reset nor confirm.
REGEX = "REGEX"
LLM = "LLM"
REGEX_FALLBACK = "REGEX_FALLBACK"
REGEX_GUARD = "REGEX_GUARD"
_GUARD_RESET = "REGEX_GUARD_RESET"
_GUARD_CONFIRMATION = "REGEX_GUARD_CONFIRMATION"
LOW_CONFIDENCE = "LLM_LOW_CONFIDENCE"
_STAGES = Stages(DIALOGUE_ACT_LLM_INPUT, DIALOGUE_ACT_LLM_OUTPUT)
#: System prompt, user prompt and schema of the call without and with rewriting.
_PLAIN = (catalogue.SYSTEM_PROMPT, catalogue.USER_PROMPT, catalogue.SCHEMA_PROMPT)
_REWRITING = (
    catalogue.QUERY_REWRITE_SYSTEM_PROMPT,
    catalogue.QUERY_REWRITE_USER_PROMPT,
    catalogue.QUERY_REWRITE_SCHEMA_PROMPT,
)


@dataclass(frozen=True)
class ModelAct:
    """The model's act and rewritten query; `unsure` if its confidence is too low."""

    act: ClassifiedAct
    query: str | None = None
    unsure: bool = False
    #: The scores of the intents, if the model was asked for them, too.
    intents: list[Json] | None = None


@dataclass(frozen=True)
class ResolvedAct:
    """The act of the turn, and the candidates."""

    regex: ClassifiedAct
    classified: ClassifiedAct
    source: str
    mode: str
    model_act: ModelAct | None = None
    #: Why the model's act was rejected.
    reason: str | None = None

    @property
    def is_guarded(self) -> bool:
        """True when the patterns' act replaced the model's reset or yes."""
        return self.source == REGEX_GUARD

    @property
    def candidate(self) -> str | None:
        return self.model_act.act.act.value if self.model_act else None

    @property
    def query(self) -> str | None:
        """The rewritten message, if the model's answer was accepted."""
        return self.model_act.query if self.model_act and self.source == LLM else None

    def to_params(self) -> DialogueParams:
        model_act = self.model_act
        intents = model_act.intents if model_act else None
        scores: dict[str, Any] = {} if intents is None else {"dialogue_act_llm_intents": intents}
        return DialogueParams(
            **scores,
            dialogue_act_regex=self.regex.act.value,
            dialogue_act_regex_confidence=self.regex.confidence,
            dialogue_act_llm_candidate=self.candidate,
            dialogue_act_llm_confidence=model_act.act.confidence if model_act else None,
            dialogue_act_llm_standalone_query=model_act.query if model_act else None,
            dialogue_act_guard_applied=self.is_guarded,
            dialogue_act_guard_reason=self.reason,
            dialogue_act=self.classified.act.value,
            dialogue_act_confidence=self.classified.confidence,
            dialogue_act_source=self.source,
        )


class DialogueActStep(Step):
    """Classify the act, let rules override it, and start over if the message asks only for that."""

    after = ("PolicyEnforcementStep",)
    rank = 700
    always_runs = True
    requires_persisted = True
    writes = frozenset({"dialogue", "standalone_query", "query_rewritten", "reset_only"})
    rights = (RUN_RULES, RESET)

    def execute(self, session: Session, turn: Turn) -> Continue:
        resolved = resolve_act(session, turn, classify(session, turn, lambda: _edits_a_field(session, turn)))
        if resolved.query:
            session = session.with_query(resolved.query).evolve(query_rewritten=True)
        session = session.with_values(resolved.to_params())
        audit_act(session, turn, resolved)
        # The text must confirm a reset, whether a pattern or a model found it.
        is_reset = resolved.classified.act is DialogueAct.RESET and resolved.regex.act is DialogueAct.RESET
        if is_reset and not session.reset_only and turn.config(session, RESET_ACT_RESETS):
            # The reset clears the params; later steps still need the act.
            fresh = reset_session(session, turn, ResetReason.DIALOGUE_ACT_RESET, only=True)
            return Continue(fresh.evolve(reset_only=True).with_values(resolved.to_params()))
        if refused_form := find_refused_form(session, turn):
            keep_general_rules_out(session, turn, refused_form)
        after = run_phase(RulePhase.POST_DIALOGUE_ACT, self.name, session, turn)
        audit_final_act(session, after, turn)
        return Continue(set_message_intent(after, turn))


def _edits_a_field(session: Session, turn: Turn) -> bool:
    """True when the state at turn start allows edits, and the message corrects a value of its form."""
    intent, state = session.turn_start_intent, session.turn_start_state
    if "edit" not in list_allowed_interactions(turn.snapshot, intent, state):
        return False
    row = find_schema(turn.snapshot, intent, state)
    return row is not None and not get_current_form(session, turn, row).problem and corrects_value(session, turn, row)


def resolve_act(session: Session, turn: Turn, regex: ClassifiedAct) -> ResolvedAct:
    """The act by the mode of the turn; the patterns' act in place of a model's that is missing, unsure or guarded.

    Guards are on a model's reset and on its yes to a confirmation. `regex` is the act by patterns.
    """
    mode = turn.config(session, RESOLUTE) if turn.ports.model.configured else REGEX_ONLY
    is_sure = mode != LLM_ONLY and regex.confidence >= turn.config(session, LLM_THRESHOLD)
    if mode == REGEX_ONLY or is_sure or (mode == AUTO and is_explained(session, turn)):
        return ResolvedAct(regex, regex, REGEX, mode)
    # There is nothing to ask, or nothing left to find out.
    model_act = None if blank(session.user_text) or session.reset_only else ask_act(session, turn)
    if model_act is None:
        return ResolvedAct(regex, regex, REGEX_FALLBACK, mode)
    if model_act.unsure:
        return ResolvedAct(regex, regex, REGEX_FALLBACK, mode, model_act, LOW_CONFIDENCE)
    if guard := _find_guard(session, turn, model_act.act.act, mode):
        return ResolvedAct(regex, regex, REGEX_GUARD, mode, model_act, guard)
    return ResolvedAct(regex, read_leave_answer(session, model_act.act), LLM, mode, model_act)


def _find_guard(session: Session, turn: Turn, act: DialogueAct, mode: str) -> str | None:
    """Why the act of the model does not count. Returns None if it does."""
    if act is DialogueAct.RESET and not means_reset(session, turn):
        return _GUARD_RESET
    if mode == AUTO and act is DialogueAct.AFFIRM and confirms_own_form(session, turn):
        return _GUARD_CONFIRMATION
    return None


def audit_act(session: Session, turn: Turn, resolved: ResolvedAct) -> None:
    """Write DIALOGUE_ACT_CLASSIFIED: the act before rules may override it."""
    query = session.standalone_query
    turn.audit(
        session,
        DIALOGUE_ACT_CLASSIFIED,
        userText=session.user_text,
        dialogueAct=resolved.classified.act.value,
        dialogueActConfidence=resolved.classified.confidence,
        dialogueActSource=resolved.source,
        **({"standaloneQuery": query} if query else {}),
        dialogueActResolveMode=resolved.mode,
        **session.where,
        regexAct=resolved.regex.act.value,
        llmCandidate=resolved.candidate,
        guardApplied=resolved.is_guarded,
        guardReason=resolved.reason,
    )


def audit_final_act(before: Session, after: Session, turn: Turn) -> None:
    """Write DIALOGUE_ACT_FINAL if rules changed the act."""
    old, new = before.dialogue, after.dialogue
    act, source = new.dialogue_act, new.dialogue_act_source
    if (act, source) != (old.dialogue_act, old.dialogue_act_source):
        turn.audit(after, DIALOGUE_ACT_FINAL, dialogueAct=act, dialogueActSource=source)


def ask_act(session: Session, turn: Turn) -> ModelAct | None:
    """The model's answer. Returns None if there is no readable one, with DIALOGUE_ACT_LLM_ERROR."""
    rewriting = bool(session.history) and turn.config(session, catalogue.QUERY_REWRITE_ENABLED)
    try:
        question = _build_question(session, turn, rewriting)
    except ConvEngineError as error:
        return _report_no_answer(session, turn, error.message, "PromptRender")
    reply = ask(session, turn, question)
    if isinstance(reply.value, Mapping):
        return _read_answer(reply.value, session, turn)
    if reply.error is None or not blank(reply.text):
        return _report_no_answer(session, turn, "The answer is not a JSON object.", "InvalidJson")
    return _report_no_answer(session, turn, reply.error.message, reply.error.name)


def _build_question(session: Session, turn: Turn, rewriting: bool) -> ModelQuestion:
    """The question to the model. Raises ConvEngineError for a prompt that cannot be filled."""
    system, user, schema = _REWRITING if rewriting else _PLAIN
    system_prompt, answer_schema = turn.config(session, system), turn.config(session, schema)
    if scores_intents(session, turn):
        system_prompt, answer_schema = f"{system_prompt}\n{SCORING}", _add_scores(answer_schema)
    prompts = fill_prompts(session, turn, system=system_prompt, user=turn.config(session, user), selected=user.name)
    # Lenient: an answer in prose is used as it is, because the patterns have an act already.
    return ModelQuestion(
        "DIALOGUE_ACT",
        prompts.system,
        prompts.user,
        json_schema=answer_schema,
        lenient=True,
        stages=_STAGES,
    )


def _add_scores(schema: Json) -> Json:
    """The schema of an answer with the scores of the intents."""
    given = schema if isinstance(schema, Mapping) else {}
    properties, required = given.get("properties"), given.get("required")
    return {
        **given,
        "properties": {**(properties if isinstance(properties, Mapping) else {}), "intentScores": SCORES_SCHEMA},
        "required": [*(required if isinstance(required, list) else ()), "intentScores"],
    }


def _read_answer(answer: Mapping[str, Any], session: Session, turn: Turn) -> ModelAct | None:
    """The act of a readable answer. Returns None for an unknown act, which is recorded."""
    act = DialogueAct.read(answer.get("dialogueAct"))
    if act is None:
        return _report_no_answer(
            session, turn, f"{answer.get('dialogueAct')!r} is not a dialogue act.", "UnknownDialogueAct"
        )
    confidence, query = read_confidence(answer.get("confidence")) or 0.0, answer.get("standaloneQuery")
    return ModelAct(
        ClassifiedAct(act, confidence),
        query.strip() or None if isinstance(query, str) else None,
        confidence < turn.config(session, catalogue.LLM_MIN_CONFIDENCE),
        scores if isinstance(scores := answer.get("intentScores"), list) else None,
    )


def _report_no_answer(session: Session, turn: Turn, message: str, exception: str) -> ModelAct | None:
    turn.audit(session, DIALOGUE_ACT_LLM_ERROR, message=message, exception=exception)
    return None


def is_explained(session: Session, turn: Turn) -> bool:
    """True for a message that means an intent by its phrases, and while something is open for a plain answer to it.

    Also while a form is filled that asks the model itself for the words which the tables leave open.
    """
    if is_same_phrase(session, turn):
        return True
    row, form, state = find_open_schema(session, turn), find_open_form(session, turn), DialogueState.of(session)
    if row is not None and form is not None:
        if _asks_for_words(session, turn, form):
            return True
        reading = read_message(session, turn, row)
        if reading.gives_anything and not reading.unexplained:
            return True
    is_open = bool(state.offered) or state.leaving is not None or session.clarification is not None
    if row is not None or is_open or has_open_action(session, turn):
        return understand_message(session, turn).is_bare_move
    return any(match.confidence >= VERY_SURE for match in match_user_message(session, turn).hits)


def confirms_own_form(session: Session, turn: Turn) -> bool:
    """True at the confirmation of a form that no author's prompt reads: only a yes of the tables runs its action."""
    is_own = not (has_reading_prompt(session, turn) or has_reading_prompt_elsewhere(session, turn))
    return is_own and awaits_confirmation(session, turn)


def _asks_for_words(session: Session, turn: Turn, form: Form) -> bool:
    is_own = find_schema(turn.snapshot, session.intent, session.state) is not None
    return is_own and not form.status(session.context).complete and find_extractor(session, turn) == TABLES_THEN_WORDS
