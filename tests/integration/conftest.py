"""Some tests here commit."""

from tests.support.hangup import hang_up as hang_up
