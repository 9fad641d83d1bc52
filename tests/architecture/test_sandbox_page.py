"""The page about the sandbox tells all that it takes."""

from __future__ import annotations

from dataclasses import fields

from notifyq.sandbox.magic import PHONE_ENDINGS, Magic
from notifyq.sandbox.weather import Weather
from tests.support.source import ROOT

PAGE = (ROOT / "docs" / "sandbox.md").read_text()


def test_sandbox__each_field_and_each_recipient__is_on_its_page() -> None:
    wanted = [f"| `{field.name}` |" for field in fields(Weather)]
    wanted += [f"| `{magic}@…` | `fcm:{magic}` |" for magic in Magic]
    wanted += [f"`fcm:{magic}` | `{ending}` |" for ending, magic in PHONE_ENDINGS.items()]

    assert [text for text in wanted if text not in PAGE] == []
