"""The version of the installed package."""

VERSION = "0.1.0"
