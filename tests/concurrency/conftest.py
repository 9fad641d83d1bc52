"""Tests here commit, on connections of their own."""

from tests.support.hangup import hang_up as hang_up
