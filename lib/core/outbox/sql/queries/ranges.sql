-- Statements with which workers share the key ranges. A worker holds a range while its session holds the range's advisory lock.
-- Each takeover increases the fence of the range, so that the previous worker can no longer change the range.

-- name: countHoldings
-- Counts the ranges of each worker. A lock counts only if the role of its session may update the table range, because any
-- role can take an advisory lock.
WITH worker_lock AS (
  SELECT l.pid, l.objid::bigint AS lock
  FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
  WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
    AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
    AND l.classid::bigint = pg_catalog.hashtext('outbox_schema')::bigint & 4294967295 AND l.objid::bigint > 0
    AND pg_catalog.has_table_privilege(a.usesysid, 'outbox_schema.range', 'UPDATE')
)
SELECT pid = pg_catalog.pg_backend_pid() AS is_mine, pg_catalog.count(number)::int AS ranges
FROM worker_lock l LEFT JOIN outbox_schema.range r ON r.lock = l.lock
GROUP BY pid;

-- name: findFreeRanges
WITH worker_lock AS (
  SELECT l.objid::bigint AS lock
  FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
  WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
    AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
    AND l.classid::bigint = pg_catalog.hashtext('outbox_schema')::bigint & 4294967295 AND l.objid::bigint > 0
    AND pg_catalog.has_table_privilege(a.usesysid, 'outbox_schema.range', 'UPDATE')
)
SELECT number, lock FROM outbox_schema.range
WHERE lock NOT IN (SELECT lock FROM worker_lock) AND number <> ALL($1::int[])
ORDER BY number;

-- name: lockRange
SELECT pg_catalog.pg_try_advisory_lock(pg_catalog.hashtext('outbox_schema'), $1::int) AS "isClaimed";

-- name: unlockRange
SELECT pg_catalog.pg_advisory_unlock(pg_catalog.hashtext('outbox_schema'), $1::int);

-- name: replaceLock
-- Gives range $1 another lock if a session without the relay's permissions holds its lock $2.
WITH worker_lock AS (
  SELECT l.objid::bigint AS lock
  FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
  WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
    AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
    AND l.classid::bigint = pg_catalog.hashtext('outbox_schema')::bigint & 4294967295 AND l.objid::bigint > 0
    AND pg_catalog.has_table_privilege(a.usesysid, 'outbox_schema.range', 'UPDATE')
)
UPDATE outbox_schema.range SET lock = number + 64 * pg_catalog.floor(pg_catalog.random() * 33554431)::int
WHERE number = $1 AND lock = $2 AND $2 NOT IN (SELECT lock FROM worker_lock)
  AND EXISTS (
    SELECT FROM pg_catalog.pg_locks
    WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND objid::bigint = $2
      AND classid::bigint = pg_catalog.hashtext('outbox_schema')::bigint & 4294967295
  )
RETURNING lock;

-- name: recognizeDatabase
SELECT outbox_schema.recognize() AS "isKnown";

-- name: takeOverRange
-- Also returns the format of the schema. A migration that changes the format increases every fence, so running relays lose their
-- ranges and read the new format here.
UPDATE outbox_schema.range r SET fence = fence + 1
FROM outbox_schema.settings s
WHERE number = $1
RETURNING first_bucket, last_bucket, fence::text AS fence, producer_id, batch_from::text AS batch_from,
  batch_to::text AS batch_to, after_id, pg_catalog.jsonb_object_field_text(pg_catalog.to_jsonb(s), 'format') AS format;

-- name: deleteUncoveredParkedRows
-- Deletes the parked rows after the saved position. The new worker of the range parks these rows again. Otherwise they could be
-- sent before other rows after the position, which may not be acknowledged yet. The check of the fence protects rows that a later
-- worker of the range has parked.
DELETE FROM outbox_schema.parked
WHERE bucket BETWEEN $1 AND $2
  AND NOT pg_catalog.pg_visible_in_snapshot(xid, $3::pg_snapshot)
  AND ($4::pg_snapshot IS NULL OR NOT pg_catalog.pg_visible_in_snapshot(xid, $4::pg_snapshot) OR id > $5::bigint)
  AND EXISTS (SELECT FROM outbox_schema.range WHERE number = $6 AND fence = $7);

-- name: savePosition
-- Saves the position of a range and the numbers of acknowledged rows. Does nothing if another worker has taken over the range.
WITH saved AS (
  UPDATE outbox_schema.range SET batch_from = $3, batch_to = $4, after_id = $5
  WHERE number = $1 AND fence = $2
  RETURNING number
), noted AS (
  INSERT INTO outbox_schema.ended (last_id, numbers) SELECT $6, $7 FROM saved WHERE $6::bigint IS NOT NULL
)
SELECT pg_catalog.count(*) = 1 AS "isHeld" FROM saved;
