-- Bitjang's tables, version 1, for PostgreSQL.
-- Times are microseconds since 1970-01-01 UTC by the database's clock; the view shows them readably.

CREATE TABLE IF NOT EXISTS bitjang_locks (
  type        varchar(255) COLLATE "C" NOT NULL,
  id          varchar(255) COLLATE "C" NOT NULL,
  lock_id     varchar(32),                       -- the random part of the holder's lock id; null when free
  owner       varchar(255),
  fence       bigint NOT NULL,
  reserved    int NOT NULL DEFAULT 0,        -- so many fences after it may have been used in the holder's process
  acquired_at bigint,
  expires_at  bigint,                            -- when free: since when
  note        varchar(1000),
  wanted      int NOT NULL DEFAULT 0,            -- the number of a process that waits for it, negative once a group took it; 0 for none
  taken_from  varchar(255),                      -- whose expired lock this grant took over
  forced      varchar(1000),                     -- who took it away, and why
  flags       smallint NOT NULL DEFAULT 0,       -- what the last change answered: 2 if others waited
  probes      bigint NOT NULL DEFAULT 0,         -- written to find out what became of an attempt
  reentered   bigint NOT NULL DEFAULT 0,         -- the fence of the latest grant that its owner took again
  PRIMARY KEY (type, id)
) WITH (fillfactor = 50);

CREATE TABLE IF NOT EXISTS bitjang_audit (
  seq        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at_micros  bigint NOT NULL,
  kind       varchar(20) NOT NULL,
  type       varchar(255) NOT NULL,
  id         varchar(255) NOT NULL,
  fence      bigint NOT NULL,
  from_owner varchar(255),
  by_owner   varchar(255),
  reason     varchar(1000)
);

CREATE OR REPLACE VIEW bitjang_locks_view AS
SELECT type, id, owner, fence, note,
       CASE WHEN lock_id IS NULL THEN 'free'
            WHEN expires_at > (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint THEN 'held'
            ELSE 'expired' END AS state,
       to_timestamp(acquired_at / 1000000.0) AS acquired_at,
       to_timestamp(expires_at / 1000000.0) AS expires_at,
       wanted <> 0 AS wanted, taken_from, forced
  FROM bitjang_locks;

CREATE TABLE IF NOT EXISTS bitjang_schema_version (version int PRIMARY KEY);

INSERT INTO bitjang_schema_version (version) VALUES (1) ON CONFLICT DO NOTHING;
