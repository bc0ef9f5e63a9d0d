"""Learning algorithms on tensors, and the exactly solvable games that prove them."""
