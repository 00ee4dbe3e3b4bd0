"""Judge: what a pitch claims, checked."""
