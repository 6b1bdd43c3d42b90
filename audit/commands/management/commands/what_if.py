"""`manage.py what_if`: which stored turns would differ on a draft or a release."""

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError

from audit.models import CeWhatIf
from audit.search.form import FindForm
from audit.what_if.engine import DIFFERENCES, ComparedTurn, DifferenceKind
from audit.what_if.jobs import DEFAULT_LAST, FILTERS, describe_configuration, read_comparison, read_search
from audit.what_if.results import AFTER, GROUPS
from audit.what_if.selection import MAX_CONVERSATIONS, select_turns
from convengine.engine.turn.codec import dumps
from convengine.server.deployment.exact_command import ExactCommand
from convengine.server.interfaces.configuration import named_configurations

#: The exit status, as of `diff`; the last one when nothing differs and something is unknown.
SAME, DIFFERENT, NOT_RUN, UNKNOWN = range(4)


class Command(ExactCommand):
    """The exit status is 0 when no turn differs, 1 when turns differ, 2 when it could not run, 3 when calls without a
    recorded answer leave it open.
    """

    help = "Run stored conversations on a draft or a release, and list the turns that differ. Nothing is called."

    def add_arguments(self, parser: ArgumentParser) -> None:
        named = parser.add_mutually_exclusive_group(required=True)
        named.add_argument("--configuration", metavar="NAME", help="live, release:12 or draft:7.")
        named.add_argument("--draft", metavar="TITLE", help="The title of an open draft.")
        parser.add_argument(
            "--compare-with",
            choices=["live", "recorded"],
            default="live",
            help="live: with what is live now. recorded: each turn with its own release.",
        )
        parser.add_argument(
            "--last", type=int, default=DEFAULT_LAST, metavar="N", help="The newest N conversations. Default: 1000."
        )
        for name in FILTERS:
            label = FindForm.base_fields[name].label
            parser.add_argument(f"--{name}", default="", help=f"Only conversations with such a turn: {label}.")
        parser.add_argument("--json", action="store_true", help="Print one JSON document instead of text.")

    def handle(self, *args: Any, json: bool, **options: Any) -> None:
        """Run, print and exit. Raises CommandError with the status 2 for what cannot be read."""
        run = _read_run(options)
        try:
            run.title, comparison = describe_configuration(run), read_comparison(run)
        except (LookupError, ValueError) as error:
            text = f"“{run.configuration}” does not exist. Enter the number of a release or of an open draft."
            raise CommandError(str(error) if isinstance(error, ValueError) else text, returncode=NOT_RUN) from None
        keys = select_turns(read_search(run), run.last)
        counts: Counter[str] = Counter()
        turns = []
        for done, result in enumerate(comparison.compare_turns(keys), start=1):
            group = AFTER if result.is_after_difference else result.kind.value
            counts[group] += 1
            if group != DifferenceKind.SAME:
                turns.append(_describe_turn(result))
            if done % 100 == 0:
                self.stderr.write(f"{done} of {len(keys)} turns")
        answer = {
            "configuration": run.configuration,
            "title": run.title,
            "comparedWith": options["compare_with"],
            "conversations": len({key.conversation_id for key in keys}),
            "turns": len(keys),
            "differing": sum(counts[kind] for kind in DIFFERENCES),
            "counts": dict(counts),
            "differences": turns,
        }
        self.stdout.write(dumps(answer) if json else _write_text(answer))
        status = DIFFERENT if answer["differing"] else UNKNOWN if counts[DifferenceKind.NEEDS_MODEL] else SAME
        if status:
            sys.exit(status)


def _read_run(options: Mapping[str, Any]) -> CeWhatIf:
    run = CeWhatIf(
        configuration=options["configuration"] or _find_draft(options["draft"]),
        base=CeWhatIf.Base.LIVE if options["compare_with"] == "live" else CeWhatIf.Base.RECORDED,
        last=options["last"],
        filters={name: options[name] for name in FILTERS if options[name]},
    )
    if not 0 < run.last <= MAX_CONVERSATIONS:
        raise CommandError(f"--last must be between 1 and {MAX_CONVERSATIONS}.", returncode=NOT_RUN)
    for name, errors in FindForm(run.filters).errors.items():
        raise CommandError(f"--{name}: {errors[0]}", returncode=NOT_RUN)
    return run


def _find_draft(title: str) -> str:
    """Raises CommandError."""
    for name, text in named_configurations().list_choices():
        if name.kind == "draft" and text == f"Draft: {title}":
            return str(name)
    raise CommandError(f"There is no open draft “{title}”. List them: draft list.", returncode=NOT_RUN)


def _describe_turn(result: ComparedTurn) -> dict[str, Any]:
    return {
        "conversationId": str(result.key.conversation_id),
        "turnNo": result.key.turn_no,
        "kind": result.kind.value,
        "afterDifference": result.is_after_difference,
        "cause": {"table": result.cause[0], "row": result.cause[1]} if result.cause else None,
        "notes": list(result.notes),
        **{name: side for name, side in result.sides.items() if side},
    }


def _write_text(answer: dict[str, Any]) -> str:
    of = answer["conversations"]
    head = (
        f"{answer['title']}: {answer['differing']} of {answer['turns']} turns differ, in {of} "
        f"conversation{'' if of == 1 else 's'}."
    )
    titles = {**{kind: title for kind, (title, _) in GROUPS.items()}, DifferenceKind.SAME: "Same"}
    lines = [f"{titles[kind]}: {count}" for kind, count in sorted(answer["counts"].items(), key=lambda item: -item[1])]
    for turn in answer["differences"]:
        if turn["afterDifference"]:
            continue
        cause = f", by {turn['cause']['table']} {turn['cause']['row']}" if turn["cause"] else ""
        notes = f": {', '.join(turn['notes'])}" if turn["notes"] else ""
        lines.append(f"{turn['conversationId']} turn {turn['turnNo']}: {titles[turn['kind']].lower()}{cause}{notes}")
        if "new" in turn:
            lines += [f"  - {turn['old']['answer']}", f"  + {turn['new']['answer']}"]
    return "\n".join([head, *lines])
