/**
 * The second version of the schema: a position is a snapshot and nothing else.
 *
 * Version 1 saved the highest number that a snapshot saw, too, and took it for a bound below which no later row is. There is
 * none: a transaction that is running may have an id at or above the snapshot's `xmax`, which is one past the latest
 * *completed* id, and a number below those that the snapshot sees. Rows that were skipped for it and are still there are in
 * no snapshot's difference any more; the rows behind the position that is saved are all read.
 */
export const schemaVersion2 = (schema: string): string => `
-- What waits: rows and the age of the oldest in seconds, which is 0 for one of a time to come, written before the clock was
-- set back, and rows parked and given up.
CREATE OR REPLACE FUNCTION ${schema}.lag(OUT waiting_rows bigint, OUT waiting_seconds double precision,
  OUT parked_rows bigint, OUT rejected_rows bigint)
LANGUAGE sql STABLE
BEGIN ATOMIC
  SELECT
    u.unread + p.parked,
    greatest(0, extract(epoch FROM clock_timestamp() - least(p.oldest, u.oldest)))::double precision,
    p.parked,
    (SELECT count(*) FROM ${schema}.rejected)
  FROM
    (SELECT count(*) AS parked, min(created_at) AS oldest FROM ${schema}.parked) p,
    (SELECT count(*) AS unread, min(m.created_at) AS oldest
     FROM ${schema}.range r
     CROSS JOIN LATERAL (
       SELECT id, xid, bucket, created_at FROM ${schema}.message WHERE xid >= pg_snapshot_xmax(r.batch_from)
       UNION ALL
       SELECT id, xid, bucket, created_at FROM pg_snapshot_xip(r.batch_from) late JOIN ${schema}.message ON xid = late
     ) m
     WHERE m.bucket BETWEEN r.first_bucket AND r.last_bucket
       AND (r.batch_to IS NULL OR m.id > r.after_id OR NOT pg_visible_in_snapshot(m.xid, r.batch_to))) u;
END;

CREATE OR REPLACE FUNCTION ${schema}.divide(ranges integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  least ${schema}.range;
  highest_fence bigint;
BEGIN
  IF divide.ranges IS NULL OR divide.ranges NOT BETWEEN 1 AND 64 THEN
    RAISE 'ranges must be 1 to 64, got %', divide.ranges USING ERRCODE = 'numeric_value_out_of_range';
  END IF;
  LOCK TABLE ${schema}.range IN EXCLUSIVE MODE;
  -- Of two snapshots the earlier has the lower limits, and what it sees the later sees too.
  SELECT * INTO least FROM ${schema}.range r
  ORDER BY pg_snapshot_xmax(r.batch_from), pg_snapshot_xmin(r.batch_from) LIMIT 1;
  SELECT max(fence) INTO highest_fence FROM ${schema}.range;
  DELETE FROM ${schema}.range;
  INSERT INTO ${schema}.range (number, first_bucket, last_bucket, fence, batch_from)
  SELECT n, (n - 1) * 4096 / divide.ranges, n * 4096 / divide.ranges - 1, highest_fence + 1, least.batch_from
  FROM generate_series(1, divide.ranges) n;
END $$;

CREATE OR REPLACE FUNCTION ${schema}.restored() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  LOCK TABLE ${schema}.message, ${schema}.range IN ACCESS EXCLUSIVE MODE;
  INSERT INTO ${schema}.parked (partition_key, id, xid, bucket, data, explicit_hash_key, created_at)
  SELECT partition_key, id, xid, bucket, data, explicit_hash_key, created_at FROM ${schema}.message
  ON CONFLICT DO NOTHING;
  TRUNCATE ${schema}.message;
  -- Every snapshot sees it.
  UPDATE ${schema}.parked SET xid = '2';
  UPDATE ${schema}.range SET fence = fence + 1, batch_from = '3:3:', batch_to = NULL, after_id = 0;
  UPDATE ${schema}.settings SET producer_id = gen_random_uuid()::text;
END $$;

ALTER TABLE ${schema}.range DROP COLUMN bound;
UPDATE ${schema}.settings SET version = 2;
`;
