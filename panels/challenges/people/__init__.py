"""For the record: a person plays five bargains at hidden seeds, which Sauda plays, too."""
