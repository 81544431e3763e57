-- The shop's tables, on all four databases. Bitjang's own come from bitjang.schema=create.

CREATE TABLE shop_order (
  number     varchar(20) NOT NULL PRIMARY KEY,
  version    bigint NOT NULL,
  scene      varchar(20) NOT NULL,    -- the page that it belongs to
  state      varchar(20) NOT NULL,
  orderer    varchar(50) NOT NULL,
  receiver   varchar(100) NOT NULL,
  address    varchar(200) NOT NULL,
  message    varchar(1000) NOT NULL,
  label      varchar(200),            -- the address on the parcel, once it is on its way
  changed_by varchar(50)
);

CREATE TABLE shop_order_line (
  id           varchar(30) NOT NULL PRIMARY KEY,
  order_number varchar(20) NOT NULL,
  product      varchar(100) NOT NULL,
  quantity     int NOT NULL,
  FOREIGN KEY (order_number) REFERENCES shop_order (number)
);

CREATE TABLE shop_card (
  id      varchar(36) NOT NULL PRIMARY KEY,
  user_id varchar(50) NOT NULL
);

CREATE INDEX shop_card_user ON shop_card (user_id);

CREATE TABLE shop_node (
  name    varchar(50) NOT NULL PRIMARY KEY,
  pid     bigint NOT NULL,
  seen_at bigint NOT NULL              -- milliseconds; for people, nothing is decided by it
);

CREATE TABLE shop_ledger (
  id      varchar(36) NOT NULL PRIMARY KEY,
  book    varchar(10) NOT NULL,        -- plain or guarded
  line    bigint NOT NULL,
  node    varchar(50) NOT NULL,
  fence   bigint NOT NULL,
  at_ms   bigint NOT NULL,
  refused varchar(1000)                -- why it was not written
);

CREATE INDEX shop_ledger_time ON shop_ledger (book, at_ms);
