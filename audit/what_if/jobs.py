"""What-if runs in the background of this process, one per caller at a time, with progress and cancel.

The process reports how far it is; a silent run is lost. A run stores keys of turns and codes; pages run the
turns that they show again, so that nothing of people is stored twice.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from audit.models import CeErasure, CeWhatIf, CeWhatIfTurn
from audit.search.form import FindForm
from audit.search.query import SearchQuery
from audit.what_if.engine import ComparedTurn, ConfigurationPair, DifferenceKind
from audit.what_if.selection import TurnKey, select_turns
from convengine.engine.text.compare import shorten
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json
from convengine.server.interfaces.configuration import ConfigurationName, UnsavedRows, named_configurations
from convengine.server.jobs.background_runs import BackgroundRuns, in_parts
from convengine.server.sessions.models import CeConversation

#: The filters of conversations, of those of the search.
FILTERS = ("id", "q", "intent", "state", "feedback", "release", "since", "until")
#: How many conversations a run takes if nothing else is said.
DEFAULT_LAST = 1000
#: The most turns between two reports of the progress.
_BATCH = 200
_NOTE = 300


def start_run(run: CeWhatIf) -> None:
    """Store a run and start it. Raises ReplayBusy while another one of the same owner runs, or too many wait.

    Raises LookupError for a configuration that does not exist, and ValueError for an unreadable name.
    """
    run.title = describe_configuration(run)
    what_ifs.start(run)


def describe_configuration(run: CeWhatIf) -> str:
    """What the configuration of a run is called. Raises LookupError, and ValueError for an unreadable name."""
    name = named_configurations().describe(ConfigurationName.parse(run.configuration))
    return f"{name} with {run.title or 'rows'} as in the form" if run.unsaved else name


def read_comparison(run: CeWhatIf) -> ConfigurationPair:
    """The two configurations of a run as they are now. Raises LookupError if one does not exist any more."""
    # By table and key, as `pack_unsaved` stored them.
    unsaved: dict[str, dict[Any, Mapping[str, Any] | None]] = {}
    for table, pk, row in run.unsaved or ():
        unsaved.setdefault(table, {})[pk] = row
    new = named_configurations().read(ConfigurationName.parse(run.configuration), unsaved or None)
    return ConfigurationPair(new, read_live() if run.base == CeWhatIf.Base.LIVE else None)


def read_live() -> Snapshot:
    return named_configurations().read(ConfigurationName("live"))


def hash_configurations(comparison: ConfigurationPair) -> list[str]:
    """The contents of both configurations; of each turn's own release, nothing."""
    return [comparison.new.content_hash, comparison.old.content_hash if comparison.old else ""]


def pack_unsaved(unsaved: UnsavedRows) -> list[Json]:
    """Unsaved rows as JSON, which has no numbers as keys."""
    return [[table, pk, to_plain(row)] for table, rows in unsaved.items() for pk, row in rows.items()]


def read_search(run: CeWhatIf) -> SearchQuery:
    form = FindForm({name: str(value) for name, value in run.filters.items() if name in FILTERS})
    form.full_clean()
    return form.search(run.workspace_id)


def _describe_failure(error: Exception, key: Any) -> str:
    if isinstance(error, LookupError) and str(error):
        return str(error)
    return f"The run failed. The server log has the details under {key}."


def _compare(run: CeWhatIf) -> None:
    """Compare the turns of a run, and store what is not the same, with the progress after each part."""
    comparison = read_comparison(run)
    keys = select_turns(read_search(run), run.last)
    what_ifs.report(
        run.pk,
        turns=len(keys),
        conversations=len({key.conversation_id for key in keys}),
        hashes=hash_configurations(comparison),
    )
    done = 0
    for results in in_parts(comparison.compare_turns(keys), _BATCH):
        done += len(results)
        _store_results(run, results)
        what_ifs.report(run.pk, done=done)


what_ifs = BackgroundRuns(CeWhatIf, "what-if run", _compare, _describe_failure, most=21)


def _store_results(run: CeWhatIf, results: Sequence[ComparedTurn]) -> None:
    """Store what is not the same: keys and codes alone, blank names without a cause, and shortened notes.

    An erasure meanwhile removes the results of its conversation.
    """
    rows = []
    for result in results:
        if result.kind is not DifferenceKind.SAME or result.is_after_difference:
            table, pk = result.cause or ("", "")
            rows.append(
                CeWhatIfTurn(
                    what_if=run,
                    **result.key._asdict(),
                    kind=result.kind.value,
                    is_after_difference=result.is_after_difference,
                    table_name=table,
                    row_pk=pk,
                    note=shorten("; ".join(result.notes), _NOTE),
                )
            )
    if not rows:
        return
    keys = {row.conversation_id for row in rows}
    with transaction.atomic():
        stored = set(CeConversation.objects.filter(pk__in=keys).values_list("pk", flat=True))
        CeWhatIfTurn.objects.bulk_create([row for row in rows if row.conversation_id in stored])
        # An erasure either sees the rows above, or is seen here.
        erased = CeErasure.objects.filter(conversation_id__in=keys).values_list("conversation_id", flat=True)
        if gone := set(erased):
            CeWhatIfTurn.objects.filter(what_if=run, conversation_id__in=gone).delete()


def find_key(row: CeWhatIfTurn) -> TurnKey:
    return TurnKey(row.conversation_id, row.turn_no, row.history_id)
