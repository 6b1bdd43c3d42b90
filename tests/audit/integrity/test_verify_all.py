from unittest.mock import Mock

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

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


def test_a_number_of_processes_that_is_none_is_refused_and_is_no_damage() -> None:
    with pytest.raises(CommandError, match="--workers needs a number from 1") as refused:
        call_command("audit_verify", "--workers=-1")
    assert refused.value.returncode == 2
