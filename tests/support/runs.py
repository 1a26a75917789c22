"""Runs in which a part is an object of the test's own."""

from dataclasses import replace


def run_with(experiment, *, skip=True, **parts):
    """Runs an experiment with `parts` (scheduler=, placement=, ...) in place of those that it names."""
    prepared = experiment.prepare()
    prepared.composition = replace(prepared.composition, **parts)
    return prepared.run(skip=skip)
