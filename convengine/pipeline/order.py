"""The pipeline, said in order, and the proof that the order keeps what the steps declare (R1, R74).

This is the file to open first.
"""

from collections.abc import Iterable

from convengine import errors
from convengine.pipeline.step import Step

DEFAULT_PIPELINE: tuple[str, ...] = (
    # Attach the conversation and restore where the dialogue stood.
    "convengine.steps.load_or_create_conversation.LoadOrCreateConversationStep",
    # On demand, note what the turn started from.
    "convengine.steps.cache_inspect_audit.CacheInspectAuditStep",
    # Start afresh on an explicit request, before anything is interpreted.
    "convengine.steps.reset_conversation.ResetConversationStep",
    # The row exists from here on.
    "convengine.steps.persist_conversation_bootstrap.PersistConversationBootstrapStep",
    # Keep what the user said, word for word.
    "convengine.steps.audit_user_input.AuditUserInputStep",
    # Refuse what is never processed.
    "convengine.steps.policy_enforcement.PolicyEnforcementStep",
    # Turn the words into an act.
    "convengine.steps.dialogue_act.DialogueActStep",
    # Route the turn by what the dialogue waits for.
    "convengine.steps.interaction_policy.InteractionPolicyStep",
    # A yes, a change or a retry of what is in the form.
    "convengine.steps.correction.CorrectionStep",
    # Keep the record of the action that waits for a yes.
    "convengine.steps.action_lifecycle.ActionLifecycleStep",
    # Ask when a yes could mean several actions.
    "convengine.steps.disambiguation.DisambiguationStep",
    # Hold sensitive tools and actions back until they are approved.
    "convengine.steps.guardrail.GuardrailStep",
    # Decide what the message is about.
    "convengine.steps.intent_resolution.IntentResolutionStep",
    # A reset intent wipes the conversation.
    "convengine.steps.reset_resolved_intent.ResetResolvedIntentStep",
    # Nobody after this sees a missing intent or state.
    "convengine.steps.fallback_intent_state.FallbackIntentStateStep",
    # Fetch reference data for the intent and state.
    "convengine.steps.add_container_data.AddContainerDataStep",
    # Fill the form, and hold the intent until it is complete.
    "convengine.steps.schema_extraction.SchemaExtractionStep",
    # Publish what is known of the form.
    "convengine.steps.auto_advance.AutoAdvanceStep",
    # Run the action that was confirmed, or drop the one that was refused.
    "convengine.steps.pending_action.PendingActionStep",
    # Run the one tool that was asked for by name.
    "convengine.steps.tool_orchestration.ToolOrchestrationStep",
    # May a planner choose tools in this turn?
    "convengine.steps.mcp_tool.McpToolStep",
    # The data-driven state machine.
    "convengine.steps.rules.RulesStep",
    # Were the moves of this turn allowed?
    "convengine.steps.state_graph.StateGraphStep",
    # Choose and produce the answer.
    "convengine.steps.response_resolution.ResponseResolutionStep",
    # Keep what is remembered of the turn.
    "convengine.steps.memory.MemoryStep",
    # Make the result that is committed.
    "convengine.steps.persist_conversation.PersistConversationStep",
    # Note the timings and check that there is a result.
    "convengine.steps.pipeline_end_guard.PipelineEndGuardStep",
)


def ordered(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps in an order that keeps every declaration; ties by rank, then by name (ORD-1 to ORD-9).

    Raises a PipelineConstraintViolation of the kind that says which declaration cannot be kept.
    """
    by_name: dict[str, Step] = {}
    for step in steps:
        if step.name in by_name:
            raise errors.DuplicateEngineStep(f"Two steps are called {step.name}.")
        by_name[step.name] = step
    bootstrap = _only(by_name.values(), "bootstrap", errors.MissingBootstrapStep)
    terminal = _only(by_name.values(), "terminal", errors.MissingTerminalStep)

    earlier: dict[str, set[str]] = {name: set() for name in by_name}
    for step in by_name.values():
        for other in (*step.after, *step.before):
            if other not in by_name:
                raise errors.MissingDependentStep(f"{step.name} names {other}, which is not registered.")
        earlier[step.name].update(step.after)
        for other in step.before:
            earlier[other].add(step.name)
        if step.requires_persisted:
            earlier[step.name].add(bootstrap.name)
        if step is not terminal:
            earlier[terminal.name].add(step.name)
    return tuple(by_name[name] for name in _sorted(by_name, earlier))


def _only(steps: Iterable[Step], flag: str, error: type[errors.PipelineConstraintViolation]) -> Step:
    found = [step for step in steps if getattr(step, flag)]
    if len(found) != 1:
        names = ", ".join(step.name for step in found) or "none"
        raise error(f"There must be exactly one {flag} step; found: {names}.")
    return found[0]


def _sorted(by_name: dict[str, Step], earlier: dict[str, set[str]]) -> list[str]:
    left = {name: set(names) for name, names in earlier.items()}
    done: list[str] = []
    while left:
        ready = [name for name, waits in left.items() if not waits]
        if not ready:
            raise errors.MissingDagCycle(f"These steps wait for one another: {', '.join(sorted(left))}.")
        name = min(ready, key=lambda name: (by_name[name].rank, name))
        done.append(name)
        del left[name]
        for waits in left.values():
            waits.discard(name)
    return done
