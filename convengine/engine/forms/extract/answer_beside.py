"""The answer to the asked field beside a change of another one: "yes, and make it 11 instead" (R109)."""

import re
from collections.abc import Collection, Iterator
from itertools import islice

from convengine.engine.forms.extract import Extracted, extract
from convengine.engine.forms.form import Field, Form
from convengine.engine.values import (
    Kind,
    ReadingSituation,
    blank_leading_no,
    find_core,
    is_correction,
    is_slip,
    read_value,
)
from convengine.engine.values.language import get_language
from convengine.engine.values.names import is_name_field, takes_name_of_other
from convengine.engine.values.read import list_situations
from convengine.engine.values.yes_or_no import begins_with_plain_answer

#: Between two things that one message says; "but" belongs to what follows.
JOINT = re.compile(
    r"\s*[,;.!–]+\s+(?:(?P<lead>(?:(?:oh|ach|and|und|also|auch|plus)\s+)+|(?=(?:but|aber)\s))|(?=\S))"
    r"|\s+(?P<word>(?:(?:oh|ach)\s+)?(?:and|und|plus)\s+(?:(?:also|auch)\s+)?|(?=(?:but|aber)\s))",
    re.IGNORECASE,
)
#: Longest message with both, and the length in which it is split.
_LONGEST, _MAX_LENGTH = 600, 300
_MOST_JOINTS = 6


def list_answers_beside(
    form: Form, text: str, held: Collection[str], situation: ReadingSituation, asked_path: str | None
) -> Iterator[tuple[tuple[Extracted, ...], str]]:
    """The answer to the asked field in one part of the message and the other part, for each way to split it in two."""
    field = form.field(asked_path) if asked_path else None
    if field is None or len(text) > _LONGEST or not _tells_its_answer(field, situation):
        return
    missing = [other.path for other in form.leaves if other.path not in held]
    joints = list(islice(JOINT.finditer(text[:_MAX_LENGTH]), _MOST_JOINTS))
    # A name may have a joint of its own: "Smith and Sons, and make it Friday".
    for joint in reversed(joints):
        parts = text[: joint.start()], text[joint.end() :]
        is_joined = joint["lead"] is not None or joint["word"] is not None
        for answer, other in (parts, parts[::-1]):
            is_first = answer is parts[0]
            if not _may_answer(field, answer, other, situation, is_first=is_first, is_joined=is_joined):
                continue
            extraction = extract(form, answer, asked_paths=[field.path], missing=missing, situation=situation)
            paths = {item.field for item in extraction.extracted}
            if field.path in paths and paths.isdisjoint(held) and not extraction.rejected:
                yield extraction.extracted, other


def _tells_its_answer(field: Field, situation: ReadingSituation) -> bool:
    """True for a field whose answer is known from what stands beside it: no text but a name."""
    if field.spec.kind is not Kind.TEXT:
        return True
    languages = [get_language(local.locale) for local in list_situations(situation)]
    return any(is_name_field(field.spec, item) or takes_name_of_other(field.spec, item) for item in languages)


def _may_answer(
    field: Field, answer: str, other: str, situation: ReadingSituation, *, is_first: bool, is_joined: bool
) -> bool:
    """True when the part may be the answer, and the other one does not take it back or answer itself."""
    if not answer.strip() or "?" in answer or (is_first and is_slip(other, situation)):
        return False
    if field.spec.kind is Kind.YES_NO:
        # "No, Friday" corrects a day, "no, and can we do Friday" answers too; "please" and "ok" are courtesy.
        is_told = is_joined or blank_leading_no(answer, situation) == answer
        locales = [local.locale for local in list_situations(situation)]
        is_plain = any(begins_with_plain_answer(answer, locale) for locale in locales)
        return is_told and (is_plain or (is_joined and is_first))
    if is_correction(answer, situation) or (is_first and blank_leading_no(other, situation) != other):
        return False
    if field.spec.kind is Kind.TEXT:
        # "Almost, make it 4" and "great, Friday" tell no name.
        words = answer.split()
        return is_first and words[-1][:1].isupper() and (is_joined or len(words) > 1)
    return not read_value(field.spec, find_core(other, situation), situation).has_value
