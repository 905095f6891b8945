"""Attacks on this package that stay: kills, broken files, hostile requests. `python -m campaigns` runs them all.

Each campaign is a module with `run(scale, folder, done)`, which yields rows of the one table that is printed and written to
results/campaign.csv. The tests run a small seeded share of each.
"""
