"""One module a command, each with `Args` (its options) and `run(args)`. `cogmap.cli` holds the table."""
