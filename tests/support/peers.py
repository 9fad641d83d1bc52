"""Packages from others that are tested against, and that only CI insists on (the extra `peers`)."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

import pytest


def need(name: str) -> ModuleType:
    """The module `name`. Where it is not installed the test is skipped, in CI it fails."""
    if os.environ.get("CI") == "true":
        return import_module(name)
    module: ModuleType = pytest.importorskip(name, reason=f"{name} is not installed (the extra peers has it)")
    return module
