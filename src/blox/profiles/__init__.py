"""Profiles: what was measured of models and applications, in small tables that name their source."""
