"""Many cases in one test, where a case is a word of a vocabulary and a test for each would cost more than it checks."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def for_each(names: str, cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test for every case, in place of `parametrize`. It fails with all cases that fail."""
    arguments = names.split(", ")

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def check_all(**fixtures: Any) -> None:
            failures, count = [], 0
            for count, case in enumerate(cases, 1):  # noqa: B007
                values = dict(zip(arguments, case if len(arguments) > 1 else [case], strict=True))
                try:
                    test(**fixtures, **values)
                except Exception as error:
                    failures.append(f"{case!r}: {type(error).__name__}: {error}")
            assert count, f"{test.__name__} has no cases"
            assert not failures, f"{len(failures)} of {count} cases\n" + "\n".join(failures)

        functools.update_wrapper(check_all, test)
        del check_all.__wrapped__  # type: ignore[attr-defined]
        signature = inspect.signature(test)
        others = [value for name, value in signature.parameters.items() if name not in arguments]
        check_all.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return check_all

    return decorate
