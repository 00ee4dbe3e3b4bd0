"""One adapter a game: an observation as a prompt, a completion as an action."""
