"""How the console writes dates and times."""
