"""*Ask only if*: fields that are asked for by the value of an earlier one, as `if` and `then` of a JSON Schema."""

from collections.abc import Iterator, Mapping, Sequence

from convengine.engine.text.wording import did_you_mean, join_alternatives, join_names
from convengine.json_value import Json

Values = dict[str, Json]
Document = Mapping[str, Json]
IS, IS_NOT = "=", "!="
#: The types of fields that can decide.
DECIDING = ("choice", "yes_no", "number")
_YES_NO = {"yes": True, "no": False}


class DependencyInvalid(ValueError):
    """A value that the deciding field never has; the message says which it may have."""


# --- the JSON Schema ----------------------------------------------------------------------------------------------


def write_rules(fields: Sequence[Document]) -> list[Values] | None:
    """The rules of a form; None for one without dependent fields."""
    return [_write_rule(field) for field in fields if "only_if" in field] or None


def _write_rule(field: Document) -> Values:
    decides = field["only_if"]
    value = {"const": decides["value"]}
    test = {"not": value} if decides["operator"] == IS_NOT else value
    name = field["name"]
    # What is only named by `true` may be skipped.
    then: Values = {"required": [name]} if field.get("required", True) else {"properties": {name: True}}
    return {"if": {"properties": {decides["field"]: test}, "required": [decides["field"]]}, "then": then}


def read_rules(rules: Json, fields: Sequence[Document]) -> list[Values]:
    """The fields, with those marked that depend on others. Rules of another shape are left out."""
    read = filter(None, map(_read_rule, rules if isinstance(rules, list) else ()))
    dependent = {part["name"]: part for part in read}
    marked = [dict(field) for field in fields]
    for field in marked:
        if part := dependent.get(field["name"]):
            field["only_if"] = part["only_if"]
            if part["required"]:
                field.pop("required", None)
    return marked


def _read_rule(rule: Json) -> Values | None:
    """The name of the dependent field, whether it is required, and on what it depends. None for another rule."""
    try:
        ((decider, test),) = rule["if"]["properties"].items()
        operator = IS_NOT if "not" in test else IS
        is_required = "required" in rule["then"]
        (name,) = rule["then"]["required" if is_required else "properties"]
        value = (test["not"] if operator == IS_NOT else test)["const"]
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    only_if = {"field": decider, "operator": operator, "value": value}
    part = {"name": name, "required": is_required, "only_if": only_if}
    return part if _write_rule(part) == rule else None


# --- what is written on the page ----------------------------------------------------------------------------------


def describe_dependency(only_if: Document, titles: Mapping[str, str]) -> str:
    """Of what the field depends, in words: “Insured is yes”."""
    title = titles.get(only_if["field"], only_if["field"])
    return f"{title} {'is not' if only_if['operator'] == IS_NOT else 'is'} {format_value(only_if['value'])}"


def format_value(value: Json) -> str:
    """The value of a deciding field as people write it."""
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def read_value(decider: Document, text: str) -> Json:
    """The value of a deciding field that somebody wrote, also an option by its label. Raises DependencyInvalid."""
    typed = text.strip().casefold()
    match decider["type"]:
        case "yes_no":
            if typed in _YES_NO:
                return _YES_NO[typed]
            raise DependencyInvalid(f"Enter yes or no, the values of “{decider['title']}”.")
        case "number":
            try:
                number = float(typed.replace(",", "."))
            except ValueError:
                raise DependencyInvalid(f"Enter a number, as “{decider['title']}” has it.") from None
            return int(number) if number.is_integer() else number
    options = decider.get("options", ())
    for option in options:
        if typed in (str(option["value"]).casefold(), str(option.get("label", "")).casefold()):
            return option["value"]
    names = [str(option["value"]) for option in options]
    hint = did_you_mean(text.strip(), names) or f" Its choices are {join_names(names)}."
    raise DependencyInvalid(f"“{decider['title']}” has no choice “{text.strip()}”.{hint}")


def find_dependency_problems(fields: Sequence[Document]) -> Iterator[str]:
    """A sentence for each `only_if` that names no earlier field that can decide, or a value that it never has."""
    deciders: dict[str, Document] = {}
    for number, field in enumerate(fields):
        if only_if := field.get("only_if"):
            path, decider = f"fields.{number}.only_if", deciders.get(only_if["field"])
            if decider is None:
                known = join_alternatives(list(deciders) or ["a field before this one"])
                yield (
                    f"{path}: {only_if['field']!r} is not an earlier field with choices, a number, or yes and no. "
                    f"Use {known}."
                )
            else:
                try:
                    is_known = read_value(decider, format_value(only_if["value"])) == only_if["value"]
                except DependencyInvalid as error:
                    yield f"{path}: {error}"
                else:
                    if not is_known:
                        yield f"{path}: {only_if['value']!r} has another type than the values of its field."
        if field["type"] in DECIDING:
            deciders[field["name"]] = field
