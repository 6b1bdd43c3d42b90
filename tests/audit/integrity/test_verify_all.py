from unittest.mock import Mock

import pytest

from audit.integrity import verify_all as module
from audit.integrity.verify_all import verify_all
from tests.api import Caller

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dialects]


def test_few_turns_start_no_other_process(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    caller.say("hours")
    pool = Mock(side_effect=AssertionError("A process was started."))
    monkeypatch.setattr(module, "ProcessPoolExecutor", pool)

    report = verify_all()

    assert (report.intact, report.turns) == (True, 1)
    with pytest.raises(AssertionError, match="A process was started"):
        verify_all(workers=2)
