"""The evidence file: HTML that is built from its own data, so that any change of a visible word shows."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest

from audit.export.evidence.check import Evidence, EvidenceFinding, check_data
from audit.export.evidence.content import render_evidence
from convengine.engine.text.compare import shorten
from convengine.json_value import Json

_DATA = re.compile(r'<script type="application/json" id="evidence">\n(.*)\n</script>')
_ANCHOR = re.compile(r' id="([^"]+)"')
_TAGS = re.compile(r"<[^>]*>")
_SHOWN = 120


class NoEvidence(ValueError):
    """The file is not an evidence file; the message says why."""


def write_file(data: Mapping[str, Json]) -> str:
    return _write_checked(check_data(data))


def check_file(text: str) -> Evidence:
    """Check a file: its data by their hashes, and all visible text against the data. Raises NoEvidence."""
    block = _DATA.search(text)
    if block is None:
        raise NoEvidence("This is not an evidence file: it does not contain the data of one.")
    try:
        evidence = check_data(json.loads(block[1]))
        expected = _write_checked(evidence)
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as fault:
        raise NoEvidence(f"The data of the file cannot be read: {fault}") from fault
    evidence.findings += _compare_texts(expected, text)
    return evidence


def _write_checked(evidence: Evidence) -> str:
    # In HTML, no tag may begin in the data.
    text = json.dumps(evidence.data, separators=(",", ":"))
    return render_evidence(evidence, text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _compare_texts(expected: str, given: str) -> Iterator[EvidenceFinding]:
    """Report each anchor below which a file differs from the one that its data give: the first different line."""
    if expected == given:
        return
    wanted, present = _split_by_anchor(expected), _split_by_anchor(given)
    locations = list(dict.fromkeys([*wanted, *present]))
    reported = False
    for location in locations:
        pairs = zip_longest(wanted.get(location, ()), present.get(location, ()), fillvalue="")
        different = next(((right, wrong) for right, wrong in pairs if right != wrong), None)
        if different:
            reported = True
            right, wrong = map(_describe_line, different)
            text = f"The file shows {wrong}; its data say {right}."
            if right == wrong:
                text = f"What surrounds {right} was changed."
            yield EvidenceFinding(f"visible text, {location}", text)
    if not reported:
        yield EvidenceFinding("visible text", "Its parts are not in the order that its data give.")


def _split_by_anchor(text: str) -> dict[str, list[str]]:
    """The lines of a file by the anchor above them."""
    lines: dict[str, list[str]] = {}
    location = "beginning"
    for line in text.split("\n"):
        if anchor := _ANCHOR.search(line):
            location = anchor[1].replace("-", " ")
        lines.setdefault(location, []).append(line)
    return lines


def _describe_line(line: str) -> str:
    """The words of a line without its tags, or its tags if it has only those, shortened; "nothing" for a blank one."""
    text = _TAGS.sub(" ", line)
    words = " ".join(text.split()) or line.strip()
    return f"“{shorten(words, _SHOWN)}”" if words else "nothing"
