"""The console in a real browser."""

import pytest

IN_THE_BROWSER = [
    pytest.mark.browser,
    pytest.mark.xdist_group("browser"),  # one browser is enough: its tests go to one worker of pytest-xdist
    pytest.mark.django_db(transaction=True),
]
