"""Every code that a save check may give, and what to do about it: for the manual and for forms (tables 1.8)."""

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    # any table
    "FIELD_REQUIRED": "The row means nothing without this value. Fill it in.",
    "CHOICE_UNKNOWN": "The value is not one of those that there are. Choose one of the list; the message offers "
    "the nearest.",
    "NOT_REGISTERED": "The name is to stand for something that this installation has: a model, a task, a mapper, a "
    "command. It has nothing of this name. Correct the name, or ask whoever runs the installation to register it.",
    "OUT_OF_RANGE": "The number is below or above what the field takes. The message says the bounds.",
    "SHAPE_INVALID": "The value can be read, but is not built as the field needs it. The message shows the form.",
    "DUPLICATE": "Another row has this name, which must be there once. Edit that row, or choose another name.",
    "CONFLICT": "Two things of the row, or the row and others, contradict one another. The message says which.",
    "DUPLICATE_ROW": "Another row has the same scope, condition and effect. Only the first matters; delete one "
    "of them.",
    "SHADOWED_ROW": "Another row of the same scope always wins over this one, so this one is never used. Change the "
    "priority or the scope.",
    "STALE_EDIT": "Somebody saved this row after you opened it. Nothing is overwritten: look at both, then save.",
    "IN_USE": "Other rows name this one, so it cannot be deleted. Disable it instead, or change those rows first.",
    "NO_SUCH_RELEASE": "No release has this number. Releases are numbered from 1 to the one in force.",
    "COLUMN_UNKNOWN": "A file that is imported names a column that the table does not have. Correct or drop the name.",
    "STATEMENT_REFUSED": "A statement of an imported SQL file says more than rows: only INSERT with plain values is "
    "read, and nothing is run. The message says what is in the way.",
    "FORBIDDEN": "Your groups do not allow this change. See: who may do what.",
    # scope, codes and priority
    "SCOPE_BLANK": "A row says where it applies: an intent and a state, or ANY for all of them. Blank is not allowed.",
    "CODE_FORMAT": "Codes are capital letters, digits and underscores, and begin with a letter: CANCEL_ORDER.",
    "INTENT_UNKNOWN": "No intent has this code. Create the intent first, or choose one that there is, ANY or UNKNOWN.",
    "INTENT_DISABLED": "The intent is switched off, so its rows are not used until it is switched on.",
    "INTENT_RESERVED": "ANY stands for every intent, so no intent can be called so.",
    "STATE_UNKNOWN": "No rule, classifier or edge leads to this state yet, so the row would never apply. Write what "
    "leads there, or correct the name.",
    "PRIORITY_RANGE": "Priorities are whole numbers from 0 to 1000000. Lower goes first.",
    # texts that are programs
    "PATTERN_BLANK": "Without a condition nothing can be compared. Write one, or ANY where that is allowed.",
    "PATTERN_TOO_BROAD": "The pattern fits nearly every text, and so would collide with other intents. Make it longer.",
    "REGEX_INVALID": "The expression does not compile; the message says where and why. See: patterns.",
    "REGEX_UNSUPPORTED": "The expression uses what this engine leaves out so that no pattern can "
    "hang a turn (look-ahead, back-references). The message gives a rewriting where one is known.",
    "REGEX_FLAGS_POSITION": "Flags such as (?i) stand at the very start or nowhere. Matching ignores case anyway.",
    "REGEX_DOUBLE_BACKSLASH": "Two backslashes look for a backslash. For a word boundary write one.",
    "REGEX_BOUNDARY_ASCII": "A word boundary knows the letters a to z alone, so it fails beside é or ß. Write "
    "(?:^|\\W) and (?:\\W|$) instead.",
    "JSONPATH_INVALID": "The path cannot be read; the message says where. See: JSON paths.",
    "JSON_INVALID": "The text is no JSON; the message says in which line and column.",
    "TEMPLATE_INVALID": "The template cannot be read; the message says where. See: templates.",
    "TEMPLATE_VAR_UNKNOWN": "The engine gives no such name and the intent's schema has no such field. An answer leaves "
    "it empty; a prompt for a model fails. Correct the name, or have a rule set it.",
    "TEMPLATE_OLDER_FORM": "The text uses an older way of writing names. Saving stores it in the present one.",
    "PATH_ALWAYS_MATCHES": "The path asks for something that every turn has, so it always holds. Compare it "
    "with a value.",
    # intents and classifiers
    "DESCRIPTION_BLANK": "The model chooses intents by this text alone. Say when the intent applies.",
    "NO_RESPONSE_FOR_INTENT": "No answer fits this intent in any state, so a turn that ends there fails.",
    "RESET_INTENT_MIXED": "This intent starts the conversation over as soon as it is found, so its rows are "
    "never reached.",
    "CLASSIFIER_INTENT": "A classifier names one intent as its result. ANY and UNKNOWN are no results.",
    "CLASSIFIER_OVERLAP": "A classifier of another intent fits the same texts. When both fit, neither decides.",
    "SEMANTIC_NOT_INSTALLED": "This installation cannot compare what texts mean, so the row is not used.",
    # rules
    "RULE_TYPE": "The kind of test is none that there is. Choose one of the list.",
    "PHASE": "The moment is none that there is. Choose one of the list.",
    "ACTION": "The action is none that there is. Choose one of the list.",
    "ACTION_VALUE_REQUIRED": "The action needs a value: a state, an intent, a name. The form offers what fits.",
    "PHASE_POINTLESS": "In this phase the action comes too late to have an effect.",
    "ENGINE_KEY_WRITE": "A step of the engine writes this param too; what the rule writes is seen by later steps only.",
    "RULE_ALWAYS_TRUE": "The rule has no scope and no condition: it applies to every conversation on every turn.",
    "RULE_FLIP_FLOP": "Two rules undo one another. They are stopped after a few passes; give one a condition.",
    "STATE_WITHOUT_RESPONSE": "The rule leads to a state that no answer fits, so a turn that ends there fails.",
    "STATE_GRAPH_MISSING_EDGE": "The rule moves between states in a way that the graph does not allow.",
    "RULE_GONE": "The row is for events of a rule that is not there any more.",
    # state graph
    "EDGE_SELF": "A state may always stay as it is, so an edge to itself says nothing.",
    "STATE_UNREACHABLE": "The graph has no edge that leads to this state.",
    "RULE_OUTSIDE_GRAPH": "A rule makes a move that the graph does not allow; the turn will be flagged.",
    # schemas and prompts
    "SCHEMA_INTENT_ANY": "A schema belongs to one intent, not to all of them.",
    "SCHEMA_SHAPE": 'A schema is an object with "type": "object" and at least one field in "properties".',
    "SCHEMA_REQUIRED": '"required" names a field that "properties" does not have.',
    "SCHEMA_NO_REQUIRED": "No field is required, so the form is complete before anybody asked anything.",
    "SCHEMA_RESERVED_FIELD": "The engine keeps something of its own under this name. Choose another name.",
    "SCHEMA_NO_PROMPT": "A model reads this form, and no template tells it how. Write one of kind SCHEMA_JSON.",
    "SCHEMA_OPTION_SHADOWED": "Another schema of the same scope always wins over this one.",
    "CONFIRM_STATE_NO_SCHEMA": "The user may confirm or edit in this state, but no schema applies there.",
    "SCHEMA_PROMPT_INTENT_ANY": "Templates that read fields belong to one intent.",
    "RESPONSE_TYPE_PROMPT": "A template is for reading fields (SCHEMA_JSON) or for writing a TEXT or JSON answer.",
    "PROMPT_WITHOUT_RESPONSE": "No answer is written with this template, so it is not used yet.",
    "TEMPERATURE": "Temperature is a number from 0 (always the same) to 2 (free).",
    "CONTRACT_SHAPE": 'A contract is JSON with the lists "allows" and "expects".',
    "CONTRACT_UNKNOWN_WORD": "The engine knows no such word in a contract, and ignores it.",
    "CONTRACT_CONTRADICTS_MODE": "The mode usually allows this; the contract does not name it, so it is off.",
    "TWO_TEMPLATES": "Another template has the same use and scope; the newest is used.",
    # answers
    "EXACT_TEXT_REQUIRED": "An answer that is given as written needs its text.",
    "LAST_FALLBACK": "This is the only answer to messages that nothing understands; without it those turns fail.",
    "DERIVED_WITHOUT_MODEL": "A model is to write this answer, and none is configured.",
    "DERIVED_NO_PROMPT": "A model is to write this answer, and no template fits, so the turn fails.",
    "DERIVED_NO_HINT": "The model is given the template alone. A hint says what matters in this answer.",
    "JSON_SCHEMA_FOR_TEXT": "A schema of the answer means something for JSON answers of a model alone.",
    "VERBOSE_NO_TEXT": "A progress text says something: a message, a message for errors, or both.",
    # settings
    "CONFIG_KEY_UNKNOWN": "Nothing reads a setting of this name; the message offers the nearest one.",
    "CONFIG_KEY_RENAMED": "This is an older name of a setting; it is stored under the present one.",
    "RESET_CODES_UNKNOWN": "The list names an intent that is not there.",
    "SECRET_IN_CONFIG": "Rows are seen by many and kept for ever. Secrets belong into the deployment's environment.",
    # actions, tools and data
    "PARAM_NAME": "Names of params have letters, digits and _ . - only.",
    "PARAM_NOT_IN_SCHEMA": "The intent's schema has no such field, so the user's text is sent in its place.",
    "PROVIDER_UNKNOWN": "This installation has no provider for that address. The message lists those that it has.",
    "ACTION_KEY_BLANK": "An action needs a key, by which rules and answers name it.",
    "ACTION_SCOPE_ANY": "With this scope a plain yes anywhere can run the action. Give it an intent or a state.",
    "ACTION_NO_DESCRIPTION": "When several actions could be meant, users are shown this text.",
    "ACTION_AMBIGUOUS": "Two actions have the same priority here, so the user is asked which one is meant.",
    "TOOL_UNKNOWN": "There is no such tool.",
    "TOOL_SCOPE": "The tool is not there for this scope, or switched off, so the call is always left out.",
    "TOOL_SCOPE_ANY": "Every intent and state may call this tool. Narrow it unless that is meant.",
    "TOOL_GROUP_MISMATCH": "The tool belongs to another group than the row says.",
    "TOOL_NO_DESCRIPTION": "The planner knows nothing of the tool but this text.",
    "NO_EXECUTOR": "This installation has nothing that runs tools of this group.",
    "ARGS_SHAPE": "Arguments are a JSON object: a name and a value each.",
    "DATABASE_UNKNOWN": "Tools of this installation may not read a database of that name.",
    "DB_TOOL_WITHOUT_SQL": "Nothing says what the tool does: it has no statement and no code.",
    "HTTP_TOOL_WITHOUT_HANDLER": "Nothing says what the tool does: it has no call and no code.",
    "CONNECTION_UNKNOWN": "This installation has no HTTP connection of that name.",
    "SQL_PARAM_UNDECLARED": "The statement uses a value that the parameter schema does not have.",
    "SQL_PARAM_UNUSED": "The parameter schema has a value that the statement does not use.",
    "SQL_NOT_READONLY": "The statement is not one query that only reads; the message says what in it is not allowed.",
    "SQL_NO_LIMIT": "The database may read far more rows than are kept. Add LIMIT :limit.",
    "IDENTIFIER_UNLISTED": "A name that is filled in as an identifier needs the list of what it may be.",
    "MAX_ROWS": "From 1 to 10000 rows.",
    "MATCH_VALUE": "One name of a function or keyword: letters, digits and underscore.",
    "PLANNER_NO_TOOLS_VAR": "The planner can call only what it is shown. Put {{mcp_tools}} into the prompt.",
    "PLANNER_TOOL_UNKNOWN": "The prompt names a tool that may not be called in this scope.",
    "TWO_PLANNERS": "Another planner prompt has the same scope; the newer one is used.",
    # policies and models
    "POLICY_BLOCKS_EVERYTHING": "The pattern fits every message, so nobody would be answered.",
    "LLM_NOT_CONFIGURED": "A model is to judge this row, and none is configured.",
}
