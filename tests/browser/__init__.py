"""The page in a real Chromium; a package, so that its files may be named as those one floor up."""
