"""What vendors and others wrote, in Python, to test against."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import pytest


def need(module: str) -> Any:
    """The module; where it is not installed the test is skipped, in CI it fails."""
    if os.environ.get("CI") == "true":
        return import_module(module)
    return pytest.importorskip(module, reason=f"{module} is not installed (the extra `peers` has it)")
