"""Who we say we are when we call others."""

from __future__ import annotations

VERSION = "0.1.0"
"""As in pyproject.toml: an image runs the code without installing it, so there is no metadata to ask."""

USER_AGENT = f"notify-queue/{VERSION}"
