"""For the console's templates."""

from __future__ import annotations

from django.template import Library

from notifyq.console import words

register = Library()
register.filter("instant", words.instant)
register.simple_tag(words.badge, name="badge")
