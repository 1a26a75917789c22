"""The paper, asked again: what it claims, our numbers, whether the claim holds, and why.

One small file per figure or table, with a class derived from `Page` and an instance of it called `PAGE`;
`blox reproduce` and the book find them by themselves.
"""

from blox.reproduce.answer import Answer, Cause, Finding, Table, Verdict
from blox.reproduce.catalogue import page_called, pages
from blox.reproduce.page import Case, Done, Measurement, Page, Probe, Setting, Unavailable

__all__ = [
    "Answer",
    "Case",
    "Cause",
    "Done",
    "Finding",
    "Measurement",
    "Page",
    "Probe",
    "Setting",
    "Table",
    "Unavailable",
    "Verdict",
    "page_called",
    "pages",
]
