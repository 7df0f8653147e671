-- Model calls that are described without gen_ai.* become AI Traces.
ALTER TABLE projects ADD COLUMN ai_conventions INTEGER NOT NULL DEFAULT 0;
