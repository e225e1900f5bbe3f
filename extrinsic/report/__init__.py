"""The report of a run: the answer in words, figures and tables, in one page that opens offline.

`report_files.write_report(run)` reads the tables of a run and nothing else; equal tables give equal bytes.
"""
