"""Figures on the console's pages are written alike: with separators, and with the right number."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.template.loader import render_to_string

_OPTIONS = SimpleNamespace(verbose_name="notification", verbose_name_plural="notifications")


@pytest.mark.parametrize(
    ("template", "count", "shown"),
    [
        ("pagination", 10_680, "10,680 notifications"),
        ("pagination", 1, "1 notification "),
        ("search_form", 10_680, "10,680 results"),
        ("search_form", 1, "1 result "),
    ],
)
def test_list__its_total__has_separators_and_the_right_number(template: str, count: int, shown: str) -> None:
    listed = SimpleNamespace(result_count=count, opts=_OPTIONS, search_fields=("id",), params={}, query="x")
    page = render_to_string(f"admin/{template}.html", {"cl": listed, "show_result_count": True})
    assert shown in " ".join(page.split())
