/**
 * The first version of the schema, for a schema of the given name.
 *
 * What the relay builds on:
 *
 * - A writer locks the key, then has a transaction id, and only then takes a number, so that within a key numbers grow in
 *   the order of commits, and a row that a snapshot does not see has a transaction id that the snapshot does not see.
 * - The numbers come from a sequence that caches none.
 * - Rows are never updated or deleted. They go to one of three slots, and a slot is truncated when every row of it has been
 *   relayed: that leaves no dead rows, whatever old snapshot another session holds.
 */
export const schemaVersion1 = (schema: string): string => `
CREATE SCHEMA ${schema};

CREATE TABLE ${schema}.settings (
  version integer NOT NULL,
  -- Who numbers the rows, as consumers see it. A new one whenever numbers may come again.
  producer_id text NOT NULL DEFAULT gen_random_uuid()::text
);
CREATE UNIQUE INDEX one_row ON ${schema}.settings ((true));
INSERT INTO ${schema}.settings (version) VALUES (1);

CREATE SEQUENCE ${schema}.number AS bigint CACHE 1;
-- The slot that new rows go to. Sequences, because they are read and set outside of snapshots and leave nothing behind.
CREATE SEQUENCE ${schema}.slot AS bigint MINVALUE 0 MAXVALUE 2 START 0;
SELECT setval('${schema}.slot', 0);
-- 1 while a relay sleeps and wants to be notified.
CREATE SEQUENCE ${schema}.sleeping AS bigint MINVALUE 0 MAXVALUE 1 START 0;
SELECT setval('${schema}.sleeping', 0);

CREATE TABLE ${schema}.message (
  id bigint NOT NULL,
  xid xid8 NOT NULL,
  slot smallint NOT NULL,
  -- The part of the key's hash that divides keys among workers.
  bucket smallint NOT NULL,
  partition_key text NOT NULL CHECK (char_length(partition_key) BETWEEN 1 AND 256),
  data bytea NOT NULL CHECK (octet_length(data) <= 10485760),
  explicit_hash_key numeric
    CHECK (explicit_hash_key BETWEEN 0 AND 340282366920938463463374607431768211455 AND scale(explicit_hash_key) = 0),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (id, slot)
) PARTITION BY LIST (slot);
CREATE INDEX message_by_transaction ON ${schema}.message (xid, id);
CREATE TABLE ${schema}.message_0 PARTITION OF ${schema}.message FOR VALUES IN (0);
CREATE TABLE ${schema}.message_1 PARTITION OF ${schema}.message FOR VALUES IN (1);
CREATE TABLE ${schema}.message_2 PARTITION OF ${schema}.message FOR VALUES IN (2);

-- Rows whose key waits, for a row of it was rejected or because it has many more rows than others.
CREATE TABLE ${schema}.parked (
  partition_key text NOT NULL,
  id bigint NOT NULL,
  xid xid8 NOT NULL,
  bucket smallint NOT NULL,
  data bytea NOT NULL,
  explicit_hash_key numeric,
  created_at timestamptz NOT NULL,
  tries integer NOT NULL DEFAULT 0,
  last_error text,
  PRIMARY KEY (partition_key, id)
);

-- Rows that were given up.
CREATE TABLE ${schema}.rejected (
  id bigint PRIMARY KEY,
  partition_key text NOT NULL,
  data bytea NOT NULL,
  explicit_hash_key numeric,
  created_at timestamptz NOT NULL,
  rejected_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  tries integer NOT NULL,
  last_error text
);

-- How far each range of buckets is relayed: all that batch_from sees, and of what batch_to sees besides, the rows up to
-- after_id. Every row that batch_from does not see and whose transaction began later has a number above bound.
CREATE TABLE ${schema}.range (
  number integer PRIMARY KEY,
  first_bucket smallint NOT NULL,
  last_bucket smallint NOT NULL,
  -- Raised by each worker that takes the range over, so that a former one can no longer move the position.
  fence bigint NOT NULL DEFAULT 0,
  batch_from pg_snapshot NOT NULL DEFAULT '3:3:',
  batch_to pg_snapshot,
  bound bigint NOT NULL DEFAULT 0,
  after_id bigint NOT NULL DEFAULT 0
);
INSERT INTO ${schema}.range (number, first_bucket, last_bucket) VALUES (1, 0, 4095);

CREATE FUNCTION ${schema}.key_hash(partition_key text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(partition_key, hashtext('${schema}'));

-- Puts an event into the outbox, in the caller's transaction, and returns its number.
CREATE FUNCTION ${schema}.put(partition_key text, data bytea, explicit_hash_key numeric DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  hash CONSTANT bigint := ${schema}.key_hash(put.partition_key);
  current_xid xid8;
  current_slot bigint;
  is_sleeping bigint;
  new_id bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hash);
  current_xid := pg_current_xact_id();
  SELECT a.last_value, b.last_value INTO current_slot, is_sleeping FROM ${schema}.slot a, ${schema}.sleeping b;
  new_id := nextval('${schema}.number');
  INSERT INTO ${schema}.message (id, xid, slot, bucket, partition_key, data, explicit_hash_key)
  VALUES (new_id, current_xid, current_slot, hash & 4095, put.partition_key, put.data, put.explicit_hash_key);
  IF is_sleeping = 1 THEN
    PERFORM pg_notify('${schema}', '');
  END IF;
  RETURN new_id;
END $$;

CREATE FUNCTION ${schema}.put(partition_key text, data text, explicit_hash_key numeric DEFAULT NULL) RETURNS bigint
LANGUAGE sql
RETURN ${schema}.put(partition_key, convert_to(data, 'UTF8'), explicit_hash_key);

CREATE FUNCTION ${schema}.put(partition_key text, data jsonb, explicit_hash_key numeric DEFAULT NULL) RETURNS bigint
LANGUAGE sql
RETURN ${schema}.put(partition_key, convert_to(data::text, 'UTF8'), explicit_hash_key);

-- Puts many events in one call: locks their keys in an order that is the same for all, so that two calls never wait for
-- each other, and numbers them in the order of the arrays.
CREATE FUNCTION ${schema}.put_all(partition_keys text[], data bytea[], explicit_hash_keys numeric[] DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  hash bigint;
  current_xid xid8;
  current_slot bigint;
  is_sleeping bigint;
  written bigint;
BEGIN
  IF cardinality(put_all.partition_keys) <> cardinality(put_all.data)
    OR cardinality(put_all.partition_keys) <> cardinality(put_all.explicit_hash_keys) THEN
    RAISE 'the arrays of put_all must have the same length' USING ERRCODE = 'array_subscript_error';
  END IF;
  FOR hash IN SELECT DISTINCT ${schema}.key_hash(k) FROM unnest(put_all.partition_keys) k ORDER BY 1 LOOP
    PERFORM pg_advisory_xact_lock(hash);
  END LOOP;
  current_xid := pg_current_xact_id();
  SELECT a.last_value, b.last_value INTO current_slot, is_sleeping FROM ${schema}.slot a, ${schema}.sleeping b;
  INSERT INTO ${schema}.message (id, xid, slot, bucket, partition_key, data, explicit_hash_key)
  SELECT nextval('${schema}.number'), current_xid, current_slot, ${schema}.key_hash(e.k) & 4095, e.k, e.d, e.h
  FROM (
    SELECT k, d, h FROM ROWS FROM (
      unnest(put_all.partition_keys), unnest(put_all.data), unnest(put_all.explicit_hash_keys)
    ) WITH ORDINALITY u(k, d, h, position) ORDER BY position
  ) e;
  GET DIAGNOSTICS written = ROW_COUNT;
  IF is_sleeping = 1 AND written > 0 THEN
    PERFORM pg_notify('${schema}', '');
  END IF;
  RETURN written;
END $$;

-- For writers that cannot call a function: a plain INSERT of partition_key, data and explicit_hash_key does the same.
CREATE FUNCTION ${schema}.current_slot() RETURNS smallint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
RETURN (SELECT last_value::smallint FROM ${schema}.slot);
ALTER TABLE ${schema}.message ALTER COLUMN slot SET DEFAULT ${schema}.current_slot();

CREATE FUNCTION ${schema}.number_row() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  hash CONSTANT bigint := ${schema}.key_hash(NEW.partition_key);
BEGIN
  PERFORM pg_advisory_xact_lock(hash);
  NEW.xid := pg_current_xact_id();
  NEW.bucket := hash & 4095;
  NEW.id := nextval('${schema}.number');
  IF (SELECT last_value FROM ${schema}.sleeping) = 1 THEN
    PERFORM pg_notify('${schema}', '');
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER number_row BEFORE INSERT ON ${schema}.message
FOR EACH ROW WHEN (NEW.id IS NULL) EXECUTE FUNCTION ${schema}.number_row();

-- Lets new rows go to the next slot, and empties slots that are relayed. Returns how many it emptied. It waits for nobody:
-- a slot that a transaction still writes to, or reads, is left for the next time.
CREATE FUNCTION ${schema}.rotate() RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  current_slot bigint;
  has_rows boolean;
  is_unrelayed boolean;
  emptied integer := 0;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtext('${schema}'), 0) THEN
    RETURN 0;
  END IF;
  SELECT last_value INTO current_slot FROM ${schema}.slot;
  FOR other IN 1..2 LOOP
    DECLARE
      slot_name CONSTANT text := format('${schema}.message_%s', (current_slot + other) % 3);
    BEGIN
      EXECUTE format('SELECT EXISTS (SELECT FROM %s)', slot_name) INTO has_rows;
      IF has_rows THEN
        EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE NOWAIT', slot_name);
        -- With the lock nobody can have rows here that are not committed.
        EXECUTE format(
          'SELECT EXISTS (SELECT FROM ${schema}.range r JOIN %s m ON m.xid >= pg_snapshot_xmin(r.batch_from)
             AND NOT pg_visible_in_snapshot(m.xid, r.batch_from))', slot_name) INTO is_unrelayed;
        IF NOT is_unrelayed THEN
          EXECUTE format('TRUNCATE %s', slot_name);
          emptied := emptied + 1;
        END IF;
      END IF;
    EXCEPTION WHEN lock_not_available THEN
      NULL;
    END;
  END LOOP;
  EXECUTE format('SELECT EXISTS (SELECT FROM ${schema}.message_%s)', current_slot) INTO has_rows;
  IF has_rows THEN
    EXECUTE format('SELECT EXISTS (SELECT FROM ${schema}.message_%s)', (current_slot + 1) % 3) INTO has_rows;
    IF NOT has_rows THEN
      PERFORM setval('${schema}.slot', (current_slot + 1) % 3);
    END IF;
  END IF;
  RETURN emptied;
END $$;

-- Divides the keys anew, among so many workers at most. Workers stop at what they held and go on with what they get; some
-- rows are sent again, in order, and consumers drop the repeats.
CREATE FUNCTION ${schema}.divide(ranges integer) RETURNS void
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
  ORDER BY pg_snapshot_xmax(r.batch_from), pg_snapshot_xmin(r.batch_from), r.bound LIMIT 1;
  SELECT max(fence) INTO highest_fence FROM ${schema}.range;
  DELETE FROM ${schema}.range;
  INSERT INTO ${schema}.range (number, first_bucket, last_bucket, fence, batch_from, bound)
  SELECT n, (n - 1) * 4096 / divide.ranges, n * 4096 / divide.ranges - 1, highest_fence + 1, least.batch_from, least.bound
  FROM generate_series(1, divide.ranges) n;
END $$;

-- To be called after the database was restored, from a dump or to an earlier time, before the relay starts: transaction
-- ids and numbers may begin again. All rows that are left are sent, as those of another producer.
CREATE FUNCTION ${schema}.restored() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  LOCK TABLE ${schema}.message, ${schema}.range IN ACCESS EXCLUSIVE MODE;
  INSERT INTO ${schema}.parked (partition_key, id, xid, bucket, data, explicit_hash_key, created_at)
  SELECT partition_key, id, xid, bucket, data, explicit_hash_key, created_at FROM ${schema}.message
  ON CONFLICT DO NOTHING;
  TRUNCATE ${schema}.message;
  -- Every snapshot sees it.
  UPDATE ${schema}.parked SET xid = '2';
  UPDATE ${schema}.range
  SET fence = fence + 1, batch_from = '3:3:', batch_to = NULL, bound = 0, after_id = 0;
  UPDATE ${schema}.settings SET producer_id = gen_random_uuid()::text;
END $$;

-- What waits: rows (numbers that were rolled back count too), the age of the oldest in seconds, which is 0 for one of a time to
-- come, written before the clock was set back, and rows parked and given up.
CREATE FUNCTION ${schema}.lag(OUT waiting_rows bigint, OUT waiting_seconds double precision, OUT parked_rows bigint,
  OUT rejected_rows bigint)
LANGUAGE sql STABLE
BEGIN ATOMIC
  SELECT
    greatest(0, (SELECT max(m.id) FROM ${schema}.message m) -
      (SELECT min(greatest(r.bound, r.after_id)) FROM ${schema}.range r)) + p.parked,
    greatest(0, extract(epoch FROM clock_timestamp() - least(p.oldest, (
      SELECT min(f.created_at) FROM ${schema}.range r CROSS JOIN LATERAL (
        SELECT m.created_at FROM ${schema}.message m
        WHERE m.id > greatest(r.bound, r.after_id) AND m.bucket BETWEEN r.first_bucket AND r.last_bucket
          AND NOT pg_visible_in_snapshot(m.xid, r.batch_from)
        ORDER BY m.id LIMIT 1) f))))::double precision,
    p.parked,
    (SELECT count(*) FROM ${schema}.rejected)
  FROM (SELECT count(*) AS parked, min(created_at) AS oldest FROM ${schema}.parked) p;
END;

-- What a role needs to put events, and what a relay's role needs.
CREATE FUNCTION ${schema}.grant_put(role_name name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA ${schema} TO %I', role_name);
  EXECUTE format('GRANT INSERT (partition_key, data, explicit_hash_key) ON ${schema}.message TO %I', role_name);
  EXECUTE format('GRANT EXECUTE ON FUNCTION ${schema}.put(text, bytea, numeric), ${schema}.put(text, text, numeric),
    ${schema}.put(text, jsonb, numeric), ${schema}.put_all, ${schema}.current_slot TO %I', role_name);
END $$;
CREATE FUNCTION ${schema}.grant_relay(role_name name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA ${schema} TO %I', role_name);
  EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO %I', role_name);
  EXECUTE format('GRANT SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA ${schema} TO %I', role_name);
  EXECUTE format('GRANT TRUNCATE ON ${schema}.message_0, ${schema}.message_1, ${schema}.message_2 TO %I', role_name);
  EXECUTE format('GRANT UPDATE ON ${schema}.range TO %I', role_name);
  EXECUTE format('GRANT INSERT, UPDATE, DELETE ON ${schema}.parked TO %I', role_name);
  EXECUTE format('GRANT INSERT ON ${schema}.rejected TO %I', role_name);
  EXECUTE format('GRANT EXECUTE ON FUNCTION ${schema}.rotate, ${schema}.lag TO %I', role_name);
END $$;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} FROM PUBLIC;
`;
