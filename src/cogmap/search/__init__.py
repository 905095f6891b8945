"""The shortest true account of walks, from a first guess of the states. To be read in this order:

`description` says how many nats an account takes, with `slips` for chance that all moves share. `account` settles
states by expectation-maximisation. `shortest` is the search: it merges by `distance` and by `pairs`, adds and drops
`edges`, lets `sights` err, splits by `splits` where `doubt` says that one state may be several, and leads moves
elsewhere by `reroute`. Where there is no chance in the world and states are still in doubt, `anneal` changes moves at
random, by the `rules` that they have in common.
"""
