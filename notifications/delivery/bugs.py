"""Where an adapter failed, for the log."""

from __future__ import annotations


def where(error: BaseException) -> str:
    """File and line of the innermost frame: enough to find the bug, with none of its values."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
