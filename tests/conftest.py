"""What holds for every test: a busy machine is no failure, and each run tries the same.

New examples are looked for by `make faults` and `make fuzz`. Mutants are looked for quickly.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize=True)
settings.register_profile("quick", deadline=None, max_examples=10, derandomize=True)
settings.load_profile("house")
