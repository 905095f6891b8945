"""Attacks on this package that stay: kills, broken files, hostile requests. `python -m campaigns` runs them all.

One table is printed and written to results/campaign.csv. The tests run a small seeded share of each campaign.
"""
