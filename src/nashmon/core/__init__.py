"""What a battle is, without any engine: formats, dex tables, state, actions, rewards."""
