"""The order of the pipeline, and the proof that it fulfils what the steps declare.

Open this file first.
"""

from collections.abc import Iterable

from convengine.engine import errors
from convengine.engine.pipeline.step import Step

DEFAULT_PIPELINE: tuple[str, ...] = (
    # Load or create the conversation and restore its state.
    "convengine.engine.steps.conversation.step.LoadOrCreateConversationStep",
    # On demand, record what the turn started from.
    "convengine.engine.steps.conversation.step.CacheInspectAuditStep",
    # Start over on an explicit request, before anything is interpreted.
    "convengine.engine.steps.conversation.step.ResetConversationStep",
    # The conversation's row exists from here on.
    "convengine.engine.steps.conversation.step.PersistConversationBootstrapStep",
    # Record the user's message.
    "convengine.engine.steps.conversation.step.AuditUserInputStep",
    # Replace a pressed button by the message that it sends.
    "convengine.engine.steps.buttons.step.ButtonStep",
    # Find the language of the conversation, where it may have several.
    "convengine.engine.steps.language.step.LanguageStep",
    # While a person has the conversation, store the message and decide nothing.
    "convengine.engine.steps.hand_over.step.HandOverStep",
    # Block messages that must not be processed.
    "convengine.engine.steps.policy.step.PolicyEnforcementStep",
    # Find the dialogue act.
    "convengine.engine.steps.dialogue_act.step.DialogueActStep",
    # Route the turn by what the dialogue waits for.
    "convengine.engine.steps.interaction.step.InteractionPolicyStep",
    # Handle a yes, a change or a retry of form values.
    "convengine.engine.steps.correction.step.CorrectionStep",
    # Keep the record of the action that waits for a yes.
    "convengine.engine.steps.actions.action_lifecycle.ActionLifecycleStep",
    # Ask when a yes could mean several actions.
    "convengine.engine.steps.actions.action_lifecycle.DisambiguationStep",
    # Stop sensitive tools and actions without approval.
    "convengine.engine.steps.actions.guardrail.GuardrailStep",
    # Find the intent.
    "convengine.engine.steps.intents.intent_resolution.IntentResolutionStep",
    # A reset intent clears the conversation.
    "convengine.engine.steps.intents.intent_resolution.ResetResolvedIntentStep",
    # Later steps always have an intent and a state.
    "convengine.engine.steps.intents.intent_resolution.FallbackIntentStateStep",
    # Fetch reference data for the intent and state.
    "convengine.engine.steps.containers.step.AddContainerDataStep",
    # Fill the form, and lock the intent until it is complete.
    "convengine.engine.steps.forms.schema_extraction.SchemaExtractionStep",
    # Publish the facts of the form.
    "convengine.engine.steps.forms.schema_extraction.AutoAdvanceStep",
    # Run the confirmed action, or drop the refused one.
    "convengine.engine.steps.actions.pending_action.PendingActionStep",
    # Run the tool that the request names.
    "convengine.engine.steps.tools.tool_orchestration.ToolOrchestrationStep",
    # Let a planner choose tools, if allowed.
    "convengine.engine.steps.tools.mcp_tool.McpToolStep",
    # Run the rules: the state machine from the configuration.
    "convengine.engine.steps.rules.step.RulesStep",
    # Check the moves of this turn against the state graph.
    "convengine.engine.steps.state_graph.step.StateGraphStep",
    # Choose and produce the answer.
    "convengine.engine.steps.responses.step.ResponseResolutionStep",
    # Store what later turns remember.
    "convengine.engine.steps.memory.step.MemoryStep",
    # Make the result to commit.
    "convengine.engine.steps.conversation.step.PersistConversationStep",
    # Record the timings and check that there is a result.
    "convengine.engine.steps.conversation.step.PipelineEndGuardStep",
)


def order_steps(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Order the steps so that every declaration is fulfilled; ties by rank, then by name.

    Raises the PipelineConstraintViolation for the declaration that cannot be fulfilled.
    """
    by_name: dict[str, Step] = {}
    for step in steps:
        if step.name in by_name:
            raise errors.DuplicateEngineStep(f"Two steps are called {step.name}.")
        by_name[step.name] = step
    bootstrap = _find_only(by_name.values(), "bootstrap", errors.MissingBootstrapStep)
    terminal = _find_only(by_name.values(), "terminal", errors.MissingTerminalStep)

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
    return tuple(by_name[name] for name in _sort_topologically(by_name, earlier))


def _find_only(steps: Iterable[Step], flag: str, error: type[errors.PipelineConstraintViolation]) -> Step:
    flagged_steps = [step for step in steps if getattr(step, flag)]
    if len(flagged_steps) != 1:
        names = ", ".join(step.name for step in flagged_steps) or "none"
        raise error(f"There must be exactly one {flag} step; found: {names}.")
    return flagged_steps[0]


def _sort_topologically(by_name: dict[str, Step], earlier: dict[str, set[str]]) -> list[str]:
    remaining = {name: set(names) for name, names in earlier.items()}
    done: list[str] = []
    while remaining:
        ready = [name for name, waits in remaining.items() if not waits]
        if not ready:
            raise errors.MissingDagCycle(f"These steps depend on each other: {', '.join(sorted(remaining))}.")
        name = min(ready, key=lambda name: (by_name[name].rank, name))
        done.append(name)
        del remaining[name]
        for waits in remaining.values():
            waits.discard(name)
    return done
