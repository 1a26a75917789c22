"""The walk down a schedule that every placement policy shares."""
