"""What carries a plan out: the simulation, and processes of this machine."""
