"""The map explorer: a page and an API over one run folder. It reads saved records only, and never trains."""
