"""How good a seller's words are: the test, the games it uses, the listeners that judge them."""
