"""The published bazaar game: its tasks and graders, its seller, its buyers, the seller's lines."""
