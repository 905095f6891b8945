"""Other methods, to compare with: clone-structured graphs (`cscg`, on `clone_blocks` and `clone_sweep`) and automata
learners (`automata`). Each gives the states of a hidden Markov model, from which a map is made like any other."""
