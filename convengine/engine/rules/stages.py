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
SET_INTENT = declare_stage(
    "SET_INTENT",
    Family.RULE,
    "A rule changed the intent.",
    steps=RULE_STEPS,
    keys="ruleId fromIntent toIntent state context",
    sentences=(SentenceTemplate("changed the intent from {fromIntent} to {toIntent}"),),
)
SET_STATE = declare_stage(
    "SET_STATE",
    Family.RULE,
    "A rule changed the state.",
    steps=RULE_STEPS,
    keys="ruleId fromState toState intent context",
    sentences=(SentenceTemplate("changed the state from {fromState} to {toState}"),),
)
SET_DIALOGUE_ACT = declare_stage(
    "SET_DIALOGUE_ACT",
    Family.RULE,
    "A rule overruled the dialogue act.",
    steps=RULE_STEPS,
    keys="ruleId dialogueAct dialogueActConfidence dialogueActSource standaloneQuery",
    sentences=(SentenceTemplate("decided that the user {dialogueAct:act}"),),
)
SET_INPUT_PARAM = declare_stage(
    "SET_INPUT_PARAM",
    Family.RULE,
    "A rule wrote input params.",
    steps=RULE_STEPS,
    keys="ruleId intent state appliedInputParams inputParams",
    sentences=(SentenceTemplate("set the parameters {appliedInputParams:data}"),),
)
SET_JSON = declare_stage(
    "SET_JSON",
    Family.RULE,
    "A rule copied what a path found into an input param.",
    steps=RULE_STEPS,
    keys="ruleId key path intent state value sessionInputParams",
    sentences=(SentenceTemplate("copied {path:fact} to {key}[ (now {value})]"),),
)
GET_CONTEXT = declare_stage(
    "GET_CONTEXT",
    Family.RULE,
    "A rule copied the context into an input param.",
    steps=RULE_STEPS,
    keys="ruleId key intent state context sessionInputParams",
    sentences=(SentenceTemplate("copied the context to {key}"),),
)
GET_SCHEMA_JSON = declare_stage(
    "GET_SCHEMA_JSON",
    Family.RULE,
    "A rule copied the collected values into an input param.",
    steps=RULE_STEPS,
    keys="ruleId key intent state schemaJson sessionInputParams",
    sentences=(SentenceTemplate("copied the collected values to {key}"),),
)
GET_SESSION = declare_stage(
    "GET_SESSION",
    Family.RULE,
    "A rule copied the session's facts into an input param.",
    steps=RULE_STEPS,
    keys="ruleId key session sessionInputParams",
    sentences=(SentenceTemplate("copied the session facts to {key}"),),
)
SET_TASK = declare_stage(
    "SET_TASK",
    Family.RULE,
    "A rule ran a task of the deployment.",
    steps=RULE_STEPS,
    keys="ruleId beanName beanMethodNames intent state context inputParams executionId reused",
    sentences=(
        SentenceTemplate(
            "did not run the task {beanName} again: it has already run, and its stored result was used",
            {"reused": True},
        ),
        SentenceTemplate("ran the task {beanName}[ ({beanMethodNames:names})]"),
    ),
)
SET_CONTEXT = declare_stage(
    "SET_CONTEXT",
    Family.RULE,
    "A rule wrote fields of the context.",
    steps=RULE_STEPS,
    keys="ruleId intent state values context",
    sentences=(SentenceTemplate("set {values:data} in the context"),),
)
CLEAR_CONTEXT = declare_stage(
    "CLEAR_CONTEXT",
    Family.RULE,
    "A rule removed fields of the context.",
    steps=RULE_STEPS,
    keys="ruleId paths intent state context",
    sentences=(SentenceTemplate("cleared {cleared}"),),
)
REFUSE_VALUE = declare_stage(
    "REFUSE_VALUE",
    Family.RULE,
    "A rule refused the value of a field, so the form asks for it again.",
    steps=RULE_STEPS,
    keys="ruleId field text intent state context",
    sentences=(SentenceTemplate("refused the value of {field} and says {text:said}", tone=Tone.WARNING),),
)
REMOVE_INPUT_PARAM = declare_stage(
    "REMOVE_INPUT_PARAM",
    Family.RULE,
    "A rule removed input params.",
    steps=RULE_STEPS,
    keys="ruleId removed intent state inputParams",
    sentences=(SentenceTemplate("removed the parameters {removed:names}"),),
)
SET_RESPONSE_HINT = declare_stage(
    "SET_RESPONSE_HINT",
    Family.RULE,
    "A rule gave the model a hint for the answer.",
    steps=RULE_STEPS,
    keys="ruleId responseHint intent state",
    sentences=(SentenceTemplate("gave the model the hint {responseHint:said}"),),
)
SET_PREFERENCE = declare_stage(
    "SET_PREFERENCE",
    Family.RULE,
    "A rule chose the session's model or knowledge base.",
    steps=RULE_STEPS,
    keys="ruleId kind fromId toId intent state",
    sentences=(SentenceTemplate("set the {kind} of the conversation to {toId}"),),
)
