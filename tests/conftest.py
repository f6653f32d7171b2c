"""What every test shares: hypothesis tries the same examples each time, and takes its time.

`HYPOTHESIS_PROFILE=explore` looks for new ones. An interrupt is Python's own, even where a shell
that started us in the background had it ignored.
"""

import os
import signal

from hypothesis import HealthCheck, settings

SLOW = [HealthCheck.too_slow]  # a timing, which no test may fail by
settings.register_profile(
    "ci", derandomize=True, deadline=None, suppress_health_check=SLOW
)
settings.register_profile(
    "explore", deadline=None, max_examples=2_000, suppress_health_check=SLOW
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
signal.signal(signal.SIGINT, signal.default_int_handler)
