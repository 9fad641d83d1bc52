"""The garbage collector of a process that lives long."""

from __future__ import annotations

import gc


def spare_what_is_loaded() -> None:
    """Have the collector leave alone what is there now: modules, models, providers, all of which stay to the end.

    It would go through a hundred thousand objects again and again, and stop all threads for a tenth of a second each
    time.
    """
    gc.collect()
    gc.freeze()
