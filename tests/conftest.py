"""What every test shares: hypothesis tries the same examples each time, and takes its time.

`HYPOTHESIS_PROFILE=explore` looks for new ones.
"""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
