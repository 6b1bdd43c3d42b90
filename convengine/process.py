"""A server process, ready to serve."""

import gc
import sys

from convengine import conf, wiring

#: A turn makes some ten thousand objects and leaves few cycles: looking for them every seven hundred cost it a sixth.
_BETWEEN_LOOKS = 10_000
#: Seconds that a thread may compute before another one takes over. A turn computes for some three milliseconds; broken
#: off in the middle, each turn of a busy process is under way for longer, on more connections, and costs a third more.
_UNBROKEN = 0.03


def settle() -> None:
    """Load the engine before the first turn asks for it, and let turns run undisturbed.

    Raises what makes the engine impossible, such as PipelineConstraintViolation.
    """
    wiring.engine()
    conf.load("LIVE").start()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_BETWEEN_LOOKS, 20, 20)
    sys.setswitchinterval(_UNBROKEN)
    if conf.get("JOBS_IN_PROCESS"):
        from convengine.jobs.in_process import runner

        runner.start()
