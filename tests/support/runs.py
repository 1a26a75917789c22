"""Runs in which a part is an object of the test's own."""

from dataclasses import replace


def prepared_with(experiment, **parts):
    """A prepared experiment with `parts` (scheduler=, placement=, ...) in place of those that it names."""
    prepared = experiment.prepare()
    prepared.composition = replace(prepared.composition, **parts)
    return prepared


def run_with(experiment, *, skip=True, **parts):
    """Runs an experiment with `parts` in place of those that it names."""
    return prepared_with(experiment, **parts).run(skip=skip)
