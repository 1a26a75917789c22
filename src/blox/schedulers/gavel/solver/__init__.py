"""The programs behind Gavel's policies, and how they are solved."""
