"""The open market: tasks whose every episode draws prices and a hidden type of seller."""
