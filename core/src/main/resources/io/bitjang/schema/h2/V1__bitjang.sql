-- Bitjang's tables, version 1, for H2.
-- Times are microseconds since 1970-01-01 UTC by the database's clock; the view shows them readably.
-- H2 counts a character outside the basic plane as two, hence the lengths.

CREATE TABLE IF NOT EXISTS bitjang_locks (
  type        varchar(510) NOT NULL,
  id          varchar(510) NOT NULL,
  lock_id     varchar(32),                       -- the random part of the holder's lock id; null when free
  owner       varchar(510),
  fence       bigint NOT NULL,
  reserved    int DEFAULT 0 NOT NULL,        -- so many fences after it may have been used in the holder's process
  acquired_at bigint,
  expires_at  bigint,                            -- when free: since when
  note        varchar(2000),
  wanted      int DEFAULT 0 NOT NULL,            -- the number of a process that waits for it, negative once a group took it; 0 for none
  taken_from  varchar(510),                      -- whose expired lock this grant took over
  forced      varchar(2000),                     -- who took it away, and why
  probes      bigint DEFAULT 0 NOT NULL,         -- written to find out what became of an attempt
  reentered   bigint DEFAULT 0 NOT NULL,         -- the fence of the latest grant that its owner took again
  PRIMARY KEY (type, id)
);

CREATE TABLE IF NOT EXISTS bitjang_audit (
  seq        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at_micros  bigint NOT NULL,
  kind       varchar(20) NOT NULL,
  type       varchar(510) NOT NULL,
  id         varchar(510) NOT NULL,
  fence      bigint NOT NULL,
  from_owner varchar(510),
  by_owner   varchar(510),
  reason     varchar(2000)
);

-- H2 has no session locks: each is a row that an open transaction has locked.
CREATE TABLE IF NOT EXISTS bitjang_sessions (name varchar(64) PRIMARY KEY);

CREATE OR REPLACE VIEW bitjang_locks_view AS
SELECT type, id, owner, fence, note,
       CASE WHEN lock_id IS NULL THEN 'free'
            WHEN expires_at > CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6)) * 1000000 AS BIGINT) THEN 'held'
            ELSE 'expired' END AS state,
       DATEADD(MICROSECOND, acquired_at, TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00+00') AS acquired_at,
       DATEADD(MICROSECOND, expires_at, TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00+00') AS expires_at,
       wanted <> 0 AS wanted, taken_from, forced
  FROM bitjang_locks;

CREATE TABLE IF NOT EXISTS bitjang_schema_version (version int PRIMARY KEY);

MERGE INTO bitjang_schema_version (version) KEY (version) VALUES (1);
