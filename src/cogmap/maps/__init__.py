"""From codes and predicted futures to a map with probabilities. To be read in this order:

How a map is made: `build` is the whole way. `canonical` gives the first guess: codes with one future are one. The
package `search` finds the shortest account of the walks from there. Where nothing is left to chance, `opinions`,
`fold` and `refold` give a machine that no step contradicts, `traces` and `rewire` one with fewer states; `agreed` and
`certain` say what is sure of it. `trust` scores the map on walks that it was not made from. `paper` is the paper's map,
for which `shared` tells apart places that share a code; `atlas` is that of a family of rooms, `latent` that of a text.

How a map is used: `recount` counts more walks, `machine` and `dream` see it as a Mealy machine and as an environment,
`store` and `export` write it. Where an agent is on it says `hmm.belief`.
"""
