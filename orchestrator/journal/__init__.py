"""What happened: the guard's append-only audit of commands, and the history of runs."""
