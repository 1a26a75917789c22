"""What a run looks like: one self-contained HTML page, pictures for paper, a table for the terminal.

Everything here reads finished results and changes nothing. Plotly, matplotlib and rich are imported by
the functions that use them.
"""

from blox.report.page import write_report
from blox.report.static import save_pictures

__all__ = ["save_pictures", "write_report"]
