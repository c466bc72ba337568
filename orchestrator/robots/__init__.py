"""Robots as missions see them: profiles, capabilities, and what they mean on each vendor's wire."""
