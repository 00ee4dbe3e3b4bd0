"""Judge: recorded rounds of pitches, and a pitch of the visitor's own."""
