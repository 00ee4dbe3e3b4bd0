"""Tour: the page in one screen."""
