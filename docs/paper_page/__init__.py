"""Writes docs/paper.md from the rows in results/: `page` puts it together, each part has a module of its own."""
