"""The leaves missions are made of, one small class each, grouped by capability."""
