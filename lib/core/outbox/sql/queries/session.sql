-- Statements about the session of a relay. A session is a worker while it holds a shared lock with a number below 0.

-- name: readSession
-- is_first is true if the connection is outside of a transaction. It is false for a later statement of a transaction.
SELECT pg_catalog.current_setting('lock_timeout') AS lock_timeout,
  pg_catalog.statement_timestamp() OPERATOR(pg_catalog.=) pg_catalog.transaction_timestamp() AS is_first;

-- name: readProcess
SELECT pg_catalog.pg_backend_pid() AS pid;

-- name: readSettings
SELECT name, pg_catalog.current_setting(name, true) AS value
FROM pg_catalog.unnest($1::pg_catalog.text[]) AS requested (name);

-- name: applySettings
-- Applies the settings that the server has: until the end of the transaction if $3 is true, otherwise for the session.
SELECT name, pg_catalog.set_config(name, value, $3::pg_catalog.bool) AS value
FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.text[])) AS requested (name, value)
WHERE pg_catalog.current_setting(name, true) IS NOT NULL;

-- name: listen
LISTEN outbox_schema;

-- name: unlisten
UNLISTEN outbox_schema;

-- name: notifySession
-- Sends a notification only if writers notify. Otherwise the relay does not need a session that receives notifications.
SELECT pg_catalog.pg_notify('outbox_schema', $1::text) FROM outbox_schema.settings WHERE notifies;

-- name: lockWorker
-- Takes a free lock with a random number below 0. Returns no row if another session holds it.
SELECT lock FROM (SELECT -1 - pg_catalog.floor(pg_catalog.random() * 2147483647)::int AS lock) drawn
WHERE pg_catalog.pg_try_advisory_lock_shared(pg_catalog.hashtext('outbox_schema'), lock);

-- name: unlockWorker
SELECT pg_catalog.pg_advisory_unlock_shared(pg_catalog.hashtext('outbox_schema'), $1::int);

-- name: hasWorkerLock
SELECT EXISTS (
  SELECT FROM pg_catalog.pg_locks
  WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND pid = pg_catalog.pg_backend_pid()
    AND classid::bigint = pg_catalog.hashtext('outbox_schema')::bigint & 4294967295
    AND objid::bigint = $1::bigint & 4294967295
) AS "isHeld";
