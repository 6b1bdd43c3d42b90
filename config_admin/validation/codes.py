"""All codes of save checks with their explanation and remedy, for the manual and for forms."""

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    # any table
    "FIELD_REQUIRED": "This value is required. Enter it.",
    "CHOICE_UNKNOWN": "Unknown value. Choose one from the list. The message suggests the most similar one.",
    "NOT_REGISTERED": (
        "This installation has nothing registered under this name (a model, task, mapper or "
        "command). Correct the name, or ask the operator to register it."
    ),
    "OUT_OF_RANGE": "The number is too small or too large. The message names the limits.",
    "SHAPE_INVALID": "The value does not have the expected structure. The message shows it.",
    "DUPLICATE": "Another row already has this name. Change that row, or choose another name.",
    "CONFLICT": "Two values contradict each other. The message names them.",
    "DUPLICATE_ROW": (
        "Another row has the same scope, condition and effect. Only the first one is used. Delete one of them."
    ),
    "SHADOWED_ROW": (
        "Another row with the same scope is always used instead of this one. Change the priority or the scope."
    ),
    "STALE_EDIT": (
        "Someone else saved this row after you opened it. Nothing was overwritten. Compare both versions, then save."
    ),
    "IN_USE": "Other rows refer to this one, so it cannot be deleted. Disable it instead, or change those rows first.",
    "NO_SUCH_RELEASE": "No release has this number. Release numbers start at 1 and end at the current release.",
    "COLUMN_UNKNOWN": "The imported file has a column that the table does not have. Correct or remove the column.",
    "STATEMENT_REFUSED": (
        "The imported SQL file has a statement that is not supported. Only INSERT with plain "
        "values is read, and nothing is run. The message names the problem."
    ),
    "FORBIDDEN": "Your permissions do not allow this change. See: permissions.",
    # scope, codes and priority
    "SCOPE_BLANK": "Every row needs an intent and a state, or ANY for all.",
    "CODE_FORMAT": "A code has capital letters, digits and underscores and starts with a letter: CANCEL_ORDER.",
    "INTENT_UNKNOWN": "No intent has this code. Create the intent first, or choose an existing one, ANY or UNKNOWN.",
    "INTENT_DISABLED": "The intent is disabled, so its rows are not used until it is enabled.",
    "INTENT_OFF": (
        "A rule leads to an intent that is switched off, so the conversation stays where it is. Switch the intent on, "
        "or choose another one."
    ),
    "INTENT_RESERVED": "ANY stands for every intent. Choose another code.",
    "STATE_UNKNOWN": (
        "No rule, phrase or state graph edge leads to this state yet, so the row never applies. Add "
        "one, or correct the name."
    ),
    "PRIORITY_RANGE": "A priority is a whole number from 0 to 1000000. Lower numbers come first.",
    # texts that are programs
    "PATTERN_BLANK": "The condition is missing. Enter one, or ANY where that is allowed.",
    "PATTERN_TOO_BROAD": (
        "The pattern matches nearly every message, so it collides with other intents. Make it more specific."
    ),
    "REGEX_INVALID": "The regular expression is not valid. The message says where and why. See: patterns.",
    "REGEX_UNSUPPORTED": (
        "The regular expression uses a feature that could make a turn hang, such as look-ahead "
        "or back-references. If an alternative is known, the message names it."
    ),
    "REGEX_FLAGS_POSITION": "Flags such as (?i) are only allowed at the start. Matching ignores case anyway.",
    "REGEX_DOUBLE_BACKSLASH": "Two backslashes match a backslash. For a word boundary, write one.",
    "REGEX_BOUNDARY_ASCII": "A word boundary only knows the letters a to z, so it fails next to é or ß. Write "
    "(?:^|\\W) and (?:\\W|$) instead.",
    "JSONPATH_INVALID": "The JSON path is not valid. The message says where. See: JSON paths.",
    "JSON_INVALID": "The text is not valid JSON. The message names the line and column.",
    "TEMPLATE_INVALID": "The template is not valid. The message says where. See: templates.",
    "TEMPLATE_VAR_UNKNOWN": (
        "The name is neither provided by the engine nor a field of the intent's form. An "
        "answer leaves it empty, and a prompt for a model fails. Correct the name, or let a "
        "rule set it."
    ),
    "TEMPLATE_SOURCE_LEFT": "Source of another template language is left over. Users would see it unchanged.",
    "BUTTONS_NOT_SHOWN": "Only the text of an answer shows buttons. Write them there, or remove them.",
    "TEMPLATE_OLDER_FORM": "The text uses an older placeholder syntax. On saving, it is converted to the current one.",
    "TRANSLATION_NAMES": (
        "A translation and its text do not use the same names in {{ }}, so users of one language read something else. "
        "Use the same names in both."
    ),
    "TRANSLATION_UNUSED": (
        "A translation is left of a text that the row does not have any more. Remove it, or enter the text."
    ),
    "PATH_ALWAYS_MATCHES": "Every turn has this value, so the condition is always met. Compare it with a value.",
    # intents and classifiers
    "DESCRIPTION_BLANK": "A model chooses the intent only by this text. Describe when the intent applies.",
    "NO_RESPONSE_FOR_INTENT": "This intent has no answer in any state, so a turn that ends there fails.",
    "RETURNING_INTENT_WITH_FORM": (
        "The intent answers and returns, so its form does not ask while another question is open."
    ),
    "RESET_INTENT_MIXED": (
        "This intent resets the conversation as soon as it is recognised, so its rows are never used."
    ),
    "CLASSIFIER_INTENT": "A phrase leads to one intent. ANY and UNKNOWN are not allowed.",
    "CLASSIFIER_OVERLAP": (
        "A phrase of another intent matches the same messages. The message says which one decides, if any."
    ),
    "PHRASE_WITHOUT_WORDS": "The phrase consists of signs only.",
    "PHRASE_OF_OTHER_INTENT": (
        "Phrases of two intents have the same telling words, so the user is asked which one is meant."
    ),
    # rules
    "CONDITION_INVALID": "The condition cannot be read. Choose a field, an operator and a value in every row.",
    "CONDITION_FIELD_UNKNOWN": (
        "A row of the condition names a field that nothing sets, so it is empty in every turn. Choose another field."
    ),
    "RULE_TYPE": "Unknown condition type. Choose one from the list.",
    "PHASE": "Unknown phase. Choose one from the list.",
    "ACTION": "Unknown action. Choose one from the list.",
    "ACTION_VALUE_REQUIRED": (
        "The action needs a value, such as a state, an intent or a name. The form suggests values."
    ),
    "PHASE_POINTLESS": "In this phase the action is too late to have an effect. Choose an earlier phase.",
    "ENGINE_KEY_WRITE": "A step of the engine sets this parameter, too. Only later steps see the value of the rule.",
    "RULE_ALWAYS_TRUE": "The rule has no scope and no condition, so it applies to every turn of every conversation.",
    "RULE_FLIP_FLOP": "Two rules undo each other. The engine stops after a few passes. Give one of them a condition.",
    "STATE_GRAPH_MISSING_EDGE": (
        "The state graph does not allow the move of this rule. Change the rule, or add an edge."
    ),
    "RULE_GONE": "The row refers to a rule that no longer exists. Choose another rule.",
    # state graph
    "EDGE_SELF": "A conversation may always stay in its state, so this edge is not needed.",
    "STATE_UNREACHABLE": "No edge of the state graph leads to this state.",
    "RULE_OUTSIDE_GRAPH": "A rule makes a move that the state graph does not allow, so the turn gets a warning.",
    # schemas and prompts
    "SCHEMA_INTENT_ANY": "A form belongs to one intent. Choose the intent.",
    "SCHEMA_SHAPE": (
        'A JSON Schema of a form is an object with "type": "object" and at least one field in "properties".'
    ),
    "OPTIONS_SOURCE_INVALID": (
        "The data that give a field its choices cannot be found. Correct the path, or name the key of the value."
    ),
    "SCHEMA_REQUIRED": '"required" names a field that "properties" does not have.',
    "SCHEMA_NO_REQUIRED": "No field is required, so the form is complete at once. Mark the required fields.",
    "SCHEMA_RESERVED_FIELD": "This name is reserved for the engine. Choose another name.",
    "SCHEMA_NO_PROMPT": (
        "No prompt template tells the model how to read the fields, so the engine reads them alone. Add one of type "
        "SCHEMA_JSON."
    ),
    "SCHEMA_OPTION_SHADOWED": "Another form with the same scope is always used instead of this one.",
    "CONFIRM_STATE_NO_SCHEMA": "The user may confirm or edit in this state, but no form applies there.",
    "SCHEMA_PROMPT_INTENT_ANY": "A template that extracts fields belongs to one intent. Choose the intent.",
    "RESPONSE_TYPE_PROMPT": "A prompt template extracts fields (SCHEMA_JSON) or writes an answer (TEXT or JSON).",
    "PROMPT_WITHOUT_RESPONSE": "No answer uses this template yet.",
    "TEMPERATURE": "The temperature is a number from 0 (always the same result) to 2 (most variation).",
    "CONTRACT_SHAPE": 'The contract is JSON with the lists "allows" and "expects".',
    "CONTRACT_UNKNOWN_WORD": "Unknown word in the contract. The engine ignores it.",
    "CONTRACT_CONTRADICTS_MODE": (
        "The mode usually allows this, but the contract does not list it, so it is not allowed."
    ),
    "TWO_TEMPLATES": "Another template has the same use and scope. Only the newest is used.",
    # answers
    "EXACT_TEXT_REQUIRED": "An answer of type EXACT needs a text. Enter it.",
    "LAST_FALLBACK": "This is the only answer to messages that are not recognised. Without it, those turns fail.",
    "DERIVED_WITHOUT_MODEL": "A model should write this answer, but no model is configured.",
    "DERIVED_NO_PROMPT": (
        "A model should write this answer, but no prompt template applies, so its text is used or the turn fails. "
        "Add a template."
    ),
    "DERIVED_NO_HINT": "The model only gets the template. Add a hint that says what matters in this answer.",
    "JSON_SCHEMA_FOR_TEXT": "A JSON Schema only applies to JSON answers that a model writes.",
    "VERBOSE_NO_TEXT": "A progress text needs a message, an error message, or both.",
    # settings
    "CONFIG_KEY_UNKNOWN": "Unknown setting. The message suggests the most similar name.",
    "CONFIG_KEY_RENAMED": "This is an older name of a setting. It is stored under the current name.",
    "RESET_CODES_UNKNOWN": "The list contains an intent that does not exist.",
    "SECRET_IN_CONFIG": (
        "Many people see rows, and their history is kept. Put secrets into the environment of the deployment."
    ),
    # actions, tools and data
    "PARAM_NAME": "Use only letters, digits, underscores, dots and hyphens in a parameter name.",
    "PARAM_NOT_IN_SCHEMA": "The intent's form has no such field, so the user's message is sent instead.",
    "PROVIDER_UNKNOWN": "No data provider is registered for this address. The message lists the registered ones.",
    "ACTION_KEY_BLANK": "The action needs a key. Rules and answers refer to it by this key.",
    "ACTION_SCOPE_ANY": "With this scope, a plain yes can run the action anywhere. Choose an intent or a state.",
    "ACTION_NO_DESCRIPTION": "Users see this text when they choose between several actions. Enter it.",
    "ACTION_AMBIGUOUS": "Two actions have the same priority here, so the user is asked which one is meant.",
    "TOOL_UNKNOWN": "This tool does not exist. Choose another one.",
    "TOOL_SCOPE": "The tool does not exist for this scope or is disabled, so the call is always skipped.",
    "TOOL_SCOPE_ANY": (
        "Every intent and state may call this tool. Narrow the scope unless this is intended. "
        "Narrow it unless that is meant."
    ),
    "TOOL_GROUP_MISMATCH": "The tool belongs to another group. Choose that group.",
    "TOOL_NO_DESCRIPTION": "The planner knows the tool only by this text. Describe what the tool does.",
    "NO_EXECUTOR": "This installation cannot run tools of this group.",
    "ARGS_SHAPE": "Arguments must be a JSON object with names and values.",
    "DATABASE_UNKNOWN": "This installation has no database of that name for tools.",
    "DB_TOOL_WITHOUT_SQL": "The tool has no statement and no code, so it does nothing. Add a statement.",
    "HTTP_TOOL_WITHOUT_HANDLER": "The tool has no call and no code, so it does nothing. Add a call.",
    "CONNECTION_UNKNOWN": "This installation has no HTTP connection of that name.",
    "SQL_PARAM_UNDECLARED": "The statement uses a parameter that is missing in the parameter schema.",
    "SQL_PARAM_UNUSED": "The statement does not use this parameter of the schema.",
    "SQL_NOT_READONLY": "The statement must be one query that only reads. The message says what is not allowed.",
    "SQL_NO_LIMIT": "The database may read far more rows than are kept. Add LIMIT :limit.",
    "IDENTIFIER_UNLISTED": "A name that is used as an identifier needs a list of allowed values.",
    "MAX_ROWS": "From 1 to 10000 rows.",
    "MATCH_VALUE": "Enter one function or keyword: letters, digits and underscores.",
    "ADDRESS_INVALID": "Links lead to pages: an address begins with https:// or with / for a page of the same site.",
    "DOCUMENT_EMPTY": "A document is shown by its sections. Each needs text below its heading.",
    "SECTION_UNKNOWN": "The settings of a section are found by its headings. After a heading changed, set them again.",
    "TEXT_TOO_LONG": "The text is longer than a document may be. Divide it into several documents.",
    "PLANNER_NO_TOOLS_VAR": "The planner can only call tools that it knows. Add {{mcp_tools}} to the prompt.",
    "PLANNER_TOOL_UNKNOWN": "The prompt refers to a tool that is not allowed in this scope.",
    "TWO_PLANNERS": "Another planner prompt has the same scope. The newer one is used.",
    # imports
    "BASE_MOVED": (
        "The configuration was changed after the release that the file is based on, and the import would take that "
        "back. Merge, export again, or overwrite."
    ),
    "LAST_ANSWER_REMOVED": "After the import, no answer is left for this state. Add one to the file.",
    "BASE_UNKNOWN": (
        "The file comes from no release that is known here, and the import would change or remove this row. "
        "Overwrite this row, or leave it out."
    ),
    "MERGE_CONFLICT": "Both the file and this installation changed the same value since the base of the file.",
    # policies and models
    "POLICY_BLOCKS_EVERYTHING": (
        "The pattern matches every message, so every message would be blocked. Make it more specific."
    ),
    "POLICY_NEVER_MATCHES": (
        "No message matches the pattern, so the policy stops nothing. Often two backslashes stand where one is meant."
    ),
    "LLM_NOT_CONFIGURED": "A model should check this policy, but no model is configured.",
}


HEALTH_CODES: Mapping[str, str] = {
    "RULE_COLLISION": (
        "Two rules apply to the same message and set the same value differently, so the later one "
        "overrides the first. Narrow one of them, let the first one stop processing, or set the "
        "same value. If the order is intended, accept the finding with a reason."
    ),
    "GENERAL_RULE_UNDOES": (
        "A general rule changes the intent or state that a more specific rule set before. Narrow the general rule, or "
        "switch off the setting Rules/GENERAL_MAY_UNDO, so that it no longer may. If it should, mark it to override "
        "specific rules."
    ),
    "RULE_NEVER_FIRES": "The rule never applies. The message says why. Delete the rule or correct the cause.",
    "START_RULE_SKIPPED": (
        "The rule sets the first state only when the model decides the intent. Phrases lead to the intent, too, and "
        "then it does not run. Add the same rule with the phase “After a phrase matched”."
    ),
    "VALUE_UNCHECKED": (
        "A rule writes a value after the rules that test it have run. Let it run after data collection and before "
        "them, or repeat the test in a later phase."
    ),
    "RULE_LOOP": (
        "The rules move the conversation in a loop until the limit of passes is reached. Give one of "
        "them a condition that is no longer met after the other one applied."
    ),
    "CLASSIFIER_COLLISION": (
        "Phrases of two intents match the same message, so no intent is recognised. Make one "
        "pattern more specific, or let priorities decide (COLLISION_BY_PRIORITY)."
    ),
    "PHRASES_TAKEN": (
        "A phrase decides about every text of phrases of another intent. Make it more specific, or change its priority."
    ),
    "PATTERN_EMPTY_TEXT": (
        "The pattern matches the empty text, and usually every other text. Require at least one character."
    ),
    "RESPONSE_NEVER_USED": (
        "A more specific or earlier answer is always used instead of this one. Delete this answer or those."
    ),
    "STATE_WITHOUT_RESPONSE": "Conversations reach this state, but it has no answer. Add an answer.",
    "UNREACHABLE_STATE": (
        "Rows belong to an unreachable state. Add a rule or phrase that leads there, or delete the rows."
    ),
    "CONFIRM_WITHOUT_ACTION_OR_RULE": (
        "The customer is asked for confirmation, but a yes has no effect. Add a "
        "pending action, or a rule on the dialogue act AFFIRM."
    ),
    "FORM_WITHOUT_EXIT": (
        "No rule, action or tool follows the form, so the conversation stays there. Add a rule that moves on when the "
        "form is complete."
    ),
    "TOOL_NEVER_USED": (
        "Nothing uses this tool in its scope. Add a planner prompt or a direct tool call, or disable the tool."
    ),
    "ROW_INACTIVE_INTENT": (
        "Enabled rows belong to an intent that is off or does not exist. Unless it is off on purpose, switch it on in "
        "its workspace, or delete it there with all its rows."
    ),
    "FALLBACK_MISSING": (
        "There is no answer for messages that are not recognised. Add an answer for intent UNKNOWN, state UNKNOWN."
    ),
    "ANSWER_WITH_GAPS": (
        "Names in the text of an answer often have no value, so users see gaps. Set them before, or give them a "
        "default: {{ name | default('...') }}."
    ),
    "ROW_UNUSABLE": (
        "The row is invalid, so no turn uses it: a pattern or path is not valid, or a value does not fit its field."
    ),
    "REFERENCE_GONE": "The row refers to a task, tool, rule or connection that this installation does not have.",
    "TRANSLATIONS_MISSING": (
        "Texts have no translation in a language of the setting Languages, so its users read them in the first "
        "language. Translate them on the page Languages."
    ),
    "LANGUAGE_UNLISTED": (
        "Texts are translated into a language that the setting Languages does not list, so nobody reads them. Add the "
        "language to the setting, or remove the translations."
    ),
    "LOCALE_UNLISTED": (
        "The setting Language and region names a language that the setting Languages does not list, so conversations "
        "begin in the first listed one. Add the language, or change the setting."
    ),
    "CHECK_INCOMPLETE": "The health check ran out of time. The message counts what was skipped.",
}
