import subprocess
import sys

from convengine.client import AskedField, Choice, Confirm, StateReport


def test_the_client_needs_no_django() -> None:
    code = "import sys, convengine.client; assert not {'django', 'rest_framework'} & set(sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_an_answer_asks_is_typed() -> None:
    option = {"value": "call", "label": "Call"}
    field = {
        "field": "how",
        "title": "How",
        "type": "string",
        "options": [option],
        "min": None,
        "max": None,
        "format": None,
    }
    raw = {"lifecycle": "AWAITING_USER", "missingFields": [], "pendingClarification": None, "pendingAction": None}

    report = StateReport.read({**raw, "asked": field, "confirm": {"yes": "ja", "no": "nein"}, "choices": [option]})

    assert report.asked == AskedField("how", "How", "string", [Choice("call", "Call")], None, None, None)
    assert (report.confirm, report.choices) == (Confirm("ja", "nein"), [Choice("call", "Call")])
    assert StateReport.read(raw).asked is None
