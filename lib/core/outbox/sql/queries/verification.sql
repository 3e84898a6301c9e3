-- Statements of OutboxRelay.verify().

-- name: verify
SELECT * FROM outbox_schema.verify();

-- name: readLag
SELECT * FROM outbox_schema.lag();

-- name: readMissingRows
SELECT id::text, r.number AS range
FROM outbox_schema.missing m JOIN outbox_schema.range r ON m.bucket BETWEEN r.first_bucket AND r.last_bucket
ORDER BY m.id LIMIT 1000;
