"""The guard: the last word before a command leaves. Rules, stops and re-arming as one pure state machine."""
