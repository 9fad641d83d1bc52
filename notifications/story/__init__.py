"""What happened to one notification, why it is where it is, and what may be done about it now."""
