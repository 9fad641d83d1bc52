"""Packages that vendors wrote, to test against; large, so only CI insists on them."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import pytest


def need(module: str) -> Any:
    """The module; without it the test is skipped, in CI it fails."""
    if os.environ.get("CI") == "true":
        return import_module(module)
    return pytest.importorskip(module)
