-- What the scripts of checks by a browser print. WIRE 6.

-- Of bad results; otherwise empty.
ALTER TABLE monitor_results ADD COLUMN output TEXT NOT NULL DEFAULT '';
