-- Whether exponential histograms and summaries are stored.
ALTER TABLE projects ADD COLUMN all_metric_kinds INTEGER NOT NULL DEFAULT 0;
