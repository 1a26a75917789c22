"""How property tests draw their examples: the same ones every time, however long each takes."""

from hypothesis import HealthCheck, settings

ALLOWED = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.function_scoped_fixture,  # examples of a test write over one another's files
]


def examples(count, **others):
    """A decorator: a test is tried on this many examples. `others` are hypothesis' own settings."""
    return settings(
        derandomize=True, deadline=None, max_examples=count, suppress_health_check=ALLOWED, **others
    )
