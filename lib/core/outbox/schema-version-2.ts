import { MAX_AGGREGATE_OVERHEAD_BYTES } from '../foundation/aggregate-format';

const FUNCTIONS_OF_VERSION_1 = 13;

const LEAST_RECORD_BYTES = 8_192;

/** Data that fits into the smallest record that can be set, with a key of 256 characters in whatever encoding. */
const SMALL_DATA_BYTES = LEAST_RECORD_BYTES - MAX_AGGREGATE_OVERHEAD_BYTES - 4 * 256;

const BE_DURABLE = `  -- A commit that is visible before it is on disk could be sent, and then be taken back by a crash.
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
`;

/**
 * Puts the earliest snapshot first: what it sees all others see too. It has the lowest `xmax`, and of those that have the same
 * the most running transactions, for between two of them transactions have only ended. `xmin` says nothing: one that ended in
 * the middle leaves it as it was.
 */
const EARLIEST = 'pg_snapshot_xmax(batch_from), (SELECT count(*) FROM pg_snapshot_xip(batch_from)) DESC';

/**
 * The second version of the schema.
 *
 * - A position is a snapshot and nothing else. Version 1 saved the highest number that a snapshot saw, too, and took it for a
 *   bound below which no later row is. There is none: a transaction that is running may have an id at or above the
 *   snapshot's `xmax`, which is one past the latest *completed* id, and a number below those that the snapshot sees.
 * - What is acknowledged is noted, number by number, apart from the positions, so that the two can be compared, and a slot is
 *   emptied only when they agree.
 * - A transaction that puts an event is durable when it is visible. The outbox knows its cluster, and the cluster's timeline.
 * - Events have a type, headers and a topic, and `put` refuses what the stream would.
 */
export const schemaVersion2 = (schema: string): string => `
DO $$
BEGIN
  -- Statements of version 1 that were run one by one can have failed in the middle.
  IF (SELECT version FROM ${schema}.settings) IS DISTINCT FROM 1
    OR (SELECT count(*) FROM pg_proc WHERE pronamespace = '${schema}'::regnamespace) < ${FUNCTIONS_OF_VERSION_1}
    OR NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = '${schema}.message'::regclass AND tgname = 'number_row') THEN
    RAISE 'schema ${schema} is not the whole of version 1' USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
END $$;

ALTER TABLE ${schema}.settings
  -- Where the outbox was relayed last: system, database and table, and the timeline, where the server says them.
  ADD cluster text,
  ADD timeline text,
  -- Somebody must say that the database was restored, before anything is relayed.
  ADD is_restored boolean NOT NULL DEFAULT false,
  -- Whether writers may notify. A transaction that has can not be prepared.
  ADD notifies boolean NOT NULL DEFAULT true,
  ADD max_record_bytes integer NOT NULL DEFAULT 1048576 CHECK (max_record_bytes BETWEEN ${LEAST_RECORD_BYTES} AND 10485760),
  ADD retention interval NOT NULL DEFAULT '0' CHECK (retention >= '0'),
  -- Every row that it sees has been compared with what is noted of it.
  ADD verified pg_snapshot NOT NULL DEFAULT '3:3:';

-- Every statement would compile a check of the table anew, for longer than it writes the row. check_event checks each event.
ALTER TABLE ${schema}.message ADD type text, ADD headers jsonb, ADD topic text,
  DROP CONSTRAINT message_partition_key_check, DROP CONSTRAINT message_data_check,
  DROP CONSTRAINT message_explicit_hash_key_check;
ALTER TABLE ${schema}.parked ADD type text, ADD headers jsonb, ADD topic text;
ALTER TABLE ${schema}.rejected ADD type text, ADD headers jsonb, ADD topic text;

-- The lock of a range is no secret. But it can be another whenever somebody takes it who does not relay.
ALTER TABLE ${schema}.range ADD lock integer;
UPDATE ${schema}.range SET lock = number + 64 * floor(random() * 33554431)::integer;
ALTER TABLE ${schema}.range ALTER lock SET NOT NULL;

-- The numbers of rows that the stream has acknowledged. Rows come once a second and range, and go with the slots.
CREATE TABLE ${schema}.ended (
  last_id bigint NOT NULL,
  numbers int8multirange NOT NULL,
  ended_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX ended_by_number ON ${schema}.ended (last_id);

-- Rows that a position has passed, though they are not acknowledged, not parked, and not rejected: nobody will send them.
CREATE TABLE ${schema}.missing (
  id bigint PRIMARY KEY,
  slot smallint NOT NULL,
  bucket smallint NOT NULL,
  found_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What was relayed by version 1 is taken for acknowledged.
INSERT INTO ${schema}.ended (last_id, numbers)
SELECT max(m.id), range_agg(int8range(m.id, m.id, '[]'))
FROM ${schema}.range r JOIN ${schema}.message m ON m.bucket BETWEEN r.first_bucket AND r.last_bucket
WHERE pg_visible_in_snapshot(m.xid, r.batch_from)
  OR r.batch_to IS NOT NULL AND m.id <= r.after_id AND pg_visible_in_snapshot(m.xid, r.batch_to)
HAVING count(*) > 0;

-- Refuses what the stream would refuse, so that the writer hears of it, and not the relay.
CREATE FUNCTION ${schema}.check_event(partition_key text, data bytea, explicit_hash_key numeric, type text, headers jsonb,
  topic text) RETURNS void
LANGUAGE plpgsql STABLE AS $$
DECLARE
  key_bytes bytea;
  key_length integer;
  most_bytes integer;
  header record;
BEGIN
  -- Most events are small and plain, and fit into every record. A transaction compiles each expression that it comes to.
  IF octet_length(partition_key) BETWEEN 1 AND 256 AND octet_length(data) <= ${SMALL_DATA_BYTES}
    AND num_nonnulls(explicit_hash_key, type, headers, topic) = 0 THEN
    RETURN;
  END IF;
  IF partition_key IS NULL OR data IS NULL THEN
    RAISE 'partition_key and data must not be null' USING ERRCODE = 'not_null_violation';
  END IF;
  key_bytes := convert_to(partition_key, 'UTF8');
  key_length := char_length(partition_key);
  IF octet_length(key_bytes) > 256 THEN
    -- As the producer counts: a character beyond U+FFFF, of four bytes in UTF-8, is two.
    key_length := key_length + (SELECT count(*) FROM generate_series(0, octet_length(key_bytes) - 1) i
      WHERE get_byte(key_bytes, i) >= 240);
  END IF;
  IF key_length NOT BETWEEN 1 AND 256 THEN
    RAISE 'partition_key must have 1 to 256 UTF-16 code units, got %', key_length
      USING ERRCODE = 'string_data_right_truncation';
  END IF;
  SELECT max_record_bytes - ${MAX_AGGREGATE_OVERHEAD_BYTES} - octet_length(key_bytes) INTO most_bytes FROM ${schema}.settings;
  IF octet_length(data) > most_bytes THEN
    RAISE 'data must have at most % bytes, got %', most_bytes, octet_length(data)
      USING ERRCODE = 'program_limit_exceeded', HINT = 'a stream that takes larger records: ${schema}.accept_records_of(bytes)';
  END IF;
  IF explicit_hash_key NOT BETWEEN 0 AND 340282366920938463463374607431768211455 OR scale(explicit_hash_key) <> 0 THEN
    RAISE 'explicit_hash_key must be a whole number from 0 to 2^128 - 1, got %', explicit_hash_key
      USING ERRCODE = 'check_violation';
  END IF;
  IF char_length(type) NOT BETWEEN 1 AND 256 OR char_length(topic) NOT BETWEEN 1 AND 256 THEN
    RAISE 'type and topic must be null or have 1 to 256 characters' USING ERRCODE = 'check_violation';
  END IF;
  IF headers IS NULL THEN
    RETURN;
  END IF;
  IF jsonb_typeof(headers) <> 'object' THEN
    RAISE 'headers must be a JSON object, got %', jsonb_typeof(headers) USING ERRCODE = 'check_violation';
  END IF;
  FOR header IN SELECT * FROM jsonb_each(headers) LOOP
    IF header.key !~ '^[a-z0-9]{1,64}$' OR jsonb_typeof(header.value) <> 'string' OR header.key = ANY
      ('{specversion,id,source,type,time,datacontenttype,data,partitionkey}') THEN
      RAISE 'a header must be a text named by 1 to 64 of a-z and 0-9, and by no attribute that the relay sets, got %',
        left(header.key, 80) USING ERRCODE = 'check_violation';
    END IF;
  END LOOP;
END $$;

-- Locks the keys of events that a transaction is going to put, in an order that is the same for all, so that no two
-- transactions wait for each other. put_all does it by itself.
CREATE FUNCTION ${schema}.lock(partition_keys text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  hash bigint;
BEGIN
  FOR hash IN SELECT DISTINCT ${schema}.key_hash(k) FROM unnest(lock.partition_keys) k WHERE k IS NOT NULL ORDER BY 1 LOOP
    PERFORM pg_advisory_xact_lock(hash);
  END LOOP;
END $$;

-- Puts an event into the outbox, in the caller's transaction, and returns its number.
CREATE FUNCTION ${schema}.put(partition_key text, data bytea, explicit_hash_key numeric DEFAULT NULL,
  type text DEFAULT NULL, headers jsonb DEFAULT NULL, topic text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  hash CONSTANT bigint := ${schema}.key_hash(put.partition_key);
  current_xid xid8;
  current_slot bigint;
  is_sleeping bigint;
  new_id bigint;
BEGIN
  PERFORM ${schema}.check_event(put.partition_key, put.data, put.explicit_hash_key, put.type, put.headers, put.topic);
  PERFORM pg_advisory_xact_lock(hash);
  current_xid := pg_current_xact_id();
${BE_DURABLE}  current_slot := pg_sequence_last_value('${schema}.slot');
  is_sleeping := pg_sequence_last_value('${schema}.sleeping');
  new_id := nextval('${schema}.number');
  INSERT INTO ${schema}.message (id, xid, slot, bucket, partition_key, data, explicit_hash_key, type, headers, topic)
  VALUES (new_id, current_xid, current_slot, hash & 4095, put.partition_key, put.data, put.explicit_hash_key, put.type,
    put.headers, put.topic);
  IF is_sleeping = 1 THEN
    PERFORM pg_notify('${schema}', '');
  END IF;
  RETURN new_id;
END $$;

CREATE FUNCTION ${schema}.put(partition_key text, data text, explicit_hash_key numeric DEFAULT NULL,
  type text DEFAULT NULL, headers jsonb DEFAULT NULL, topic text DEFAULT NULL) RETURNS bigint
LANGUAGE sql
RETURN ${schema}.put(partition_key, convert_to(data, 'UTF8'), explicit_hash_key, type, headers, topic);

CREATE FUNCTION ${schema}.put(partition_key text, data jsonb, explicit_hash_key numeric DEFAULT NULL,
  type text DEFAULT NULL, headers jsonb DEFAULT NULL, topic text DEFAULT NULL) RETURNS bigint
LANGUAGE sql
RETURN ${schema}.put(partition_key, convert_to(data::text, 'UTF8'), explicit_hash_key, type, headers, topic);

-- Puts many events in one call: locks their keys as lock does, and numbers them in the order of the arrays.
CREATE FUNCTION ${schema}.put_all(partition_keys text[], data bytea[], explicit_hash_keys numeric[] DEFAULT NULL,
  types text[] DEFAULT NULL, headers jsonb[] DEFAULT NULL, topics text[] DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  current_xid xid8;
  current_slot bigint;
  is_sleeping bigint;
  written bigint;
BEGIN
  IF cardinality(put_all.partition_keys) <> ANY (ARRAY[cardinality(put_all.data), cardinality(put_all.explicit_hash_keys),
    cardinality(put_all.types), cardinality(put_all.headers), cardinality(put_all.topics)]) THEN
    RAISE 'the arrays of put_all must have the same length' USING ERRCODE = 'array_subscript_error';
  END IF;
  PERFORM ${schema}.check_event(k, d, x, t, h, o) FROM unnest(put_all.partition_keys, put_all.data,
    put_all.explicit_hash_keys, put_all.types, put_all.headers, put_all.topics) u (k, d, x, t, h, o);
  PERFORM ${schema}.lock(put_all.partition_keys);
  current_xid := pg_current_xact_id();
${BE_DURABLE}  current_slot := pg_sequence_last_value('${schema}.slot');
  is_sleeping := pg_sequence_last_value('${schema}.sleeping');
  INSERT INTO ${schema}.message (id, xid, slot, bucket, partition_key, data, explicit_hash_key, type, headers, topic)
  SELECT nextval('${schema}.number'), current_xid, current_slot, ${schema}.key_hash(e.k) & 4095, e.k, e.d, e.x, e.t, e.h, e.o
  FROM (
    SELECT * FROM unnest(put_all.partition_keys, put_all.data, put_all.explicit_hash_keys, put_all.types, put_all.headers,
      put_all.topics) WITH ORDINALITY u (k, d, x, t, h, o, position) ORDER BY position
  ) e;
  GET DIAGNOSTICS written = ROW_COUNT;
  IF is_sleeping = 1 AND written > 0 THEN
    PERFORM pg_notify('${schema}', '');
  END IF;
  RETURN written;
END $$;

CREATE FUNCTION ${schema}.put_all(partition_keys text[], data text[], explicit_hash_keys numeric[] DEFAULT NULL,
  types text[] DEFAULT NULL, headers jsonb[] DEFAULT NULL, topics text[] DEFAULT NULL) RETURNS bigint
LANGUAGE sql
RETURN ${schema}.put_all(partition_keys, ARRAY(SELECT convert_to(d, 'UTF8') FROM unnest(data) WITH ORDINALITY u (d, n)
  ORDER BY n), explicit_hash_keys, types, headers, topics);

CREATE FUNCTION ${schema}.put_all(partition_keys text[], data jsonb[], explicit_hash_keys numeric[] DEFAULT NULL,
  types text[] DEFAULT NULL, headers jsonb[] DEFAULT NULL, topics text[] DEFAULT NULL) RETURNS bigint
LANGUAGE sql
RETURN ${schema}.put_all(partition_keys, data::text[], explicit_hash_keys, types, headers, topics);

-- A parameter of no type is bytea[], as it was in version 1: of several functions Postgres takes the one with a text.
CREATE FUNCTION ${schema}.put_all(partition_keys text[], data text, explicit_hash_keys numeric[] DEFAULT NULL,
  types text[] DEFAULT NULL, headers jsonb[] DEFAULT NULL, topics text[] DEFAULT NULL) RETURNS bigint
LANGUAGE sql
RETURN ${schema}.put_all(partition_keys, data::bytea[], explicit_hash_keys, types, headers, topics);

CREATE OR REPLACE FUNCTION ${schema}.number_row() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  hash CONSTANT bigint := ${schema}.key_hash(NEW.partition_key);
BEGIN
  PERFORM ${schema}.check_event(NEW.partition_key, NEW.data, NEW.explicit_hash_key, NEW.type, NEW.headers,
    NEW.topic);
  PERFORM pg_advisory_xact_lock(hash);
  NEW.xid := pg_current_xact_id();
${BE_DURABLE}  NEW.bucket := hash & 4095;
  NEW.id := nextval('${schema}.number');
  IF pg_sequence_last_value('${schema}.sleeping') = 1 THEN
    PERFORM pg_notify('${schema}', '');
  END IF;
  RETURN NEW;
END $$;

-- How large a Kinesis record may be, its key included: 8 KiB to 10 MiB. Events that do not fit are refused.
CREATE FUNCTION ${schema}.accept_records_of(bytes integer) RETURNS void
LANGUAGE sql
BEGIN ATOMIC
  UPDATE ${schema}.settings SET max_record_bytes = bytes;
END;

-- For how long rows that were sent stay, at least. They stay for up to twice as long.
CREATE FUNCTION ${schema}.retain(period interval) RETURNS void
LANGUAGE sql
BEGIN ATOMIC
  UPDATE ${schema}.settings SET retention = period;
END;

-- Whether writers notify a relay that sleeps. Where transactions are prepared they must not: the relay then polls.
CREATE FUNCTION ${schema}.notify(are_allowed boolean) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- A relay that is about to sleep reads the setting first, and holds a lock on it until it has.
  LOCK TABLE ${schema}.settings IN ACCESS EXCLUSIVE MODE;
  UPDATE ${schema}.settings SET notifies = are_allowed;
  PERFORM setval('${schema}.sleeping', 0);
END $$;

-- Whether the relay may go on with the positions that are saved. After a promotion numbers may come again, so that the
-- outbox gets a new producer id. After anything else that is not known, somebody must call restored first.
CREATE FUNCTION ${schema}.recognize() RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  known ${schema}.settings;
  here_cluster text;
  here_timeline text;
  is_of_the_future boolean;
BEGIN
  -- Servers of some services refuse these functions.
  BEGIN
    SELECT system_identifier INTO here_cluster FROM pg_control_system();
  EXCEPTION WHEN OTHERS THEN
    NULL;
  END;
  BEGIN
    here_timeline := left(pg_walfile_name(pg_current_wal_lsn()), 8);
  EXCEPTION WHEN OTHERS THEN
    NULL;
  END;
  here_cluster := concat_ws('/', coalesce(here_cluster, '-'), (SELECT oid FROM pg_database WHERE datname = current_database()),
    '${schema}.message'::regclass::oid);
  SELECT * INTO known FROM ${schema}.settings;
  SELECT bool_or(pg_snapshot_xmax(coalesce(batch_to, batch_from)) > pg_snapshot_xmax(pg_current_snapshot()))
  INTO is_of_the_future FROM ${schema}.range;
  IF known.is_restored THEN
    RETURN false;
  END IF;
  IF is_of_the_future OR known.cluster <> here_cluster THEN
    UPDATE ${schema}.settings SET is_restored = true;
    RETURN false;
  END IF;
  IF known.cluster IS NULL OR known.timeline IS DISTINCT FROM coalesce(here_timeline, known.timeline) THEN
    UPDATE ${schema}.settings s SET cluster = here_cluster, timeline = coalesce(here_timeline, s.timeline),
      producer_id = CASE WHEN s.timeline <> here_timeline THEN gen_random_uuid()::text ELSE s.producer_id END;
  END IF;
  RETURN true;
END $$;

-- Compares the rows that are behind the positions of all ranges with what is noted of each: that it is acknowledged, parked
-- or rejected. Each row is compared once. Returns how many were, and how many rows are missing by now.
CREATE FUNCTION ${schema}.verify(OUT verified_rows bigint, OUT missing_rows bigint)
-- Where no row is new the planner expects a third of all, and would read all. The relay, which joins a few rows with many,
-- switches hash joins off; this joins many with few.
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = on AS $$
DECLARE
  since pg_snapshot;
  least pg_snapshot;
BEGIN
  SELECT verified INTO since FROM ${schema}.settings;
  SELECT batch_from INTO least FROM ${schema}.range ORDER BY ${EARLIEST} LIMIT 1;
  WITH passed AS MATERIALIZED (
    SELECT id, slot, bucket, partition_key FROM ${schema}.message
    WHERE xid >= pg_snapshot_xmax(since) AND xid < pg_snapshot_xmax(least) AND pg_visible_in_snapshot(xid, least)
    UNION ALL
    SELECT m.* FROM pg_snapshot_xip(since) late CROSS JOIN LATERAL (
      SELECT id, slot, bucket, partition_key FROM ${schema}.message WHERE xid = late OFFSET 0
    ) m
    WHERE pg_visible_in_snapshot(late, least)
  ), acknowledged AS MATERIALIZED (
    SELECT coalesce(range_agg(r), '{}') AS numbers FROM ${schema}.ended e CROSS JOIN LATERAL unnest(e.numbers) r
    WHERE e.last_id >= (SELECT min(id) FROM passed)
  ), found AS (
    INSERT INTO ${schema}.missing (id, slot, bucket)
    SELECT p.id, p.slot, p.bucket FROM passed p, acknowledged a
    WHERE NOT p.id <@ a.numbers
      AND NOT EXISTS (SELECT FROM ${schema}.parked w WHERE w.partition_key = p.partition_key AND w.id = p.id)
      AND NOT EXISTS (SELECT FROM ${schema}.rejected r WHERE r.id = p.id)
    ON CONFLICT DO NOTHING
  )
  SELECT count(*) INTO verified_rows FROM passed;
  IF least::text <> since::text THEN
    UPDATE ${schema}.settings SET verified = least;
  END IF;
  -- Those that somebody has sent meanwhile.
  DELETE FROM ${schema}.missing m USING ${schema}.ended e WHERE e.last_id >= m.id AND e.numbers @> m.id;
  SELECT count(*) INTO missing_rows FROM ${schema}.missing;
END $$;

CREATE OR REPLACE FUNCTION ${schema}.rotate() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  current_slot bigint;
  has_rows boolean;
  is_needed boolean;
  kept interval;
  emptied integer := 0;
BEGIN
  -- What was committed while this waited for a lock must be seen.
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE 'rotate must run in a transaction of its own, read committed' USING ERRCODE = 'invalid_transaction_state';
  END IF;
  IF NOT pg_try_advisory_xact_lock(hashtext('${schema}'), 0) THEN
    RETURN 0;
  END IF;
  PERFORM ${schema}.verify();
  SELECT retention INTO kept FROM ${schema}.settings;
  SELECT last_value INTO current_slot FROM ${schema}.slot;
  FOR other IN 1..2 LOOP
    DECLARE
      slot_number CONSTANT bigint := (current_slot + other) % 3;
      slot_name CONSTANT text := format('${schema}.message_%s', slot_number);
    BEGIN
      EXECUTE format('SELECT EXISTS (SELECT FROM %s)', slot_name) INTO has_rows;
      CONTINUE WHEN NOT has_rows;
      IF kept > '0' THEN
        EXECUTE format(
          'SELECT greatest(m.created_at, (SELECT ended_at FROM ${schema}.ended WHERE last_id >= m.id ORDER BY last_id LIMIT 1))
             > clock_timestamp() - $1 FROM %s m ORDER BY id DESC LIMIT 1', slot_name) INTO is_needed USING kept;
        CONTINUE WHEN is_needed;
      END IF;
      EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE NOWAIT', slot_name);
      -- With the lock nobody can have rows here that are not committed. What verify has not seen is not relayed either.
      EXECUTE format(
        'SELECT EXISTS (SELECT FROM ${schema}.settings s JOIN %s m ON m.xid >= pg_snapshot_xmin(s.verified)
           AND NOT pg_visible_in_snapshot(m.xid, s.verified))', slot_name) INTO is_needed;
      CONTINUE WHEN is_needed OR EXISTS (SELECT FROM ${schema}.missing WHERE slot = slot_number);
      EXECUTE format('TRUNCATE %s', slot_name);
      emptied := emptied + 1;
    EXCEPTION WHEN lock_not_available THEN
      NULL;
    END;
  END LOOP;
  IF emptied > 0 THEN
    DELETE FROM ${schema}.ended WHERE last_id < coalesce((SELECT min(id) FROM ${schema}.message), 9223372036854775807);
  END IF;
  EXECUTE format('SELECT EXISTS (SELECT FROM ${schema}.message_%s)', current_slot) INTO has_rows;
  IF has_rows THEN
    EXECUTE format('SELECT EXISTS (SELECT FROM ${schema}.message_%s)', (current_slot + 1) % 3) INTO has_rows;
    IF NOT has_rows THEN
      PERFORM setval('${schema}.slot', (current_slot + 1) % 3);
    END IF;
  END IF;
  RETURN emptied;
END $$;

-- The rows that were sent and are still there, with when.
CREATE VIEW ${schema}.sent AS
SELECT m.id, m.partition_key, m.data, m.explicit_hash_key, m.type, m.headers, m.topic, m.created_at, e.ended_at AS sent_at
FROM ${schema}.message m CROSS JOIN LATERAL (
  SELECT ended_at FROM ${schema}.ended WHERE last_id >= m.id AND numbers @> m.id ORDER BY last_id LIMIT 1
) e;

-- What waits: rows and the age of the oldest in seconds, which is 0 for one of a time to come, written before the clock was
-- set back, and rows parked and given up.
CREATE OR REPLACE FUNCTION ${schema}.lag(OUT waiting_rows bigint, OUT waiting_seconds double precision,
  OUT parked_rows bigint, OUT rejected_rows bigint)
LANGUAGE sql STABLE SET enable_seqscan = off
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
       SELECT late_rows.* FROM pg_snapshot_xip(r.batch_from) late CROSS JOIN LATERAL (
         SELECT id, xid, bucket, created_at FROM ${schema}.message WHERE xid = late OFFSET 0
       ) late_rows
     ) m
     WHERE m.bucket BETWEEN r.first_bucket AND r.last_bucket
       AND (r.batch_to IS NULL OR m.id > r.after_id OR NOT pg_visible_in_snapshot(m.xid, r.batch_to))) u;
END;

CREATE OR REPLACE FUNCTION ${schema}.divide(ranges integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  least ${schema}.range;
  highest_fence bigint;
  locks integer[];
BEGIN
  IF divide.ranges IS NULL OR divide.ranges NOT BETWEEN 1 AND 64 THEN
    RAISE 'ranges must be 1 to 64, got %', divide.ranges USING ERRCODE = 'numeric_value_out_of_range';
  END IF;
  LOCK TABLE ${schema}.range IN EXCLUSIVE MODE;
  SELECT * INTO least FROM ${schema}.range ORDER BY ${EARLIEST} LIMIT 1;
  SELECT max(fence), array_agg(lock ORDER BY number) INTO highest_fence, locks FROM ${schema}.range;
  DELETE FROM ${schema}.range;
  INSERT INTO ${schema}.range (number, first_bucket, last_bucket, fence, batch_from, lock)
  SELECT n, (n - 1) * 4096 / divide.ranges, n * 4096 / divide.ranges - 1, highest_fence + 1, least.batch_from,
    coalesce(locks[n], n + 64 * floor(random() * 33554431)::integer)
  FROM generate_series(1, divide.ranges) n;
END $$;

-- To be called after the database was restored, from a dump or to an earlier time, before the relay starts: transaction
-- ids and numbers may begin again. All rows that are left are sent, as those of another producer.
CREATE OR REPLACE FUNCTION ${schema}.restored() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  LOCK TABLE ${schema}.message, ${schema}.range IN ACCESS EXCLUSIVE MODE;
  INSERT INTO ${schema}.parked (partition_key, id, xid, bucket, data, explicit_hash_key, created_at, type, headers, topic)
  SELECT partition_key, id, xid, bucket, data, explicit_hash_key, created_at, type, headers, topic FROM ${schema}.message m
  WHERE NOT EXISTS (SELECT FROM ${schema}.rejected r WHERE r.id = m.id)
  ON CONFLICT DO NOTHING;
  TRUNCATE ${schema}.message, ${schema}.ended, ${schema}.missing;
  -- Every snapshot sees it.
  UPDATE ${schema}.parked SET xid = '2';
  UPDATE ${schema}.range SET fence = fence + 1, batch_from = '3:3:', batch_to = NULL, after_id = 0;
  UPDATE ${schema}.settings SET producer_id = gen_random_uuid()::text, is_restored = false, cluster = NULL, timeline = NULL,
    verified = '3:3:';
END $$;

CREATE OR REPLACE FUNCTION ${schema}.grant_put(role_name name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  event CONSTANT text := 'numeric, text, jsonb, text)';
  events CONSTANT text := 'numeric[], text[], jsonb[], text[])';
  data text;
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA ${schema} TO %I', role_name);
  EXECUTE format('GRANT INSERT (partition_key, data, explicit_hash_key, type, headers, topic) ON ${schema}.message TO %I',
    role_name);
  EXECUTE format('GRANT EXECUTE ON FUNCTION ${schema}.lock, ${schema}.current_slot TO %I', role_name);
  FOREACH data IN ARRAY ARRAY['bytea', 'text', 'jsonb'] LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION ${schema}.put(text, %s, %s, ${schema}.put_all(text[], %s[], %s TO %I',
      data, event, data, events, role_name);
  END LOOP;
  EXECUTE format('GRANT EXECUTE ON FUNCTION ${schema}.put_all(text[], text, %s TO %I', events, role_name);
END $$;

CREATE OR REPLACE FUNCTION ${schema}.grant_relay(role_name name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA ${schema} TO %I', role_name);
  EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO %I', role_name);
  EXECUTE format('GRANT SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA ${schema} TO %I', role_name);
  EXECUTE format('GRANT UPDATE ON ${schema}.range TO %I', role_name);
  EXECUTE format('GRANT INSERT, UPDATE, DELETE ON ${schema}.parked TO %I', role_name);
  EXECUTE format('GRANT INSERT ON ${schema}.rejected, ${schema}.ended TO %I', role_name);
  EXECUTE format('GRANT EXECUTE ON FUNCTION ${schema}.rotate, ${schema}.lag, ${schema}.recognize, ${schema}.verify TO %I',
    role_name);
END $$;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} FROM PUBLIC;

-- Who could put and relay can go on.
DO $$
DECLARE
  role_name name;
BEGIN
  FOR role_name IN
    SELECT pg_get_userbyid(a.grantee) FROM pg_proc p CROSS JOIN LATERAL aclexplode(p.proacl) a
    WHERE p.oid = '${schema}.put(text, bytea, numeric)'::regprocedure AND a.grantee NOT IN (0, p.proowner)
  LOOP
    PERFORM ${schema}.grant_put(role_name);
  END LOOP;
  FOR role_name IN
    SELECT pg_get_userbyid(a.grantee) FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a
    WHERE c.oid = '${schema}.range'::regclass AND a.privilege_type = 'UPDATE' AND a.grantee NOT IN (0, c.relowner)
  LOOP
    PERFORM ${schema}.grant_relay(role_name);
  END LOOP;
END $$;
DROP FUNCTION ${schema}.put(text, bytea, numeric), ${schema}.put(text, text, numeric), ${schema}.put(text, jsonb, numeric),
  ${schema}.put_all(text[], bytea[], numeric[]);

ALTER TABLE ${schema}.range DROP COLUMN bound;
UPDATE ${schema}.settings SET version = 2;
`;
