"""What carries a plan out in simulation. `blox.cluster` does so with real processes."""
