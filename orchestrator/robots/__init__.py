"""Robots: profiles, state, drive and capabilities per vendor. Imports nothing here, so that `facts` stays light."""
