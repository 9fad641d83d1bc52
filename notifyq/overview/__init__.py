"""The console's front page: what is stuck, since when, and whether work goes on. Knows every app."""
