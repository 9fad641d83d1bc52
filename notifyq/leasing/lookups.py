"""The pieces of SQL that the hot statements need and Django does not have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import FloatField, Func, Lookup, OneToOneField, UUIDField

from notifyq.leasing.arrays import literal


@OneToOneField.register_lookup
@UUIDField.register_lookup
class AnyOf(Lookup):
    """`id__any=[…]`: one array parameter. `id__in` builds one placeholder per id, which is slower by half."""

    lookup_name = "any"
    prepare_rhs = False

    def __init__(self, lhs: Any, rhs: Iterable[UUID]) -> None:
        super().__init__(lhs, list(rhs))

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        left, params = self.process_lhs(compiler, connection)
        return f"{left} = ANY(%s::uuid[])", (*params, literal(self.rhs))


class SecondsSince(Func):
    """Seconds from an instant until now by the database's clock, as a float (loading a timestamp costs far more)."""

    template = "EXTRACT(EPOCH FROM STATEMENT_TIMESTAMP() - %(expressions)s)::float8"
    output_field = FloatField()
