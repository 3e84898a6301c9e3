-- Statements that read new rows and rotate slots.

-- name: takeSnapshot
-- Returns a new snapshot, whether it sees rows that snapshot $1 does not see, in any range, and the lowest number of rows whose
-- transaction began after $1. Returns no row if another worker has taken over range $2, or if the keys were divided again. An
-- idle worker saves no position, so only this statement shows it that another worker has taken over.
--
-- The lowest number must be read from the rows, because a running transaction may have a lower or higher number than the rows
-- that a snapshot sees. Without OFFSET and LIMIT, the planner would also read relayed rows.
SELECT seen::text AS snapshot, first_id, first_id IS NOT NULL OR seen::text <> $1 AND EXISTS (
  SELECT FROM pg_catalog.pg_snapshot_xip($1::pg_snapshot) late
  CROSS JOIN LATERAL (SELECT FROM outbox_schema.message WHERE xid = late LIMIT 1) one
  WHERE pg_catalog.pg_visible_in_snapshot(late, seen)
) AS has_rows
FROM pg_catalog.pg_current_snapshot() seen, LATERAL (
  SELECT CASE WHEN seen::text <> $1 THEN (
    SELECT pg_catalog.min(id) FROM (
      SELECT id FROM outbox_schema.message
      WHERE xid >= pg_catalog.pg_snapshot_xmax($1::pg_snapshot) AND xid < pg_catalog.pg_snapshot_xmax(seen)
      OFFSET 0
    ) unseen
  ) END AS first_id OFFSET 0
) first
WHERE EXISTS (SELECT FROM outbox_schema.range WHERE number = $2 AND fence = $3);

-- name: readBatch
-- Reads the next rows that snapshot $2 sees and snapshot $1 does not see, in order of their numbers: the rows after $4 of buckets
-- $5 to $6, at most $7 rows and $8 bytes. The first row is read even if it is larger. The first part of the UNION reads the rows
-- of transactions that began after $1, from number $3 on. The second part reads the rows of transactions that were running at $1.
--
-- The limit of $8 bytes includes all columns that the writer sets, because thousands of rows are in memory together. If $9 is
-- true, parked_tries is the number of tries of the first parked row of the key. If $10 is true, created_at is the time when the
-- row was put. Otherwise it is null, because the conversion of the time would increase the processor time of the relay for a row
-- by a fifth.
SELECT id, partition_key, explicit_hash_key::text AS explicit_hash_key, type, headers, topic,
  CASE WHEN $10::boolean THEN created_at END AS created_at,
  coalesce(bytes, pg_catalog.convert_to(data, 'UTF8')) AS data, bytes_before + row_bytes AS bytes_up_to,
  CASE WHEN $9::boolean THEN (
    SELECT p.tries FROM outbox_schema.parked p WHERE p.partition_key = first.partition_key ORDER BY p.id LIMIT 1
  ) END AS parked_tries
FROM (
  SELECT * FROM (
    SELECT *, pg_catalog.sum(row_bytes) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - row_bytes AS bytes_before FROM (
      SELECT *, coalesce(pg_catalog.octet_length(data), pg_catalog.octet_length(bytes))
        + pg_catalog.octet_length(partition_key) + coalesce(pg_catalog.octet_length(type), 0)
        + coalesce(pg_catalog.octet_length(headers), 0) + coalesce(pg_catalog.octet_length(topic), 0) AS row_bytes
      FROM (
        (
          SELECT m.* FROM outbox_schema.message m
          WHERE m.id >= $3::bigint AND m.id > $4::bigint AND m.bucket BETWEEN $5 AND $6
            AND m.xid >= pg_catalog.pg_snapshot_xmax($1::pg_snapshot)
            AND pg_catalog.pg_visible_in_snapshot(m.xid, $2::pg_snapshot)
          ORDER BY m.id LIMIT $7
        )
        UNION ALL
        (
          SELECT m.* FROM pg_catalog.pg_snapshot_xip($1::pg_snapshot) late
          CROSS JOIN LATERAL (
            SELECT * FROM outbox_schema.message
            WHERE xid = late AND id > $4::bigint AND bucket BETWEEN $5 AND $6
            ORDER BY id LIMIT $7
          ) m
          WHERE pg_catalog.pg_visible_in_snapshot(late, $2::pg_snapshot)
          ORDER BY m.id LIMIT $7
        )
        ORDER BY id LIMIT $7
      ) found
    ) weighed
  ) measured
  WHERE bytes_before < $8
) first
ORDER BY id;

-- name: setSleeping
-- Sets whether writers notify, if the outbox allows notifications.
SELECT pg_catalog.setval('outbox_schema.sleeping', $1::bigint) FROM outbox_schema.settings
WHERE notifies OR $1::bigint = 0;

-- name: rotate
-- Changes the slot for new rows, and truncates slots whose rows are all relayed.
SELECT outbox_schema.rotate();
