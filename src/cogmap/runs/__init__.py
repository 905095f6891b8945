"""The run folder: `RunFolder` reads it without torch, `Run` adds the model, `plans` answers questions on it."""
