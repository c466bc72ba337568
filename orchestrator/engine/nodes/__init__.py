"""What kinds and modifiers of the language become: nodes of our own, with the run's clock where time is involved."""
