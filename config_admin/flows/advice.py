"""Advice on the inputs of a flow while it is typed: phrases that other intents take, and names that no text knows."""

import re
from collections.abc import Collection, Mapping, Sequence

from django.template.defaultfilters import pluralize

from config_admin.editing.countries import name_country
from config_admin.flows.document import Document, FlowKind
from config_admin.validation.phrase_overlaps import PhraseOverlap, describe_phrase
from config_admin.validation.programs import ENGINE_NAMES, list_known_names
from config_admin.validation.template_faults import describe_template_fault
from convengine.engine.prompts import render
from convengine.engine.text.compare import shorten_line
from convengine.engine.text.wording import did_you_mean
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.language import MANY_COUNTRIES, find_country
from convengine.server.interfaces.older_templates import ConversionError, convert

#: A value inside a text, with the blanks before it.
_INSERTED = re.compile(r"(?P<blanks>[ \t]*)\{\{-?\s*(?P<name>[A-Za-z_]\w*)[^{}]*\}\}")
#: What stands between the signs of a value: a name, or the title of a field.
_BRACES = re.compile(r"(?P<before>\{\{-?\s*)(?P<title>[^{}|\s](?:[^{}|]*[^{}|\s-])?)(?P<after>\s*(?:-?\}\}|\|))")
#: Operators of a template are words, too.
_WORDING = re.compile(r"(?!.*\b(?:if|else|and|or|not|in|is)\b)\w+(?:[ '’]+\w+)+\??")
#: How many phrases are named.
_MAX_REPORTED = 5
#: A flow with fewer phrases gets advice.
_ENOUGH_PHRASES = 5
#: Names besides the fields that a text may use, by kind of flow, and what they stand for.
_NAMES: Mapping[str, Mapping[str, str]] = {
    FlowKind.collect: {"form_summary": "all values"},
    FlowKind.lookup: {"tool_result.result": "what the tool found"},
}


def describe_overlaps(snapshot: Snapshot, overlaps: Sequence[tuple[str, PhraseOverlap]]) -> list[str]:
    """The phrases that do not lead to the flow alone, each with the phrase of the other intent."""
    lines = []
    for phrase, overlap in overlaps:
        shown = shorten_line(phrase, 60)
        if overlap.taking:
            taking = describe_phrase(snapshot, overlap.taking[0])
            lines.append(f"“{shown}” does not lead here: the {taking} decides.")
        elif overlap.is_asked:
            other = describe_phrase(snapshot, overlap.others[0])
            lines.append(f"“{shown}” also fits the {other}. Users are asked which one they mean.")
    more = len(lines) - _MAX_REPORTED
    return [
        *lines[:_MAX_REPORTED],
        *([f"{more} more phrase{pluralize(more, ' is,s are')} taken by other intents."] if more > 0 else []),
    ]


def describe_few_phrases(phrases: Sequence[str]) -> list[str]:
    if not 0 < len(phrases) < _ENOUGH_PHRASES:
        return []
    return ["Few phrases: write about ten, short and long ones, in the users' own words."]


def describe_single_phrasing(questions: Sequence[str]) -> list[str]:
    return ["Only one phrasing: add two or three in other words."] if len(questions) == 1 else []


def describe_assumed_country(of_customers: str, locale: str) -> str:
    """How a phone number without a country code is read, where the field names no country."""
    source = "the country of your customers (see the settings)" if of_customers else f"the country of {locale}"
    country = of_customers or find_country(locale)
    if country and country != MANY_COUNTRIES:
        return f"A number without a country code is taken for one of {name_country(country)}, {source}, if it is one."
    return "A number without a country code keeps its digits as typed."


def list_names(kind: str, fields: Sequence[Document]) -> list[tuple[str, str]]:
    """The names that a text of the flow can use, with what they stand for."""
    asks = kind in (FlowKind.collect, FlowKind.lookup)
    return [*((field["name"], field["title"]) for field in fields if asks), *_NAMES.get(kind, {}).items()]


def replace_field(text: str, name: str, other: str) -> str:
    """A text with another field in the place of one, or without it for a blank one."""

    def write(match: re.Match[str]) -> str:
        if match["name"] != name:
            return match[0]
        return f"{match['blanks']}{{{{ {other} }}}}" if other else ""

    return _INSERTED.sub(write, text)


def write_names(text: str, names: Mapping[str, str]) -> str:
    """A text with the names of fields in place of their titles. `names`: by the folded title."""

    def write(match: re.Match[str]) -> str:
        return f"{match['before']}{names.get(match['title'].casefold(), match['title'])}{match['after']}"

    return _BRACES.sub(write, text)


class NameAdvice:
    """Tells names that the texts of a flow use, and that nothing provides."""

    def __init__(self, snapshot: Snapshot, flow_code: str, stored: Collection[str], fields: Sequence[Document]) -> None:
        """`stored`: the names of the form's fields before. `fields`: those of the page."""
        self._titles = {field["title"].casefold(): field["name"] for field in fields}
        self._shown = [field["title"] for field in fields]
        self._fields = set(self._titles.values())
        self._gone = set(stored) - self._fields
        self._known = (list_known_names(snapshot, flow_code) - set(stored)) | ENGINE_NAMES | self._fields

    def check_text(self, text: str) -> list[str]:
        if unknown := self._find_unknown_title(text):
            return [self._describe_unknown_name(unknown)]
        text = write_names(text, self._titles)
        try:
            converted = convert(text).text
            render.check_template(converted)
        except ConversionError as error:
            return [f"This text is not valid: {error.reason}."]
        except render.TemplateError as error:
            return [f"This text is not valid. {describe_template_fault(text, error)}"]
        names = {name.partition(".")[0] for name in render.list_names(converted)}
        return list(map(self._describe_unknown_name, sorted(names - self._known)))

    def find_misspelled(self, text: str) -> list[str]:
        """What is wrong with the names in a text that nothing provides, and that are near to a field."""
        unknown = self._find_unknown_title(text)
        names = {match["title"].partition(".")[0] for match in _BRACES.finditer(write_names(text, self._titles))}
        listed = [unknown] if unknown else sorted(names - self._known)
        return [self._describe_unknown_name(name) for name in listed if unknown or self._suggest(name)]

    def _find_unknown_title(self, text: str) -> str:
        """The first name in braces that is written in words and is not the title of a field; blank without one."""
        titles = (match["title"] for match in _BRACES.finditer(text))
        return next((each for each in titles if _is_wording(each) and each.casefold() not in self._titles), "")

    def list_gone_fields(self, text: str) -> list[str]:
        """The fields that a text names and that the page no longer has."""
        names = {match["name"] for match in _INSERTED.finditer(text)}
        return sorted(names & self._gone - set(self._known))

    def _describe_unknown_name(self, name: str) -> str:
        hint = self._suggest(name) or did_you_mean(name, self._known)
        return f"{{{{ {name} }}}} is no known name: nothing is shown in its place.{hint}"

    def _suggest(self, name: str) -> str:
        """The field that is called almost so: words by its title, a name by its name."""
        first, second = (self._shown, self._fields) if _is_wording(name) else (self._fields, self._shown)
        return did_you_mean(name, first) or did_you_mean(name, second)


def _is_wording(text: str) -> bool:
    """True for words with blanks or an apostrophe between, which no name has and no expression begins with."""
    return bool(_WORDING.fullmatch(text))
