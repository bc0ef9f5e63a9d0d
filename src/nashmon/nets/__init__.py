"""Networks: encoders, memory, heads, the policy made of them, and checkpoints."""
