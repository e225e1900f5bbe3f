"""The report of a run: the answer in words, figures and tables, in one page that opens offline.

`page.write_report(run)` reads the tables, the panel and the settings of a run; equal runs give equal bytes.
"""
