"""A server process, ready to serve."""

import gc

from convengine import wiring

#: A turn makes some ten thousand objects and leaves few cycles: looking for them every seven hundred cost it a sixth.
_BETWEEN_LOOKS = 10_000


def settle() -> None:
    """Load the engine before the first turn asks for it, and keep the garbage collector off what stays for good.

    Raises what makes the engine impossible, such as PipelineConstraintViolation.
    """
    wiring.engine()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_BETWEEN_LOOKS, 20, 20)
