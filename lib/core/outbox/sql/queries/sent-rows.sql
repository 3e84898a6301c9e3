-- Statements of a replay, for rows that were sent and still exist.

-- name: readLastNumber
SELECT producer_id, last_value FROM outbox_schema.settings, outbox_schema.number;

-- name: readSentRows
-- Reads rows with numbers above $1 and up to $2, at most $6 rows and $7 bytes. The first row is read even if it is larger. If $3
-- is not null, reads only rows of key $3. If $4 or $5 is not null, reads only rows that were sent at $4 or later, and before $5.
SELECT id, partition_key, explicit_hash_key::text AS explicit_hash_key, type, headers, topic, created_at, data
FROM (
  SELECT *, pg_catalog.sum(row_bytes) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - row_bytes AS bytes_before FROM (
    SELECT *, pg_catalog.octet_length(data) + pg_catalog.octet_length(partition_key)
      + coalesce(pg_catalog.octet_length(type), 0) + coalesce(pg_catalog.octet_length(headers), 0)
      + coalesce(pg_catalog.octet_length(topic), 0) AS row_bytes
    FROM (
      SELECT * FROM outbox_schema.sent
      WHERE id > $1::bigint AND id <= $2::bigint AND ($3::text IS NULL OR partition_key = $3)
        AND ($4::timestamptz IS NULL OR sent_at >= $4) AND ($5::timestamptz IS NULL OR sent_at < $5)
      ORDER BY id LIMIT $6
    ) found
  ) weighed
) measured
WHERE bytes_before < $7
ORDER BY id;

-- name: putSentRowsAgain
-- Puts the rows that readSentRows reads into the outbox again.
SELECT last_id, outbox_schema.put_events(keys, NULL, data, hash_keys, types, headers, topics) AS rows
FROM (
  SELECT pg_catalog.max(id) AS last_id, pg_catalog.array_agg(partition_key ORDER BY id) AS keys,
    pg_catalog.array_agg(data ORDER BY id) AS data, pg_catalog.array_agg(explicit_hash_key ORDER BY id) AS hash_keys,
    pg_catalog.array_agg(type ORDER BY id) AS types, pg_catalog.array_agg(headers::jsonb ORDER BY id) AS headers,
    pg_catalog.array_agg(topic ORDER BY id) AS topics
  FROM (
    SELECT *, pg_catalog.sum(row_bytes) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - row_bytes AS bytes_before FROM (
      SELECT *, pg_catalog.octet_length(data) + pg_catalog.octet_length(partition_key)
        + coalesce(pg_catalog.octet_length(type), 0) + coalesce(pg_catalog.octet_length(headers), 0)
        + coalesce(pg_catalog.octet_length(topic), 0) AS row_bytes
      FROM (
        SELECT * FROM outbox_schema.sent
        WHERE id > $1::bigint AND id <= $2::bigint AND ($3::text IS NULL OR partition_key = $3)
          AND ($4::timestamptz IS NULL OR sent_at >= $4) AND ($5::timestamptz IS NULL OR sent_at < $5)
        ORDER BY id LIMIT $6
      ) found
    ) weighed
  ) measured
  WHERE bytes_before < $7
) all_rows
WHERE last_id IS NOT NULL;
