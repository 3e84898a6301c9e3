-- Statements about the table parked: rows of keys that wait for a retry, or that have many more rows than other keys.

-- name: parkRows
-- Copies rows to the table, unless another worker has taken over the range. Existing rows are not changed. The row lock makes the
-- next worker that takes over the range wait, so that this worker sees the parked rows.
WITH held AS MATERIALIZED (
  SELECT number FROM outbox_schema.range WHERE number = $1 AND fence = $2 FOR SHARE
), parked AS (
  INSERT INTO outbox_schema.parked
    (partition_key, id, xid, bucket, data, explicit_hash_key, type, headers, topic, created_at)
  SELECT partition_key, id, xid, bucket, coalesce(bytes, pg_catalog.convert_to(data, 'UTF8')), explicit_hash_key, type,
    headers, topic, created_at
  FROM outbox_schema.message, held
  WHERE id = ANY($3::bigint[])
  ON CONFLICT DO NOTHING
)
SELECT pg_catalog.count(*) = 1 AS "isHeld" FROM held;

-- name: listParkedKeys
-- Lists at most $3 keys of buckets $1 to $2, in the order of the number of their first row. This number must be above $6. Returns
-- one row without a key if there is no such key. Returns no row if another worker has taken over the range.
SELECT partition_key, tries, first_id
FROM (SELECT FROM outbox_schema.range WHERE number = $4 AND fence = $5) held
LEFT JOIN (
  SELECT partition_key, (pg_catalog.array_agg(tries ORDER BY id))[1] AS tries, pg_catalog.min(id) AS first_id
  FROM outbox_schema.parked
  WHERE bucket BETWEEN $1 AND $2
  GROUP BY partition_key
  HAVING pg_catalog.min(id) > $6::bigint
  ORDER BY pg_catalog.min(id) LIMIT $3
) parked ON true
ORDER BY first_id;

-- name: readParkedRows
-- Reads the first rows of each key after the key's after_id: at most $3 rows and $4 bytes of each key, and $7 bytes of all keys.
-- The first row of a key may exceed $4 bytes, and the first row of all may exceed $7 bytes. If the first row of another key does
-- not fit into $7 bytes, it is returned without its data. Returns one row without a number if there are no rows.
--
-- Returns no row if another worker has taken over the range. That worker may have deleted rows to park them again, so the key
-- would seem to have no rows.
SELECT id, partition_key, explicit_hash_key::text AS explicit_hash_key, type, headers, topic, created_at,
  CASE WHEN fits THEN data END AS data, tries
FROM (SELECT FROM outbox_schema.range WHERE number = $5 AND fence = $6) held
LEFT JOIN (
  SELECT * FROM (
    SELECT *, pg_catalog.sum(row_bytes) OVER (ORDER BY place, id ROWS UNBOUNDED PRECEDING) - row_bytes < $7 AS fits
    FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY requested (key, after_id, place)
    CROSS JOIN LATERAL (
      SELECT * FROM (
        SELECT *, pg_catalog.sum(row_bytes) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - row_bytes AS bytes_before FROM (
          SELECT *, pg_catalog.octet_length(data) + pg_catalog.octet_length(partition_key)
            + coalesce(pg_catalog.octet_length(type), 0) + coalesce(pg_catalog.octet_length(headers), 0)
            + coalesce(pg_catalog.octet_length(topic), 0) AS row_bytes
          FROM (
            SELECT * FROM outbox_schema.parked
            WHERE partition_key = requested.key AND id > requested.after_id
            ORDER BY id LIMIT $3
          ) found
        ) weighed
      ) measured
      WHERE bytes_before < $4
    ) p
  ) weighed
  WHERE fits OR bytes_before = 0
) parked ON true
ORDER BY id;

-- name: removeParkedRows
-- Removes rows that the stream has acknowledged, and stores their numbers.
WITH removed AS (
  DELETE FROM outbox_schema.parked p USING unnest($1::text[], $2::bigint[]) gone (partition_key, id)
  WHERE p.partition_key = gone.partition_key AND p.id = gone.id
)
INSERT INTO outbox_schema.ended (last_id, numbers) VALUES ($3, $4);

-- name: countTries
-- One statement for all rows, so that writers of many invalid rows cannot keep the connection busy.
UPDATE outbox_schema.parked p SET tries = tries + 1, last_error = tried.error
FROM unnest($1::text[], $2::bigint[], $3::text[]) tried (partition_key, id, error)
WHERE p.partition_key = tried.partition_key AND p.id = tried.id;

-- name: giveUpRows
-- Moves rows to the table rejected.
WITH gone AS (
  DELETE FROM outbox_schema.parked p
  USING unnest($1::text[], $2::bigint[], $3::text[]) tried (partition_key, id, error)
  WHERE p.partition_key = tried.partition_key AND p.id = tried.id
  RETURNING p.*, tried.error
)
INSERT INTO outbox_schema.rejected
  (id, partition_key, data, explicit_hash_key, type, headers, topic, created_at, tries, last_error)
SELECT id, partition_key, data, explicit_hash_key, type, headers, topic, created_at, tries + 1, error FROM gone
ON CONFLICT DO NOTHING;
