"""What people write while they bargain: prices, tells and dialogue acts in text."""
