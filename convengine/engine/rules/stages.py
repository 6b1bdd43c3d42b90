"""Stages of rules and their actions."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage

#: Steps that run phases of rules.
RULE_STEPS = "DialogueActStep IntentResolutionStep SchemaExtractionStep ToolOrchestrationStep McpToolStep RulesStep"
#: Keys that each event of a rule has.
RULE_FLAGS = (
    "ruleExecutionSource ruleExecutionOrigin rulePhase ruleAgentPostIntent ruleAgentPostMcp ruleToolPostExecution"
)

RULE_MATCH = declare_stage(
    "RULE_MATCH",
    Family.RULE,
    "The condition of a rule holds.",
    steps=RULE_STEPS,
    keys=(f"ruleId action ruleType ruleStateCode intent state context schemaJson pass key candidates {RULE_FLAGS}"),
    common=True,
)
RULE_APPLIED = declare_stage(
    "RULE_APPLIED",
    Family.RULE,
    "A rule did what it does.",
    steps=RULE_STEPS,
    keys=f"ruleId intent type ruleStateCode pattern action actionValue {RULE_FLAGS}",
    common=True,
)
RULE_NO_MATCH = declare_stage(
    "RULE_NO_MATCH",
    Family.RULE,
    "No (other) rule of this phase matches, with the compared values.",
    steps=RULE_STEPS,
    keys=(
        f"intent state evaluatedState pass key candidates cut stoppedBy ruleId type ruleStateCode pattern "
        f"action reason overriddenBy overriddenBySchema ruleDbPhase operands {RULE_FLAGS}"
    ),
    common=True,
)
RULE_ERROR = declare_stage(
    "RULE_ERROR",
    Family.RULE,
    "A rule could not do what it does; the turn goes on without it.",
    steps=RULE_STEPS,
    keys=f"ruleId action errorType errorMessage errorCode field value remedy {RULE_FLAGS}",
    sentences=(
        SentenceTemplate("The action {action} of {ruleId:row ce_rule} failed: {errorMessage}.", tone=Tone.ERROR),
    ),
)
RULE_PASS_CAP_REACHED = declare_stage(
    "RULE_PASS_CAP_REACHED",
    Family.RULE,
    "Rules of a phase kept changing what others look at, and were stopped.",
    steps=RULE_STEPS,
    keys=f"intent state passes {RULE_FLAGS}",
    sentences=(
        SentenceTemplate(
            "Stopped the rules after {passes} passes, because they kept changing the intent or the state.",
            tone=Tone.WARNING,
        ),
    ),
)
