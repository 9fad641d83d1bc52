"""Having bounded looks at big tables read the order of an index, whatever is known of the tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

# Where nobody has counted yet how much there is, the planner takes it for little, and would have all of it fetched and
# sorted for the sake of the first thousand.
IN_INDEX_ORDER = """
set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true),
set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)
"""


@contextmanager
def in_index_order() -> Iterator[None]:
    """For statements that end at a limit, each with an index that has its order.

    Transaction: the caller's, which stays so to its end, or one of its own.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {IN_INDEX_ORDER}")
        yield
