"""How many examples Hypothesis tries: all in `make test-nightly`, a quarter in `make test`."""

import os

ALL = os.environ.get("CE_TEST_EXAMPLES") == "all"


def count_examples(count: int) -> int:
    """The number for a test that tries `count` examples in the long run."""
    return count if ALL else count // 4
