import pytest

# What these modules assert is told as fully as what a test does.
pytest.register_assert_rewrite("tests.live.ledger", "tests.live.processes")
