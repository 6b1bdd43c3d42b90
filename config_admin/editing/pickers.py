"""The options of pickers: names of the configuration in force, and of the installation."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from config_admin.editing.context import EditorContext
from config_admin.editing.fields import FormOption
from config_admin.validation.columns import ColumnSpec, Reference, get_column_spec
from config_admin.validation.relations import list_form_fields, list_server_tools
from config_admin.validation.settings import describe_setting
from convengine.engine.prompts.variables import list_known_names
from convengine.engine.rules import vocabulary
from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.enums import DialogueAct, ToolGroup, Vocabulary
from convengine.engine.turn.facts import RESERVED_FACTS
from convengine.engine.turn.labels import step_label
from convengine.engine.turn.local_time import CLOCK
from convengine.engine.turn.params import PARAMS
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.server.settings_catalogue import TITLES

#: Returns the options of a field.
Source = Callable[[EditorContext], Iterable[FormOption]]
_RESERVED = {
    ANY: FormOption(ANY, "all"),
    UNKNOWN: FormOption(UNKNOWN, "not recognised yet"),
}


def intents(*reserved: str) -> Source:
    """Enabled intents in order, then disabled ones; before them ANY and UNKNOWN where they are allowed."""

    def options(editor: EditorContext) -> Iterator[FormOption]:
        yield from (_RESERVED[word] for word in reserved)
        stored = sorted(editor.snapshot.rows(rows.Intent), key=lambda row: (not row.enabled, row.priority, row.pk))
        for row in stored:
            if row.intent_code not in _RESERVED:
                yield FormOption(
                    row.intent_code, row.name if row.enabled else f"{row.name} (disabled)", row.description
                )

    return options


def states(*reserved: str) -> Source:
    """The states that a row names or leads to."""

    def options(editor: EditorContext) -> Iterator[FormOption]:
        yield from (_RESERVED[word] for word in reserved)
        for state in sorted(editor.snapshot.known_states - set(reserved)):
            yield FormOption(state)

    return options


def words(vocabulary_of: type[Vocabulary]) -> Source:
    return lambda editor: [
        FormOption(word.value, _label_option(word.value, word.label), word.help) for word in vocabulary_of
    ]


def _label_option(value: str, label: str) -> str:
    return label if label.replace(" ", "_").upper() == value else f"{label} · {value}"


def rule_actions(editor: EditorContext) -> Iterator[FormOption]:
    for action in vocabulary.list_actions().values():
        help = f"{action.help} Value: {action.value}."
        yield FormOption(action.name, _label_option(action.name, action.label), help, editor=action.picker)


def action_values(editor: EditorContext) -> Iterator[FormOption]:
    """The options for the value of a rule's action, by action."""
    offered: dict[str, Iterable[FormOption]] = {
        "intent": intents()(editor),
        "state": states()(editor),
        "act": words(DialogueAct)(editor),
        "task": tasks_with_methods(editor),
        "params": params(editor),
        "path": params(editor),
        "name": params(editor),
        "names": params(editor),
        "context": list_form_field_options(editor),
        "fields": list_form_field_options(editor),
        "preference": preferences(editor),
    }
    options_by_kind = {kind: list(options) for kind, options in offered.items()}
    for action in vocabulary.list_actions().values():
        for option in options_by_kind.get(action.picker, ()):
            yield option._replace(group=action.name)


def preferences(editor: EditorContext) -> Iterator[FormOption]:
    """All preferences, in the form of SET_PREFERENCE."""
    for kind, names in editor.world.preferences().items():
        for name in names:
            yield FormOption(f"{kind}:{name}")


def params(editor: EditorContext) -> Iterator[FormOption]:
    """Input params that rules may write: those that the engine reads, then those that rules write already."""
    known = {key: f"read by {param.readers}" for key, param in PARAMS.items() if "R" in param.owner}
    rules = editor.snapshot.enabled_rows(rows.Rule)
    memo = editor.snapshot.table(rows.Rule).memo
    for name in memo.get(
        "parameters set by the engine", lambda: {key for rule in rules for key in _list_written_paths(rule)}
    ):
        known.setdefault(name, "written by rules")
    return (FormOption(key, help=description) for key, description in sorted(known.items()))


def _list_written_paths(rule: rows.Rule) -> Iterable[str]:
    """The parameters that a rule writes; none for another action or an invalid value."""
    action = vocabulary.get_action(rule.action)
    if action is None or action.picker != "params":
        return ()
    try:
        return tuple(action.parse(rule.action_value))
    except ActionValueError:
        return ()


def list_form_field_options(editor: EditorContext) -> Iterator[FormOption]:
    return (FormOption(name) for name in sorted(list_form_fields(editor.snapshot, ANY)))


def tools(editor: EditorContext) -> Iterator[FormOption]:
    """Codes of registered tools, grouped by tool group."""
    for row in sorted(editor.snapshot.rows(rows.Tool), key=lambda row: row.tool_code):
        state = "" if row.enabled else " (disabled)"
        yield FormOption(row.tool_code, f"{row.tool_group}{state}", row.description or "", row.tool_group)
    for tool_code in list_server_tools(editor.snapshot):
        yield FormOption(tool_code, ToolGroup.MCP_SERVER.value, group=ToolGroup.MCP_SERVER.value)


def tasks(editor: EditorContext) -> Iterator[FormOption]:
    for name, methods in sorted(editor.world.tasks.items()):
        yield FormOption(name, help=f"Methods: {', '.join(methods)}.")


def methods(editor: EditorContext) -> Iterator[FormOption]:
    """Methods of registered tasks, grouped by task."""
    for name, names in sorted(editor.world.tasks.items()):
        for method in names:
            yield FormOption(method, group=name)


def tasks_with_methods(editor: EditorContext) -> Iterator[FormOption]:
    """Tasks with one method each, in the form of SET_TASK."""
    for name, names in sorted(editor.world.tasks.items()):
        for method in names:
            yield FormOption(f"{name}:{method}")


def steps(editor: EditorContext) -> Iterator[FormOption]:
    return (FormOption(name, "" if name == ANY else step_label(name)) for name in [ANY, *sorted(editor.world.steps)])


def determinants(editor: EditorContext) -> Iterator[FormOption]:
    """Events of progress texts."""
    return (FormOption(name) for name in [ANY, *sorted(editor.world.determinants)])


def connections(editor: EditorContext) -> Iterator[FormOption]:
    return (FormOption(name) for name in sorted(editor.world.http_connections))


def commands(editor: EditorContext) -> Iterator[FormOption]:
    """Commands that an MCP server row may start."""
    return (FormOption(name) for name in sorted(editor.world.stdio_commands))


def setting_types(editor: EditorContext) -> Iterator[FormOption]:
    known = {setting.type for setting in live_settings.CATALOGUE.values()}
    return (FormOption(name, TITLES.get(name, "")) for name in sorted(known))


def setting_keys(editor: EditorContext) -> Iterator[FormOption]:
    """Settings, grouped by type."""
    for setting in sorted(live_settings.CATALOGUE.values(), key=lambda setting: setting.name):
        yield FormOption(setting.key, setting.label, help=describe_setting(setting), group=setting.type)


#: What each kind of reference offers, but for intents and states, which depend on the column.
_SOURCES: Mapping[Reference, Source] = {
    Reference.TOOL: tools,
    Reference.TASK: tasks,
    Reference.METHOD: methods,
    Reference.STEP: steps,
    Reference.EVENT: determinants,
    Reference.CONNECTION: connections,
    Reference.COMMAND: commands,
    Reference.SETTING_TYPE: setting_types,
    Reference.SETTING_KEY: setting_keys,
    Reference.RULE_ACTION: rule_actions,
    Reference.ACTION_VALUE: action_values,
}


def find_source(spec: ColumnSpec) -> Source | None:
    """What the form offers for a column. Returns None for one that anything may be typed into."""
    if spec.reference is Reference.INTENT:
        return intents(*spec.reserved)
    if spec.reference is Reference.STATE:
        return states(*spec.reserved)
    if spec.reference:
        return _SOURCES[spec.reference]
    return words(spec.vocabulary) if spec.vocabulary else None


def get_code_language(column: Any) -> str:
    """The language of a column that is edited as code; blank for other columns. JSON columns are JSON.

    Where another field decides it: `field:VALUE=language,…`.
    """
    return "json" if column.get_internal_type() == "JSONField" else str(get_column_spec(column).language)


def list_suggested_names(editor: EditorContext) -> dict[str, list[str]]:
    """The suggested names: facts at the top, context fields, input params, template names."""
    fields = [option.value for option in list_form_field_options(editor)]
    return {
        "facts": sorted({*RESERVED_FACTS, CLOCK, *fields}),
        "context": fields,
        "params": [option.value for option in params(editor)],
        "template": sorted({*list_known_names(), *RESERVED_FACTS, *fields}),
    }
