"""`manage.py doctor`: what is wrong with an installation, and what to do about it. Looks, and changes nothing."""

from notifyq.doctor.examination import examine
from notifyq.doctor.finding import Finding, Level

__all__ = ["Finding", "Level", "examine"]
