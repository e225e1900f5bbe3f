"""The study: from corpora and trackers to which metric predicts the return, in one resumable run."""
