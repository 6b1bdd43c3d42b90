"""Every code of its own that the health check gives, and what to do about it: for the manual."""

from collections.abc import Mapping

HEALTH_CODES: Mapping[str, str] = {
    "RULE_COLLISION": "Two rules act on one message and write the same thing in two ways; the later one wins. Narrow "
    "one of them, let the first one end the list, or have them agree. If the later one is meant to win, accept it "
    "with the reason.",
    "RULE_NEVER_FIRES": "The rule cannot act, and the message says why. Delete it, or change what keeps it from "
    "acting.",
    "RULE_LOOP": "The rules move the conversation round and round until the passes are used up. Give one of them a "
    "condition that no longer holds once the other has acted.",
    "CLASSIFIER_COLLISION": "Classifiers of two intents hit one message, so that neither decides. Make one of the "
    "patterns narrower, or let priorities decide (COLLISION_BY_PRIORITY).",
    "PATTERN_EMPTY_TEXT": "The empty text fulfils the pattern, and mostly so does every other. Ask for a "
    "character at least.",
    "RESPONSE_NEVER_USED": "Wherever this answer could be given, a closer or earlier row answers. Delete it, or those.",
    "STATE_WITHOUT_RESPONSE": "Conversations come to this state, and no row answers there. Add an answer for it.",
    "UNREACHABLE_STATE": "Rows are for a state that nothing leads to. Write what leads there, or delete them.",
    "CONFIRM_WITHOUT_ACTION_OR_RULE": "The customer is asked for a yes, and nothing happens on one. Add a pending "
    "action, or a rule on the act AFFIRM.",
    "TOOL_NEVER_USED": "Nothing names this tool in its scope. Add a planner or a row that calls it, or switch it off.",
    "ROW_INACTIVE_INTENT": "Rows are switched on for an intent that is off, or not there. Switch it on, or them off.",
    "FALLBACK_MISSING": "Nothing answers a message that nothing understands. Add an answer for UNKNOWN / UNKNOWN.",
    "ROW_UNUSABLE": "No turn can use the row: a pattern or path does not compile, or a value does not fit its column.",
    "REFERENCE_GONE": "The row names a task, tool, rule or connection that this installation does not have (any more).",
    "CHECK_INCOMPLETE": "The check ran out of time. What it did not look at is counted in the message.",
}
