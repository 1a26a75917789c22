"""The film of finished runs: what a browser needs to show any moment of them, and the queue at a moment."""
