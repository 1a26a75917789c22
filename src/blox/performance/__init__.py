"""How fast a job runs where: the truth that the simulation holds, one small file per model."""
