"""What a run found, as one value and its faces: HTML, Markdown, JSON, CSV, plots and a table for the terminal.

`collect` reads the store; everything else reads only the `Report` that it gives. The same store content gives the
same bytes.
"""

from .collect import collect
from .model import Report
from .tables import biases_csv, contrasts_table, summary_table
from .write import load_report, write_report

__all__ = ["Report", "biases_csv", "collect", "contrasts_table", "load_report", "summary_table", "write_report"]
