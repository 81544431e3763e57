-- Bitjang's tables, version 1, for MariaDB.
-- Times are microseconds since 1970-01-01 UTC by the database's clock; the view shows them readably (in UTC).

CREATE TABLE IF NOT EXISTS bitjang_locks (
  type        varchar(255) COLLATE utf8mb4_nopad_bin NOT NULL,
  id          varchar(255) COLLATE utf8mb4_nopad_bin NOT NULL,
  lock_id     varchar(32) COLLATE utf8mb4_nopad_bin,            -- the random part of the holder's lock id; null when free
  owner       varchar(255) COLLATE utf8mb4_nopad_bin,
  fence       bigint NOT NULL,
  reserved    int NOT NULL DEFAULT 0,        -- so many fences after it may have been used in the holder's process
  acquired_at bigint,
  expires_at  bigint,                            -- when free: since when
  note        varchar(1000),
  wanted      int NOT NULL DEFAULT 0,            -- the number of a process that waits for it, negative once a group took it; 0 for none
  taken_from  varchar(255) COLLATE utf8mb4_nopad_bin,           -- whose expired lock this grant took over
  forced      varchar(1000),                     -- who took it away, and why
  probes      bigint NOT NULL DEFAULT 0,         -- written to find out what became of an attempt
  reentered   bigint NOT NULL DEFAULT 0,         -- the fence of the latest grant that its owner took again
  PRIMARY KEY (type, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

CREATE TABLE IF NOT EXISTS bitjang_audit (
  seq        bigint AUTO_INCREMENT PRIMARY KEY,
  at_micros  bigint NOT NULL,
  kind       varchar(20) NOT NULL,
  type       varchar(255) COLLATE utf8mb4_nopad_bin NOT NULL,
  id         varchar(255) COLLATE utf8mb4_nopad_bin NOT NULL,
  fence      bigint NOT NULL,
  from_owner varchar(255),
  by_owner   varchar(255),
  reason     varchar(1000)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

CREATE OR REPLACE VIEW bitjang_locks_view AS
SELECT type, id, owner, fence, note,
       CASE WHEN lock_id IS NULL THEN 'free'
            WHEN expires_at > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) THEN 'held'
            ELSE 'expired' END AS state,
       TIMESTAMP'1970-01-01 00:00:00' + INTERVAL acquired_at MICROSECOND AS acquired_at,
       TIMESTAMP'1970-01-01 00:00:00' + INTERVAL expires_at MICROSECOND AS expires_at,
       wanted <> 0 AS wanted, taken_from, forced
  FROM bitjang_locks;

CREATE TABLE IF NOT EXISTS bitjang_schema_version (version int PRIMARY KEY) ENGINE = InnoDB;

INSERT IGNORE INTO bitjang_schema_version (version) VALUES (1);
