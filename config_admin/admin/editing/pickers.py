"""What forms offer to choose from: names of the configuration in force, and of what is installed."""

from collections.abc import Callable, Iterable, Iterator

import convengine.domain.catalogue  # noqa: F401  (completes the catalogue)
from config_admin.admin.desk import Desk
from config_admin.admin.editing.fields import Option
from config_admin.validation.relations import schema_fields
from convengine.domain import rows, settings
from convengine.domain.enums import DialogueAct, Word
from convengine.domain.params import PARAMS
from convengine.domain.scope import ANY, UNKNOWN
from convengine.rules import vocabulary
from convengine.rules.actions.contract import ActionValueError

#: Gives the options of a field.
Source = Callable[[Desk], Iterable[Option]]
_RESERVED = {
    ANY: Option(ANY, "every one"),
    UNKNOWN: Option(UNKNOWN, "nothing resolved yet"),
}


def intents(*reserved: str) -> Source:
    """Enabled intents in their order, then switched off ones; before them ANY and UNKNOWN where they are legal."""

    def options(desk: Desk) -> Iterator[Option]:
        yield from (_RESERVED[word] for word in reserved)
        stored = sorted(desk.snapshot.rows(rows.Intent), key=lambda row: (not row.enabled, row.priority, row.pk))
        for row in stored:
            if row.intent_code not in _RESERVED:
                yield Option(row.intent_code, row.name if row.enabled else f"{row.name} (disabled)", row.description)

    return options


def states(*reserved: str) -> Source:
    """The states that something names or leads to (R93)."""

    def options(desk: Desk) -> Iterator[Option]:
        yield from (_RESERVED[word] for word in reserved)
        for state in sorted(desk.snapshot.known_states - set(reserved)):
            yield Option(state)

    return options


def words(vocabulary_of: type[Word]) -> Source:
    """The words of a vocabulary with what each means."""
    return lambda desk: [Option(word.value, _called(word.value, word.label), word.help) for word in vocabulary_of]


def _called(value: str, label: str) -> str:
    return value if label.replace(" ", "_").upper() == value else f"{value} · {label}"


def rule_actions(desk: Desk) -> Iterator[Option]:
    """What a rule may do, and what each action needs."""
    for action in vocabulary.actions().values():
        help = f"{action.help} Value: {action.value}."
        yield Option(action.name, _called(action.name, action.label), help, editor=action.picker)


def action_values(desk: Desk) -> Iterator[Option]:
    """What fits the value of a rule's action, by action."""
    offered: dict[str, Iterable[Option]] = {
        "intent": intents()(desk),
        "state": states()(desk),
        "act": words(DialogueAct)(desk),
        "task": tasks_with_methods(desk),
        "params": params(desk),
        "path": params(desk),
        "name": params(desk),
        "names": params(desk),
        "context": collected(desk),
        "fields": collected(desk),
        "preference": preferences(desk),
    }
    found = {kind: list(options) for kind, options in offered.items()}
    for action in vocabulary.actions().values():
        for option in found.get(action.picker, ()):
            yield option._replace(group=action.name)


def preferences(desk: Desk) -> Iterator[Option]:
    """Everything that a session may prefer, as SET_PREFERENCE takes it."""
    for kind, names in desk.world.preferences().items():
        for name in names:
            yield Option(f"{kind}:{name}")


def params(desk: Desk) -> Iterator[Option]:
    """Input params that rules may write: those that the engine reads, then those that rules write already."""
    known = {param.key: f"read by {param.readers}" for param in PARAMS.values() if "R" in param.owner}
    rules = desk.snapshot.enabled(rows.Rule)
    memo = desk.snapshot.table(rows.Rule).memo
    for name in memo.get("written params", lambda: {key for rule in rules for key in _written(rule)}):
        known.setdefault(name, "written by rules")
    return (Option(key, help=told) for key, told in sorted(known.items()))


def _written(rule: rows.Rule) -> Iterable[str]:
    action = vocabulary.action(rule.action)
    if action is None or action.picker != "params":
        return ()
    try:
        return tuple(action.parse(rule.action_value))
    except ActionValueError:
        return ()


def collected(desk: Desk) -> Iterator[Option]:
    """Fields that schemas collect: they stand in the context."""
    return (Option(name) for name in sorted(schema_fields(desk.snapshot, ANY)))


def tools(desk: Desk) -> Iterator[Option]:
    """Codes of registered tools; the group of each is its tool group."""
    for row in sorted(desk.snapshot.rows(rows.Tool), key=lambda row: row.tool_code):
        state = "" if row.enabled else " (disabled)"
        yield Option(row.tool_code, f"{row.tool_group}{state}", row.description or "", row.tool_group)


def tasks(desk: Desk) -> Iterator[Option]:
    """Names of registered tasks."""
    for name, methods in sorted(desk.world.tasks.items()):
        yield Option(name, help=f"Methods: {', '.join(methods)}.")


def methods(desk: Desk) -> Iterator[Option]:
    """Methods of registered tasks, each for its task."""
    for name, found in sorted(desk.world.tasks.items()):
        for method in found:
            yield Option(method, group=name)


def tasks_with_methods(desk: Desk) -> Iterator[Option]:
    """Tasks with one method each, as SET_TASK takes them."""
    for name, found in sorted(desk.world.tasks.items()):
        for method in found:
            yield Option(f"{name}:{method}")


def steps(desk: Desk) -> Iterator[Option]:
    """Names of steps."""
    return (Option(name) for name in [ANY, *sorted(desk.world.steps)])


def determinants(desk: Desk) -> Iterator[Option]:
    """Events that progress texts may be for."""
    return (Option(name) for name in [ANY, *sorted(desk.world.determinants)])


def connections(desk: Desk) -> Iterator[Option]:
    """Names of the deployment's connections."""
    return (Option(name) for name in sorted(desk.world.http_connections))


def commands(desk: Desk) -> Iterator[Option]:
    """Commands that an MCP server row may start."""
    return (Option(name) for name in sorted(desk.world.stdio_commands))


def setting_types(desk: Desk) -> Iterator[Option]:
    """Who reads settings."""
    return (Option(name) for name in sorted({setting.type for setting in settings.CATALOGUE.values()}))


def setting_keys(desk: Desk) -> Iterator[Option]:
    """Settings, each for its reader."""
    for setting in sorted(settings.CATALOGUE.values(), key=lambda setting: setting.name):
        yield Option(setting.key, help=about(setting), group=setting.type)


def about(setting: "settings.Setting[object]") -> str:
    """What a setting means, what it may be, and what it is when no row says otherwise."""
    parts = [setting.help, f"Allowed: {allowed(setting.kind)}.", f"Default: {default_of(setting)}."]
    if setting.qualifier:
        parts.append(f"May be given for one {setting.qualifier}: {setting.key}.<{setting.qualifier}>.")
    return " ".join(parts)


def allowed(kind: "settings.Kind[object]") -> str:
    """What a value may be, in words."""
    if kind.values:
        return ", ".join(kind.values)
    if kind.minimum is not None and kind.maximum is not None:
        noun = "a whole number" if kind.name == "int" else "a number"
        bound = "on" if kind.maximum >= _UNBOUNDED else f"to {kind.maximum:.10g}"
        return f"{noun} from {kind.minimum:.10g} {bound}"
    return _KINDS.get(kind.name, f"a {kind.name}")


#: From here on a bound is only that of the machine, and not worth telling.
_UNBOUNDED = 2**31 - 1
_KINDS = {
    "bool": "true or false",
    "json": "JSON",
    "list": "words separated by commas",
    "codes": "codes separated by commas",
    "lines": "one entry a line",
    "patterns": "one regular expression a line",
    "regex": "a regular expression",
}


def default_of(setting: "settings.Setting[object]") -> str:
    """The built-in default as a row would say it, shortened."""
    value = setting.default
    if isinstance(value, bool):
        return str(value).lower()
    text = ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
    line = " ".join(text.split()) or "blank"
    return line if len(line) <= 120 else f"{line[:119]}…"
