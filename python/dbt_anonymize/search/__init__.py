"""Search of the generalization lattice: which levels keep every guarantee and lose the least."""
