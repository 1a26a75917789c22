"""A running cluster in the browser: what has changed is read of its scheduler and pushed to every page."""
