"""The figures of the paper, asked again: what it claims, our numbers, and whether the claim holds.

One small file per figure, with a class that has the methods of `Figure` and an instance of it called
`FIGURE`; `blox reproduce` finds them by itself.
"""

from blox.reproduce.figure import Case, Done, Figure, Finding, Setting, Verdict, figure_called, figures

__all__ = ["Case", "Done", "Figure", "Finding", "Setting", "Verdict", "figure_called", "figures"]
