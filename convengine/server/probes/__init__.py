"""The addresses that monitoring asks: is the process alive, can it take turns, and its numbers."""

ADDRESSES = ("/livez", "/readyz", "/metrics")
#: The key of an environment that says whether all threads of this process stand, so that no turn can be taken.
ALL_THREADS_STAND = "convengine.all_threads_stand"
