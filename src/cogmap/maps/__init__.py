"""From codes and predicted futures to a map with probabilities. To be read in this order:

How a map is made: `build` is the whole way. `counts` and `canonical` are the first guess: codes with one future are
one. `states`, `passes` and `hmm` are the hidden Markov model that settles it; `description` says how long an account
of the walks is, and `search` makes it shorter, with `distance` (what to merge), `doubt` (what to split), `reroute`
(what to lead elsewhere) and `slips` (chance that all moves share). Where nothing is left to chance, `fold` and
`certain` give the machine that no step contradicts. `trust` scores the map on walks that it was not made from.
`cluster` is the paper's map.

How a map is used: `belief` and `reading` locate an agent, `recount` counts more walks, `machine` and `dream` see the
map as a Mealy machine and as an environment, `layout`, `reckoning` and `turns` draw it, `store` and `export` write
it.

Other makers: `atlas` for families of rooms, `latent` for texts, `clones` (CSCG) and `automata` to compare with.
"""
