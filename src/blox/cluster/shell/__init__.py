"""Thin shells around the state machines: gRPC, SQLite, processes. Nothing here decides anything."""
