"""The document of a test: a scenario without a configuration, checked before it is stored."""

import re
import uuid
from collections.abc import Iterable, Mapping
from itertools import chain, count

from django.apps import apps
from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Replace
from django.utils import timezone
from django.utils.text import slugify

from config_admin.releases.blobs import canonical, hash_of
from config_admin.test_cases.models import CeTestCase, CeTestCaseTag
from convengine.engine.text.compare import storable
from convengine.engine.turn.codec import to_strict
from convengine.json_value import Json
from convengine.play.in_memory import DATABASE_KEYS, DATABASE_TURN_KEYS, build_test
from convengine.play.scenario import Scenario, ThreadName
from convengine.server.sessions.models import CeConversation

#: The key of a document that names the conversation it was made of. It is no part of a scenario.
CONVERSATION = "conversation_id"
#: Keys of a document that a test stores in columns.
_COLUMNS = ("id", "title", "covers", "why", CONVERSATION)
_TAG = re.compile(r"[^\s,]{1,60}\Z")
#: How many turns a test may have.
MAX_TURNS = 200


class TestRefused(ValueError):
    """A document that is no test; the message says where and why."""

    __test__ = False


def check_document(full: Json) -> Scenario:
    """The scenario of a whole document. Raises TestRefused."""
    _require_storable(full)
    if isinstance(full, Mapping):
        full = {key: value for key, value in full.items() if key != CONVERSATION}
    try:
        scenario = build_test(full)
    except ValueError as error:
        raise TestRefused(str(error)) from error
    if len(scenario.turns) > MAX_TURNS:
        raise TestRefused(f"turns: a test has at most {MAX_TURNS} turns; this one has {len(scenario.turns)}.")
    return scenario


def _require_storable(document: Json) -> None:
    """Raises TestRefused for a text that no database accepts."""
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str) and storable(value) != value:
            raise TestRefused("A text has a NUL or another character that cannot be stored. Remove it.")


def drop_configuration(full: Mapping[str, Json]) -> tuple[dict[str, Json], list[str]]:
    """The document without what brings a configuration of its own, and the names of what was left out.

    Of the thread that the first turn names, the channel stays.
    """
    dropped = [key for key in (*DATABASE_KEYS, "extensions") if full.get(key)]
    document = {key: value for key, value in full.items() if key not in (*DATABASE_KEYS, "extensions")}
    turns: list[Json] = []
    start = full.get("conversation") or {}
    if isinstance(start, dict) and (channel := _read_channel(full)):
        document["conversation"] = {**start, "channel": channel}
    for turn in full.get("turns") or ():
        if not isinstance(turn, dict):
            turns.append(turn)
            continue
        dropped += [key for key in DATABASE_TURN_KEYS if turn.get(key) and key not in dropped]
        turns.append({key: value for key, value in turn.items() if key not in DATABASE_TURN_KEYS})
    return {**document, "turns": turns}, dropped


def _read_channel(full: Mapping[str, Json]) -> str:
    """The channel of the thread that the first turn names; blank for none."""
    first = next(iter(full.get("turns") or ()), None)
    thread = first.get("thread") if isinstance(first, dict) else None
    return str(thread.get("channel") or ThreadName.channel) if isinstance(thread, dict) else ""


def describe_test(case: CeTestCase) -> dict[str, Json]:
    """A test as lists give it, without its document."""
    tags = sorted(tag.tag for tag in case.tags.all())
    return {"id": case.name, "title": case.title, "folder": case.folder, "tags": tags, "owner": case.owner}


def build_full_document(case: CeTestCase, tags: Iterable[str] | None = None) -> dict[str, Json]:
    """The scenario of a test, as a file has it."""
    names = sorted(tag.tag for tag in case.tags.all()) if tags is None else list(tags)
    made_of = str(case.conversation_id) if case.conversation_id else ""
    head = {"id": case.name, "title": case.title, "covers": names, "why": case.why, CONVERSATION: made_of}
    return {**{key: value for key, value in head.items() if value}, **case.document}


def read_scenario(case: CeTestCase) -> Scenario:
    """The scenario of a stored test. Raises TestRefused."""
    return check_document(build_full_document(case, ()))


def split_tags(text: str) -> list[str]:
    """Tags from a text with commas or blanks between them. Raises TestRefused."""
    tags = list(dict.fromkeys(tag for tag in re.split(r"[\s,]+", text.strip().lower()) if tag))
    for tag in tags:
        if not _TAG.match(tag):
            raise TestRefused(f"The tag “{tag[:80]}” is too long. A tag has at most 60 characters.")
    return tags


def store_test(
    full: Mapping[str, Json],
    *,
    editor: str,
    folder: str = "",
    case: CeTestCase | None = None,
) -> CeTestCase:
    """Store a test: `case` changed, or a new one with a free name. Raises TestRefused, also for an erased one.

    A case that is as the document says stays untouched, and so does its `changed_at`.
    """
    _require_storable(full)
    if not isinstance(full.get("covers") or [], list):
        raise TestRefused("covers: write the tags as a list.")
    try:
        document = to_strict({key: value for key, value in full.items() if key not in _COLUMNS})
    except (TypeError, ValueError) as error:
        raise TestRefused(f"The scenario cannot be stored: {error}") from error
    title = str(full.get("title") or "").strip()[:200]
    if not title:
        raise TestRefused("title: the title is missing.")
    tags = split_tags(",".join(map(str, full.get("covers") or ())))
    name = slugify(str(full.get("id") or title))[:100] or "test"
    check_document({**document, "id": name, "title": title})
    conversation_id = _read_conversation(full)
    columns = {
        "title": title,
        "why": str(full.get("why") or ""),
        "folder": _clean_folder(folder),
        "document": document,
        "document_hash": hash_of(canonical(document)),
        **({CONVERSATION: conversation_id} if conversation_id else {}),
    }
    if case and _is_stored(case, columns, tags):
        return case
    with transaction.atomic():
        _require_erasable(conversation_id, case)
        if case is None:
            case = CeTestCase(name=find_free_name(name), owner=editor)
        rename_in_notes(case.title, title)
        for column, value in columns.items():
            setattr(case, column, value)
        case.changed_at, case.changed_by = timezone.now(), editor
        case.save()
        case.tags.exclude(tag__in=tags).delete()
        CeTestCaseTag.objects.bulk_create(
            [CeTestCaseTag(test_case=case, tag=tag) for tag in tags], ignore_conflicts=True
        )
    return case


def _read_conversation(full: Mapping[str, Json]) -> uuid.UUID | None:
    if not (text := full.get(CONVERSATION)):
        return None
    try:
        return uuid.UUID(str(text))
    except ValueError:
        raise TestRefused(f"{CONVERSATION}: write the id of the conversation that the test was made of.") from None


def _require_erasable(conversation_id: uuid.UUID | None, case: CeTestCase | None) -> None:
    """Raises TestRefused if an erasure was faster, or would not find the test any more.

    Locks both rows in the order of an erasure. Needs an open transaction.
    """
    conversations = CeConversation.objects.select_for_update()
    conversation = conversations.filter(pk=conversation_id).first() if conversation_id else None
    # Retention may have removed the conversation after its erasure.
    others = CeTestCase.objects.filter(conversation_id=conversation_id, erased_at__isnull=False)
    if conversation_id and (conversation.is_erased if conversation else others.exists()):
        raise TestRefused("The conversation of this test was erased, so no test can be made of it.")
    stored = CeTestCase.objects.select_for_update().filter(pk=case.pk).first() if case else None
    if stored and stored.erased_at:
        raise TestRefused("This test was erased, so it cannot be changed. Delete it, or make a new one.")
    if stored and conversation_id and stored.conversation_id not in (None, conversation_id):
        raise TestRefused("A test of another conversation has this id. Give this one another id.")


def _is_stored(case: CeTestCase, columns: Mapping[str, Json], tags: Iterable[str]) -> bool:
    """True when a stored test has these values and these tags already."""
    same = all(getattr(case, column) == value for column, value in columns.items())
    return same and set(case.tags.values_list("tag", flat=True)) == set(tags)


def rename_in_notes(before: str, after: str) -> None:
    """Replace the title of a test where the gate quoted it: why a scheduled draft was not published.

    Titles may quote a person, so no note keeps one that no test has.
    """
    if not before or before == after:
        return
    quoted, instead = f"“{before}”", f"“{after}”"
    for model, column in (("CeDraftSchedule", "problem"), ("CeDraftReview", "text")):
        notes = apps.get_model("config_admin", model)._default_manager.filter(**{f"{column}__contains": quoted})
        notes.update(**{column: Replace(column, Value(quoted), Value(instead))})


def _clean_folder(folder: str) -> str:
    return "/".join(part.strip() for part in storable(folder).split("/") if part.strip())[:200]


def find_free_name(name: str) -> str:
    """The name, with a number if a test has it already."""
    taken = set(CeTestCase.objects.filter(name__startswith=name).values_list("name", flat=True))
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(each for each in names if each not in taken)
