"""The page of one notification: how it stands and why, what happened to it, and what may be done about it."""

from notifications.admin.story.page import TellsStory

__all__ = ["TellsStory"]
