"""Writes docs/paper.md, the paper's tables and figures beside ours, from the rows in results/.

python docs/make_paper_page.py writes the page; tests/test_paper_page.py holds that it is current.
"""

from __future__ import annotations

from paper_page.page import page
from paper_page.rows import PAGE

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
