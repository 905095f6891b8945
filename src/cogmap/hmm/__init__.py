"""A hidden Markov model with actions: what a map is made from, and read by. To be read in this order:

`counts` counts which labels follow which. `states` are the counts of a model, `steps` what happens at one step of a
walk, and `passes` and `viterbi` go over whole walks. `inference` is what others call: expectation, maximisation,
prediction, likeliest paths. `belief` is the same filter on the probabilities of a finished map, `reading` its loop.
"""
