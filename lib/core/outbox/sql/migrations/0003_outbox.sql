-- Version 3: the outbox of the first release. Earlier builds had versions 1 and 2.
--
-- outbox_schema is a placeholder for the name of the schema. The file runs as one statement, with pg_catalog as the search_path.
--
-- The relay relies on these rules:
--
-- - A writer locks the key, then gets a transaction id, and only then takes a number. So the numbers of a key increase in the
--   order of commits. If a snapshot does not see a row, the snapshot also does not see the row's transaction id.
-- - The numbers come from a sequence without a cache.
-- - A position is a snapshot. A number cannot be a position: a running transaction may have a lower number than rows that the
--   snapshot sees. The id of a running transaction may even be equal to or above xmax, because xmax is the latest completed id
--   plus one.
-- - The earliest snapshot has the lowest xmax. Among snapshots with the same xmax, the earliest has the most running
--   transactions, because between these snapshots transactions have only ended. xmin does not order snapshots.
-- - Rows are never updated or deleted. Each row goes to one of three slots, and a slot is truncated when all of its rows are
--   relayed. So there are no dead rows, even if another session holds an old snapshot.
-- - The relay stores the number of each acknowledged row, separately from its positions. A slot is truncated only if the numbers
--   and the positions agree.
-- - Each table with updates or deletes has a primary key, because a publication for all tables requires one (SQLSTATE 55000).
-- - A function that Postgres parses at run time has pg_catalog as its search_path. Otherwise another role could create a function
--   or an operator in public that matches the call better. Postgres would then run it with the rights of the owner
--   (CVE-2018-1058).
-- - If a key has another type than text, its conversion to text does not depend on the settings of the session.
-- - Small events without headers and other options skip check_event, which takes a tenth of the time of a put. Such events fit
--   into every record: 3072 bytes of data and a key of 256 characters are less than the smallest record size limit of 8192 bytes.
-- - A commit can be visible before it is on disk. A writer sets synchronous_commit, because otherwise the relay could send a row
--   that is lost in a crash.

DO $$
DECLARE
  present integer;
BEGIN
  IF to_regclass('outbox_schema.settings') IS NOT NULL THEN
    EXECUTE 'SELECT max(version) FROM outbox_schema.settings' INTO present;
    IF present < 3 THEN
      RAISE 'a build before the first release created schema outbox_schema; relay its rows with that build, and drop the schema'
        USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    RAISE 'schema outbox_schema has an outbox already; run only the missing versions, or call migrateOutbox'
      USING ERRCODE = 'duplicate_schema';
  END IF;
END $$;
CREATE SCHEMA outbox_schema;

CREATE TABLE outbox_schema.settings (
  -- The table has one row.
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  version integer NOT NULL,
  -- The format of the schema for relays: the lowest version that a relay must know, and its release. A migration changes this
  -- column only if older relays cannot work with the new schema. Such a migration also locks the table range in EXCLUSIVE MODE and
  -- increases every fence. Otherwise running relays of older releases would continue.
  format text NOT NULL DEFAULT '3@0.1.0',
  -- The producer id of the numbers. It gets a new value whenever numbers may repeat.
  producer_id text NOT NULL DEFAULT gen_random_uuid()::text,
  -- Where the outbox was relayed last: the cluster (system, database and table) and the timeline. Some servers do not show all of
  -- these values.
  cluster text,
  timeline text,
  -- The relay is blocked until a person calls restored().
  is_restored boolean NOT NULL DEFAULT false,
  -- Whether writers may notify. A transaction with a notification cannot be prepared for a two-phase commit.
  notifies boolean NOT NULL DEFAULT true,
  max_record_bytes integer NOT NULL DEFAULT 1048576 CHECK (max_record_bytes BETWEEN 8192 AND 10485760),
  retention interval NOT NULL DEFAULT '0' CHECK (retention >= '0'),
  -- verify() has checked all rows that this snapshot sees.
  verified pg_snapshot NOT NULL DEFAULT '3:3:'
);
INSERT INTO outbox_schema.settings (version) VALUES (3);

CREATE SEQUENCE outbox_schema.number AS bigint CACHE 1;
-- The slot for new rows. It is a sequence, because sequences are read and set outside of snapshots and leave no dead rows.
CREATE SEQUENCE outbox_schema.slot AS bigint MINVALUE 0 MAXVALUE 2 START 0;
SELECT setval('outbox_schema.slot', 0);
-- 1 while a relay sleeps and waits for a notification.
CREATE SEQUENCE outbox_schema.sleeping AS bigint MINVALUE 0 MAXVALUE 1 START 0;
SELECT setval('outbox_schema.sleeping', 0);

-- The function check_event checks each event. CHECK constraints would be slower: each statement would have to compile them again,
-- which takes longer than writing a row.
CREATE TABLE outbox_schema.message (
  id bigint NOT NULL,
  xid xid8 NOT NULL,
  slot smallint NOT NULL,
  -- The part of the key's hash that divides keys among workers.
  bucket smallint NOT NULL,
  partition_key text NOT NULL,
  -- The event: either text or bytes.
  data text,
  bytes bytea,
  explicit_hash_key numeric,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  type text,
  -- A JSON object of strings. The column is text, so that a plain INSERT can pass json, jsonb or text.
  headers text,
  topic text,
  PRIMARY KEY (id, slot)
) PARTITION BY LIST (slot);
CREATE INDEX message_by_transaction ON outbox_schema.message (xid, id);
CREATE TABLE outbox_schema.message_0 PARTITION OF outbox_schema.message FOR VALUES IN (0);
CREATE TABLE outbox_schema.message_1 PARTITION OF outbox_schema.message FOR VALUES IN (1);
CREATE TABLE outbox_schema.message_2 PARTITION OF outbox_schema.message FOR VALUES IN (2);

-- The rows of parked keys. A key is parked if one of its rows was rejected, or if it has many more rows than other keys.
CREATE TABLE outbox_schema.parked (
  partition_key text NOT NULL,
  id bigint NOT NULL,
  xid xid8 NOT NULL,
  bucket smallint NOT NULL,
  data bytea NOT NULL,
  explicit_hash_key numeric,
  created_at timestamptz NOT NULL,
  type text,
  headers text,
  topic text,
  tries integer NOT NULL DEFAULT 0,
  last_error text,
  PRIMARY KEY (partition_key, id)
);

-- Rows that the relay gave up after maxTries.
CREATE TABLE outbox_schema.rejected (
  id bigint PRIMARY KEY,
  partition_key text NOT NULL,
  data bytea NOT NULL,
  explicit_hash_key numeric,
  created_at timestamptz NOT NULL,
  type text,
  headers text,
  topic text,
  rejected_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  tries integer NOT NULL,
  last_error text
);

-- The numbers of rows that the stream has acknowledged. Each range adds one row a second. The rows are deleted with the slots.
CREATE TABLE outbox_schema.ended (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  last_id bigint NOT NULL,
  numbers int8multirange NOT NULL,
  ended_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX ended_by_number ON outbox_schema.ended (last_id);

-- Rows before a position that are not acknowledged, parked or rejected. No relay will send them.
CREATE TABLE outbox_schema.missing (
  id bigint PRIMARY KEY,
  slot smallint NOT NULL,
  bucket smallint NOT NULL,
  found_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The position of each range of buckets. All rows that batch_from sees are relayed. Of the other rows that batch_to sees, the
-- rows up to after_id are relayed.
CREATE TABLE outbox_schema.range (
  number integer PRIMARY KEY,
  first_bucket smallint NOT NULL,
  last_bucket smallint NOT NULL,
  -- Each takeover increases the fence, so that the former worker can no longer change the position.
  fence bigint NOT NULL DEFAULT 0,
  batch_from pg_snapshot NOT NULL DEFAULT '3:3:',
  batch_to pg_snapshot,
  after_id bigint NOT NULL DEFAULT 0,
  -- The number of the range's advisory lock. The number changes if a session without the relay's permissions holds the lock.
  lock integer NOT NULL
);
INSERT INTO outbox_schema.range (number, first_bucket, last_bucket, lock)
VALUES (1, 0, 4095, 1 + 64 * floor(random() * 33554431)::integer);

CREATE FUNCTION outbox_schema.key_hash(partition_key text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(partition_key, hashtext('outbox_schema')::bigint);

-- Rejects an event that the stream would reject, so that the writer gets the error instead of the relay. Also limits the other
-- columns.
CREATE FUNCTION outbox_schema.check_event(partition_key text, data text, bytes bytea, explicit_hash_key numeric, type text,
  headers jsonb, topic text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  key_bytes bytea;
  key_length integer;
  data_bytes integer;
  most_bytes integer;
  header record;
BEGIN
  IF partition_key IS NULL OR num_nulls(data, bytes) = 2 THEN
    RAISE 'partition_key and data must not be null' USING ERRCODE = 'not_null_violation';
  END IF;
  IF num_nulls(data, bytes) = 0 THEN
    RAISE 'an event must have data or bytes, got both' USING ERRCODE = 'check_violation';
  END IF;
  key_bytes := convert_to(partition_key, 'UTF8');
  key_length := char_length(partition_key);
  IF octet_length(key_bytes) > 256 THEN
    -- The producer counts UTF-16 code units: a character above U+FFFF, which has four bytes in UTF-8, counts as two.
    key_length := key_length + (SELECT count(*) FROM generate_series(0, least(octet_length(key_bytes), 1025) - 1) i
      WHERE get_byte(key_bytes, i) >= 240);
  END IF;
  IF key_length NOT BETWEEN 1 AND 256 THEN
    RAISE 'partition_key must have 1 to 256 UTF-16 code units, got %', key_length
      USING ERRCODE = 'string_data_right_truncation';
  END IF;
  data_bytes := octet_length(coalesce(bytes, convert_to(data, 'UTF8')));
  SELECT max_record_bytes - 4096 - octet_length(key_bytes) INTO most_bytes FROM outbox_schema.settings;
  IF data_bytes > most_bytes THEN
    RAISE 'data must have at most % bytes, got %', most_bytes, data_bytes
      USING ERRCODE = 'program_limit_exceeded',
        HINT = 'if the stream accepts larger records, call outbox_schema.accept_records_of(bytes)';
  END IF;
  -- If a driver sends bytes without a type, data is the hexadecimal text of the bytes. An assignment of bytes to the column data
  -- has the same effect. The text can also be a valid event, so this is only a warning.
  IF starts_with(data, chr(92) || 'x') AND data ~ '^.x([0-9a-f][0-9a-f])*$' THEN
    RAISE WARNING 'data is a text that looks like bytes in hexadecimal'
      USING HINT = 'give bytes as bytea: outbox_schema.put($1, $2::bytea), outbox_schema.put_all($1, $2::bytea[]), '
        'or the column bytes';
  END IF;
  IF explicit_hash_key NOT BETWEEN 0 AND 340282366920938463463374607431768211455 OR scale(explicit_hash_key) <> 0 THEN
    RAISE 'explicit_hash_key must be a whole number from 0 to 2^128 - 1, got %', left(explicit_hash_key::text, 80)
      USING ERRCODE = 'check_violation';
  END IF;
  IF char_length(type) NOT BETWEEN 1 AND 256 OR char_length(topic) NOT BETWEEN 1 AND 256 THEN
    RAISE 'type and topic must be null or have 1 to 256 characters' USING ERRCODE = 'check_violation';
  END IF;
  -- The relay reads these texts as UTF-8, so a text that cannot be converted must fail here.
  PERFORM convert_to(type, 'UTF8'), convert_to(topic, 'UTF8'), convert_to(headers::text, 'UTF8');
  IF headers IS NULL THEN
    RETURN;
  END IF;
  IF jsonb_typeof(headers) <> 'object' THEN
    RAISE 'headers must be a JSON object, got %', jsonb_typeof(headers) USING ERRCODE = 'check_violation';
  END IF;
  IF octet_length(convert_to(headers::text, 'UTF8')) > 16384 THEN
    RAISE 'headers must have at most 16384 bytes, got %', octet_length(convert_to(headers::text, 'UTF8'))
      USING ERRCODE = 'program_limit_exceeded';
  END IF;
  FOR header IN SELECT * FROM jsonb_each(headers) LOOP
    IF header.key !~ '^[a-z0-9]{1,64}$' OR jsonb_typeof(header.value) <> 'string' OR header.key = ANY
      ('{specversion,id,source,type,time,datacontenttype,data,partitionkey}') THEN
      RAISE 'a header must be a string with a name of 1 to 64 characters of a-z and 0-9 that is not an attribute of the relay, got %',
        left(header.key, 80) USING ERRCODE = 'check_violation';
    END IF;
  END LOOP;
END $$;

-- Locks keys. All transactions use the same order, so that they cannot deadlock.
CREATE FUNCTION outbox_schema.lock_keys(partition_keys text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  hash bigint;
BEGIN
  FOR hash IN SELECT DISTINCT outbox_schema.key_hash(k) FROM unnest(lock_keys.partition_keys) k
    WHERE k IS NOT NULL ORDER BY 1 LOOP
    PERFORM pg_advisory_xact_lock(hash);
  END LOOP;
END $$;

-- Puts an event into the outbox, in the caller's transaction, and returns its number. The event is either data or bytes.
CREATE FUNCTION outbox_schema.put_event(partition_key text, data text, bytes bytea, explicit_hash_key numeric, type text,
  headers jsonb, topic text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  hash CONSTANT bigint := outbox_schema.key_hash(put_event.partition_key);
  current_xid xid8;
  current_slot bigint;
  is_sleeping bigint;
  new_id bigint;
BEGIN
  IF (octet_length(put_event.partition_key) BETWEEN 1 AND 256 AND starts_with(put_event.data, chr(92) || 'x') IS NOT TRUE
    AND coalesce(octet_length(put_event.data), octet_length(put_event.bytes)) <= 3072
    AND num_nonnulls(put_event.data, put_event.bytes) = 1
    AND num_nonnulls(put_event.explicit_hash_key, put_event.type, put_event.headers, put_event.topic) = 0
    AND getdatabaseencoding() = 'UTF8') IS NOT TRUE THEN
    PERFORM outbox_schema.check_event(put_event.partition_key, put_event.data, put_event.bytes, put_event.explicit_hash_key,
      put_event.type, put_event.headers, put_event.topic);
  END IF;
  PERFORM pg_advisory_xact_lock(hash);
  current_xid := pg_current_xact_id();
  -- A commit can be visible before it is on disk. The relay could then send a row that is lost in a crash.
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  current_slot := pg_sequence_last_value('outbox_schema.slot');
  is_sleeping := pg_sequence_last_value('outbox_schema.sleeping');
  new_id := nextval('outbox_schema.number');
  INSERT INTO outbox_schema.message (id, xid, slot, bucket, partition_key, data, bytes, explicit_hash_key, type, headers, topic)
  VALUES (new_id, current_xid, current_slot, hash & 4095, put_event.partition_key, put_event.data, put_event.bytes,
    put_event.explicit_hash_key, put_event.type, put_event.headers, put_event.topic);
  IF is_sleeping = 1 THEN
    PERFORM pg_notify('outbox_schema', '');
  END IF;
  RETURN new_id;
END $$;

-- Puts many events in one call. Locks their keys, and numbers the events in the order of the arrays.
CREATE FUNCTION outbox_schema.put_events(partition_keys text[], data text[], bytes bytea[], explicit_hash_keys numeric[],
  types text[], headers jsonb[], topics text[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  current_xid xid8;
  current_slot bigint;
  is_sleeping bigint;
  written bigint;
BEGIN
  IF cardinality(put_events.partition_keys) <> ANY (ARRAY[cardinality(put_events.data), cardinality(put_events.bytes),
    cardinality(put_events.explicit_hash_keys), cardinality(put_events.types), cardinality(put_events.headers),
    cardinality(put_events.topics)]) THEN
    RAISE 'the arrays of put_all must have the same length' USING ERRCODE = 'array_subscript_error';
  END IF;
  PERFORM outbox_schema.check_event(e.partition_key, e.data, e.bytes, e.explicit_hash_key, e.type, e.headers, e.topic)
  FROM unnest(put_events.partition_keys, put_events.data, put_events.bytes, put_events.explicit_hash_keys,
    put_events.types, put_events.headers, put_events.topics)
    e (partition_key, data, bytes, explicit_hash_key, type, headers, topic)
  WHERE (octet_length(e.partition_key) BETWEEN 1 AND 256 AND starts_with(e.data, chr(92) || 'x') IS NOT TRUE
    AND coalesce(octet_length(e.data), octet_length(e.bytes)) <= 3072
    AND num_nonnulls(e.data, e.bytes) = 1
    AND num_nonnulls(e.explicit_hash_key, e.type, e.headers, e.topic) = 0
    AND getdatabaseencoding() = 'UTF8') IS NOT TRUE;
  PERFORM outbox_schema.lock_keys(put_events.partition_keys);
  current_xid := pg_current_xact_id();
  -- A commit can be visible before it is on disk. The relay could then send a row that is lost in a crash.
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  current_slot := pg_sequence_last_value('outbox_schema.slot');
  is_sleeping := pg_sequence_last_value('outbox_schema.sleeping');
  INSERT INTO outbox_schema.message (id, xid, slot, bucket, partition_key, data, bytes, explicit_hash_key, type, headers, topic)
  SELECT nextval('outbox_schema.number'), current_xid, current_slot, outbox_schema.key_hash(e.k) & 4095, e.k, e.d, e.b, e.x, e.t,
    e.h, e.o
  FROM (
    SELECT * FROM unnest(put_events.partition_keys, put_events.data, put_events.bytes, put_events.explicit_hash_keys,
      put_events.types, put_events.headers, put_events.topics) WITH ORDINALITY u (k, d, b, x, t, h, o, position)
    ORDER BY position
  ) e;
  GET DIAGNOSTICS written = ROW_COUNT;
  IF is_sleeping = 1 AND written > 0 THEN
    PERFORM pg_notify('outbox_schema', '');
  END IF;
  RETURN written;
END $$;

-- put has two overloads for each type of data: for keys of type text, and for keys of any other type. Postgres chooses text for a
-- key without a type, and anyelement for a uuid or a number. These functions run with the rights of their caller, because the
-- cast of a type that the caller has defined runs the caller's own code.
CREATE FUNCTION outbox_schema.put(partition_key text, data text, explicit_hash_key numeric DEFAULT NULL,
  type text DEFAULT NULL, headers anycompatible DEFAULT NULL::jsonb, topic text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN outbox_schema.put_event(partition_key::text, data, NULL, explicit_hash_key, type, headers::jsonb, topic);
END $$;

CREATE FUNCTION outbox_schema.put(partition_key text, data json, explicit_hash_key numeric DEFAULT NULL,
  type text DEFAULT NULL, headers anycompatible DEFAULT NULL::jsonb, topic text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN outbox_schema.put_event(partition_key::text, data::text, NULL, explicit_hash_key, type, headers::jsonb, topic);
END $$;

CREATE FUNCTION outbox_schema.put(partition_key text, data jsonb, explicit_hash_key numeric DEFAULT NULL,
  type text DEFAULT NULL, headers anycompatible DEFAULT NULL::jsonb, topic text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN outbox_schema.put_event(partition_key::text, data::text, NULL, explicit_hash_key, type, headers::jsonb, topic);
END $$;

CREATE FUNCTION outbox_schema.put(partition_key text, data bytea, explicit_hash_key numeric DEFAULT NULL,
  type text DEFAULT NULL, headers anycompatible DEFAULT NULL::jsonb, topic text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN outbox_schema.put_event(partition_key::text, NULL, data, explicit_hash_key, type, headers::jsonb, topic);
END $$;

CREATE FUNCTION outbox_schema.put(partition_key anyelement, data text, explicit_hash_key numeric DEFAULT NULL,
  type text DEFAULT NULL, headers anycompatible DEFAULT NULL::jsonb, topic text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
  SET DateStyle = 'ISO, MDY' SET IntervalStyle = 'postgres' SET TimeZone = 'UTC' SET extra_float_digits = 1
  SET bytea_output = 'hex' AS $$
BEGIN
  RETURN outbox_schema.put_event(partition_key::text, data, NULL, explicit_hash_key, type, headers::jsonb, topic);
END $$;

CREATE FUNCTION outbox_schema.put(partition_key anyelement, data json, explicit_hash_key numeric DEFAULT NULL,
  type text DEFAULT NULL, headers anycompatible DEFAULT NULL::jsonb, topic text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
  SET DateStyle = 'ISO, MDY' SET IntervalStyle = 'postgres' SET TimeZone = 'UTC' SET extra_float_digits = 1
  SET bytea_output = 'hex' AS $$
BEGIN
  RETURN outbox_schema.put_event(partition_key::text, data::text, NULL, explicit_hash_key, type, headers::jsonb, topic);
END $$;

CREATE FUNCTION outbox_schema.put(partition_key anyelement, data jsonb, explicit_hash_key numeric DEFAULT NULL,
  type text DEFAULT NULL, headers anycompatible DEFAULT NULL::jsonb, topic text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
  SET DateStyle = 'ISO, MDY' SET IntervalStyle = 'postgres' SET TimeZone = 'UTC' SET extra_float_digits = 1
  SET bytea_output = 'hex' AS $$
BEGIN
  RETURN outbox_schema.put_event(partition_key::text, data::text, NULL, explicit_hash_key, type, headers::jsonb, topic);
END $$;

CREATE FUNCTION outbox_schema.put(partition_key anyelement, data bytea, explicit_hash_key numeric DEFAULT NULL,
  type text DEFAULT NULL, headers anycompatible DEFAULT NULL::jsonb, topic text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
  SET DateStyle = 'ISO, MDY' SET IntervalStyle = 'postgres' SET TimeZone = 'UTC' SET extra_float_digits = 1
  SET bytea_output = 'hex' AS $$
BEGIN
  RETURN outbox_schema.put_event(partition_key::text, NULL, data, explicit_hash_key, type, headers::jsonb, topic);
END $$;

-- put_all has an overload for each type of data, with keys of any type. Postgres chooses text for a parameter without a type. The
-- parameter is then the text form of an array.
CREATE FUNCTION outbox_schema.put_all(partition_keys text, data text, explicit_hash_keys numeric[] DEFAULT NULL,
  types text[] DEFAULT NULL, headers anycompatiblearray DEFAULT NULL::jsonb[], topics text[] DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN outbox_schema.put_events(partition_keys::text[], data::text[], NULL, explicit_hash_keys, types, headers::jsonb[],
    topics);
END $$;

CREATE FUNCTION outbox_schema.put_all(partition_keys text, data text[], explicit_hash_keys numeric[] DEFAULT NULL,
  types text[] DEFAULT NULL, headers anycompatiblearray DEFAULT NULL::jsonb[], topics text[] DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN outbox_schema.put_events(partition_keys::text[], data, NULL, explicit_hash_keys, types, headers::jsonb[], topics);
END $$;

CREATE FUNCTION outbox_schema.put_all(partition_keys text, data json[], explicit_hash_keys numeric[] DEFAULT NULL,
  types text[] DEFAULT NULL, headers anycompatiblearray DEFAULT NULL::jsonb[], topics text[] DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN outbox_schema.put_events(partition_keys::text[], data::text[], NULL, explicit_hash_keys, types, headers::jsonb[],
    topics);
END $$;

CREATE FUNCTION outbox_schema.put_all(partition_keys text, data jsonb[], explicit_hash_keys numeric[] DEFAULT NULL,
  types text[] DEFAULT NULL, headers anycompatiblearray DEFAULT NULL::jsonb[], topics text[] DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN outbox_schema.put_events(partition_keys::text[], data::text[], NULL, explicit_hash_keys, types, headers::jsonb[],
    topics);
END $$;

CREATE FUNCTION outbox_schema.put_all(partition_keys text, data bytea[], explicit_hash_keys numeric[] DEFAULT NULL,
  types text[] DEFAULT NULL, headers anycompatiblearray DEFAULT NULL::jsonb[], topics text[] DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN outbox_schema.put_events(partition_keys::text[], NULL, data, explicit_hash_keys, types, headers::jsonb[], topics);
END $$;

CREATE FUNCTION outbox_schema.put_all(partition_keys anyarray, data text, explicit_hash_keys numeric[] DEFAULT NULL,
  types text[] DEFAULT NULL, headers anycompatiblearray DEFAULT NULL::jsonb[], topics text[] DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
  SET DateStyle = 'ISO, MDY' SET IntervalStyle = 'postgres' SET TimeZone = 'UTC' SET extra_float_digits = 1
  SET bytea_output = 'hex' AS $$
BEGIN
  RETURN outbox_schema.put_events(partition_keys::text[], data::text[], NULL, explicit_hash_keys, types, headers::jsonb[],
    topics);
END $$;

CREATE FUNCTION outbox_schema.put_all(partition_keys anyarray, data text[], explicit_hash_keys numeric[] DEFAULT NULL,
  types text[] DEFAULT NULL, headers anycompatiblearray DEFAULT NULL::jsonb[], topics text[] DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
  SET DateStyle = 'ISO, MDY' SET IntervalStyle = 'postgres' SET TimeZone = 'UTC' SET extra_float_digits = 1
  SET bytea_output = 'hex' AS $$
BEGIN
  RETURN outbox_schema.put_events(partition_keys::text[], data, NULL, explicit_hash_keys, types, headers::jsonb[], topics);
END $$;

CREATE FUNCTION outbox_schema.put_all(partition_keys anyarray, data json[], explicit_hash_keys numeric[] DEFAULT NULL,
  types text[] DEFAULT NULL, headers anycompatiblearray DEFAULT NULL::jsonb[], topics text[] DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
  SET DateStyle = 'ISO, MDY' SET IntervalStyle = 'postgres' SET TimeZone = 'UTC' SET extra_float_digits = 1
  SET bytea_output = 'hex' AS $$
BEGIN
  RETURN outbox_schema.put_events(partition_keys::text[], data::text[], NULL, explicit_hash_keys, types, headers::jsonb[],
    topics);
END $$;

CREATE FUNCTION outbox_schema.put_all(partition_keys anyarray, data jsonb[], explicit_hash_keys numeric[] DEFAULT NULL,
  types text[] DEFAULT NULL, headers anycompatiblearray DEFAULT NULL::jsonb[], topics text[] DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
  SET DateStyle = 'ISO, MDY' SET IntervalStyle = 'postgres' SET TimeZone = 'UTC' SET extra_float_digits = 1
  SET bytea_output = 'hex' AS $$
BEGIN
  RETURN outbox_schema.put_events(partition_keys::text[], data::text[], NULL, explicit_hash_keys, types, headers::jsonb[],
    topics);
END $$;

CREATE FUNCTION outbox_schema.put_all(partition_keys anyarray, data bytea[], explicit_hash_keys numeric[] DEFAULT NULL,
  types text[] DEFAULT NULL, headers anycompatiblearray DEFAULT NULL::jsonb[], topics text[] DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
  SET DateStyle = 'ISO, MDY' SET IntervalStyle = 'postgres' SET TimeZone = 'UTC' SET extra_float_digits = 1
  SET bytea_output = 'hex' AS $$
BEGIN
  RETURN outbox_schema.put_events(partition_keys::text[], NULL, data, explicit_hash_keys, types, headers::jsonb[], topics);
END $$;

-- Locks keys of any type. Postgres chooses text[] for a parameter without a type.
CREATE FUNCTION outbox_schema.lock(partition_keys anycompatiblearray) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
  SET DateStyle = 'ISO, MDY' SET IntervalStyle = 'postgres' SET TimeZone = 'UTC' SET extra_float_digits = 1
  SET bytea_output = 'hex' AS $$
BEGIN
  PERFORM outbox_schema.lock_keys(partition_keys::text[]);
END $$;

-- For writers that cannot call a function, a plain INSERT of partition_key and data has the same effect as put.
CREATE FUNCTION outbox_schema.current_slot() RETURNS smallint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
RETURN (SELECT last_value::smallint FROM outbox_schema.slot);
ALTER TABLE outbox_schema.message ALTER COLUMN slot SET DEFAULT outbox_schema.current_slot();

CREATE FUNCTION outbox_schema.number_row() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  hash CONSTANT bigint := outbox_schema.key_hash(NEW.partition_key);
BEGIN
  IF (octet_length(NEW.partition_key) BETWEEN 1 AND 256 AND starts_with(NEW.data, chr(92) || 'x') IS NOT TRUE
    AND coalesce(octet_length(NEW.data), octet_length(NEW.bytes)) <= 3072
    AND num_nonnulls(NEW.data, NEW.bytes) = 1
    AND num_nonnulls(NEW.explicit_hash_key, NEW.type, NEW.headers, NEW.topic) = 0
    AND getdatabaseencoding() = 'UTF8') IS NOT TRUE THEN
    PERFORM outbox_schema.check_event(NEW.partition_key, NEW.data, NEW.bytes, NEW.explicit_hash_key, NEW.type,
      NEW.headers::jsonb, NEW.topic);
  END IF;
  PERFORM pg_advisory_xact_lock(hash);
  NEW.xid := pg_current_xact_id();
  -- A commit can be visible before it is on disk. The relay could then send a row that is lost in a crash.
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  NEW.bucket := hash & 4095;
  -- Removes optional white space.
  NEW.headers := NEW.headers::jsonb::text;
  NEW.id := nextval('outbox_schema.number');
  IF pg_sequence_last_value('outbox_schema.sleeping') = 1 THEN
    PERFORM pg_notify('outbox_schema', '');
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER number_row BEFORE INSERT ON outbox_schema.message
FOR EACH ROW WHEN (NEW.id IS NULL) EXECUTE FUNCTION outbox_schema.number_row();

-- Sets the maximum size of a Kinesis record, including its key: 8 KiB to 10 MiB. The outbox rejects larger events.
CREATE FUNCTION outbox_schema.accept_records_of(bytes integer) RETURNS void
LANGUAGE sql
BEGIN ATOMIC
  UPDATE outbox_schema.settings SET max_record_bytes = bytes;
END;

-- Sets the shortest time for which sent rows are kept. They are kept for up to twice this time.
CREATE FUNCTION outbox_schema.retain(period interval) RETURNS void
LANGUAGE sql
BEGIN ATOMIC
  UPDATE outbox_schema.settings SET retention = period;
END;

-- Sets whether writers notify a sleeping relay. If writers use two-phase commit, they must not notify, and the relay polls.
CREATE FUNCTION outbox_schema.notify(are_allowed boolean) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- A relay reads the setting before it sleeps. This lock waits for such a relay.
  LOCK TABLE outbox_schema.settings IN ACCESS EXCLUSIVE MODE;
  UPDATE outbox_schema.settings SET notifies = are_allowed;
  PERFORM setval('outbox_schema.sleeping', 0);
END $$;

-- Whether the saved positions are valid for this database. After a promotion numbers may repeat, so the outbox gets a new
-- producer id. After any other change of the database, a person must call restored() first.
CREATE FUNCTION outbox_schema.recognize() RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  stored outbox_schema.settings;
  here_cluster text;
  here_timeline text;
  is_of_the_future boolean;
BEGIN
  -- Some managed services do not allow these functions.
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
    'outbox_schema.message'::regclass::oid);
  SELECT * INTO stored FROM outbox_schema.settings;
  SELECT bool_or(pg_snapshot_xmax(coalesce(batch_to, batch_from)) > pg_snapshot_xmax(pg_current_snapshot()))
  INTO is_of_the_future FROM outbox_schema.range;
  IF stored.is_restored THEN
    RETURN false;
  END IF;
  IF is_of_the_future OR stored.cluster <> here_cluster THEN
    UPDATE outbox_schema.settings SET is_restored = true;
    RETURN false;
  END IF;
  IF stored.cluster IS NULL OR stored.timeline IS DISTINCT FROM coalesce(here_timeline, stored.timeline) THEN
    UPDATE outbox_schema.settings s SET cluster = here_cluster, timeline = coalesce(here_timeline, s.timeline),
      producer_id = CASE WHEN s.timeline <> here_timeline THEN gen_random_uuid()::text ELSE s.producer_id END;
  END IF;
  RETURN true;
END $$;

-- Checks that each row before the positions of all ranges is acknowledged, parked or rejected. Each row is checked once. Returns
-- how many rows were checked, and how many rows are missing in total.
CREATE FUNCTION outbox_schema.verify(OUT verified_rows bigint, OUT missing_rows bigint)
-- Without enable_seqscan = off, the planner would read all rows even if there are no new rows, because it expects a third of all
-- rows. The relay disables hash joins, because it joins few rows with many rows. This function enables hash joins, because it
-- joins many rows with few rows.
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = on AS $$
DECLARE
  since pg_snapshot;
  least pg_snapshot;
BEGIN
  SELECT verified INTO since FROM outbox_schema.settings;
  SELECT batch_from INTO least FROM outbox_schema.range
  ORDER BY pg_snapshot_xmax(batch_from), (SELECT count(*) FROM pg_snapshot_xip(batch_from)) DESC LIMIT 1;
  WITH passed AS MATERIALIZED (
    SELECT id, slot, bucket, partition_key FROM outbox_schema.message
    WHERE xid >= pg_snapshot_xmax(since) AND xid < pg_snapshot_xmax(least) AND pg_visible_in_snapshot(xid, least)
    UNION ALL
    SELECT m.* FROM pg_snapshot_xip(since) late CROSS JOIN LATERAL (
      SELECT id, slot, bucket, partition_key FROM outbox_schema.message WHERE xid = late OFFSET 0
    ) m
    WHERE pg_visible_in_snapshot(late, least)
  ), acknowledged AS MATERIALIZED (
    SELECT coalesce(range_agg(r), '{}') AS numbers FROM outbox_schema.ended e CROSS JOIN LATERAL unnest(e.numbers) r
    WHERE e.last_id >= (SELECT min(id) FROM passed)
  ), found AS (
    INSERT INTO outbox_schema.missing (id, slot, bucket)
    SELECT p.id, p.slot, p.bucket FROM passed p, acknowledged a
    WHERE NOT p.id <@ a.numbers
      AND NOT EXISTS (SELECT FROM outbox_schema.parked w WHERE w.partition_key = p.partition_key AND w.id = p.id)
      AND NOT EXISTS (SELECT FROM outbox_schema.rejected r WHERE r.id = p.id)
    ON CONFLICT DO NOTHING
  )
  SELECT count(*) INTO verified_rows FROM passed;
  IF least::text <> since::text THEN
    UPDATE outbox_schema.settings SET verified = least;
  END IF;
  -- Removes missing rows that were acknowledged later.
  DELETE FROM outbox_schema.missing m USING outbox_schema.ended e WHERE e.last_id >= m.id AND e.numbers @> m.id;
  SELECT count(*) INTO missing_rows FROM outbox_schema.missing;
END $$;

-- Changes the slot for new rows, and truncates slots whose rows are all relayed. Returns how many slots it truncated. It does not
-- wait for locks: a slot that a transaction still writes or reads stays until the next call.
CREATE FUNCTION outbox_schema.rotate() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  current_slot bigint;
  has_rows boolean;
  is_needed boolean;
  kept interval;
  emptied integer := 0;
BEGIN
  -- Each statement must see all rows that were committed before it.
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE 'rotate must run in its own transaction, with isolation level read committed' USING ERRCODE = 'invalid_transaction_state';
  END IF;
  -- One session rotates at a time. Any role can take an advisory lock, but only the owner and the relay can lock this table.
  BEGIN
    LOCK TABLE outbox_schema.missing IN SHARE UPDATE EXCLUSIVE MODE NOWAIT;
  EXCEPTION WHEN lock_not_available THEN
    RETURN 0;
  END;
  PERFORM outbox_schema.verify();
  SELECT retention INTO kept FROM outbox_schema.settings;
  SELECT last_value INTO current_slot FROM outbox_schema.slot;
  FOR other IN 1..2 LOOP
    DECLARE
      slot_number CONSTANT bigint := (current_slot + other) % 3;
      slot_name CONSTANT text := format('outbox_schema.message_%s', slot_number);
    BEGIN
      EXECUTE format('SELECT EXISTS (SELECT FROM %s)', slot_name) INTO has_rows;
      CONTINUE WHEN NOT has_rows;
      IF kept > '0' THEN
        EXECUTE format(
          'SELECT greatest(m.created_at, (SELECT ended_at FROM outbox_schema.ended WHERE last_id >= m.id ORDER BY last_id LIMIT 1))
             > clock_timestamp() - $1 FROM %s m ORDER BY id DESC LIMIT 1', slot_name) INTO is_needed USING kept;
        CONTINUE WHEN is_needed;
      END IF;
      EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE NOWAIT', slot_name);
      -- While this lock is held, the slot has no uncommitted rows. Rows that verify has not checked may not be relayed yet.
      EXECUTE format(
        'SELECT EXISTS (SELECT FROM outbox_schema.settings s JOIN %s m ON m.xid >= pg_snapshot_xmin(s.verified)
           AND NOT pg_visible_in_snapshot(m.xid, s.verified))', slot_name) INTO is_needed;
      CONTINUE WHEN is_needed OR EXISTS (SELECT FROM outbox_schema.missing WHERE slot = slot_number);
      EXECUTE format('TRUNCATE %s', slot_name);
      emptied := emptied + 1;
    EXCEPTION WHEN lock_not_available THEN
      NULL;
    END;
  END LOOP;
  IF emptied > 0 THEN
    DELETE FROM outbox_schema.ended WHERE last_id < coalesce((SELECT min(id) FROM outbox_schema.message), 9223372036854775807);
  END IF;
  EXECUTE format('SELECT EXISTS (SELECT FROM outbox_schema.message_%s)', current_slot) INTO has_rows;
  IF has_rows THEN
    -- A transaction that stays open can block one slot. New rows then use the other two slots.
    FOR other IN 1..2 LOOP
      EXECUTE format('SELECT EXISTS (SELECT FROM outbox_schema.message_%s)', (current_slot + other) % 3) INTO has_rows;
      IF NOT has_rows THEN
        PERFORM setval('outbox_schema.slot', (current_slot + other) % 3);
        EXIT;
      END IF;
    END LOOP;
  END IF;
  RETURN emptied;
END $$;

-- The rows that were sent and still exist, with the time when they were sent.
CREATE VIEW outbox_schema.sent AS
SELECT m.id, m.partition_key, coalesce(bytes, pg_catalog.convert_to(data, 'UTF8')) AS data, m.explicit_hash_key,
  m.type, m.headers, m.topic, m.created_at,
  e.ended_at AS sent_at
FROM outbox_schema.message m CROSS JOIN LATERAL (
  SELECT ended_at FROM outbox_schema.ended WHERE last_id >= m.id AND numbers @> m.id ORDER BY last_id LIMIT 1
) e;

-- Returns the number of waiting rows, the age of the oldest waiting row in seconds, and the number of parked and of rejected
-- rows. The age is 0 if the row has a time in the future, because the clock was set back.
CREATE FUNCTION outbox_schema.lag(OUT waiting_rows bigint, OUT waiting_seconds double precision,
  OUT parked_rows bigint, OUT rejected_rows bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET enable_seqscan = off SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  SELECT
    u.unread + p.parked,
    greatest(0, extract(epoch FROM clock_timestamp() - least(p.oldest, u.oldest)))::double precision,
    p.parked,
    (SELECT count(*) FROM outbox_schema.rejected)
  FROM
    (SELECT count(*) AS parked, min(created_at) AS oldest FROM outbox_schema.parked) p,
    (SELECT count(*) AS unread, min(m.created_at) AS oldest
     FROM outbox_schema.range r
     CROSS JOIN LATERAL (
       SELECT id, xid, bucket, created_at FROM outbox_schema.message WHERE xid >= pg_snapshot_xmax(r.batch_from)
       UNION ALL
       SELECT late_rows.* FROM pg_snapshot_xip(r.batch_from) late CROSS JOIN LATERAL (
         SELECT id, xid, bucket, created_at FROM outbox_schema.message WHERE xid = late OFFSET 0
       ) late_rows
     ) m
     WHERE m.bucket BETWEEN r.first_bucket AND r.last_bucket
       AND (r.batch_to IS NULL OR m.id > r.after_id OR NOT pg_visible_in_snapshot(m.xid, r.batch_to))) u;
END;

-- Divides the keys again, into a new number of ranges. At most this number of workers can then relay in parallel. Workers release
-- their old ranges and claim new ranges. Some rows are sent again, in order, and consumers drop the duplicates.
CREATE FUNCTION outbox_schema.divide(ranges integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  least outbox_schema.range;
  highest_fence bigint;
  locks integer[];
BEGIN
  IF divide.ranges IS NULL OR divide.ranges NOT BETWEEN 1 AND 64 THEN
    RAISE 'ranges must be 1 to 64, got %', divide.ranges USING ERRCODE = 'numeric_value_out_of_range';
  END IF;
  LOCK TABLE outbox_schema.range IN EXCLUSIVE MODE;
  SELECT * INTO least FROM outbox_schema.range
  ORDER BY pg_snapshot_xmax(batch_from), (SELECT count(*) FROM pg_snapshot_xip(batch_from)) DESC LIMIT 1;
  SELECT max(fence), array_agg(lock ORDER BY number) INTO highest_fence, locks FROM outbox_schema.range;
  DELETE FROM outbox_schema.range;
  INSERT INTO outbox_schema.range (number, first_bucket, last_bucket, fence, batch_from, lock)
  SELECT n, (n - 1) * 4096 / divide.ranges, n * 4096 / divide.ranges - 1, highest_fence + 1, least.batch_from,
    coalesce(locks[n], n + 64 * floor(random() * 33554431)::integer)
  FROM generate_series(1, divide.ranges) n;
END $$;

-- Call this before the relay starts, after the database was restored from a dump or to an earlier time, because transaction ids
-- and numbers may repeat. All remaining rows are sent, with a new producer id. Rows that were sent before are sent again, because
-- a new row can have the number of a row that was sent. They are also kept, as retain() says.
CREATE FUNCTION outbox_schema.restored() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  LOCK TABLE outbox_schema.message, outbox_schema.range IN ACCESS EXCLUSIVE MODE;
  INSERT INTO outbox_schema.parked (partition_key, id, xid, bucket, data, explicit_hash_key, created_at, type, headers, topic)
  SELECT partition_key, id, xid, bucket, coalesce(bytes, pg_catalog.convert_to(data, 'UTF8')), explicit_hash_key, created_at, type,
    headers, topic
  FROM outbox_schema.message m
  WHERE NOT EXISTS (SELECT FROM outbox_schema.rejected r WHERE r.id = m.id)
  ON CONFLICT DO NOTHING;
  WITH acknowledged AS MATERIALIZED (
    SELECT coalesce(range_agg(r), '{}') AS numbers FROM outbox_schema.ended e CROSS JOIN LATERAL unnest(e.numbers) r
  )
  DELETE FROM outbox_schema.message m USING acknowledged a WHERE NOT m.id <@ a.numbers;
  TRUNCATE outbox_schema.missing;
  -- The sequence may be behind the rows, because logical replication does not copy sequences.
  PERFORM setval('outbox_schema.number', greatest((SELECT last_value FROM outbox_schema.number),
    (SELECT max(id) FROM outbox_schema.message), (SELECT max(id) FROM outbox_schema.parked),
    (SELECT max(id) FROM outbox_schema.rejected)));
  -- Every snapshot sees this transaction id.
  UPDATE outbox_schema.message SET xid = '2';
  UPDATE outbox_schema.parked SET xid = '2';
  UPDATE outbox_schema.range SET fence = fence + 1, batch_from = '3:3:', batch_to = NULL, after_id = 0;
  UPDATE outbox_schema.settings SET producer_id = gen_random_uuid()::text, is_restored = false, cluster = NULL, timeline = NULL,
    verified = '3:3:';
  -- After a restore of a dump without privileges, every role may call every function.
  REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA outbox_schema FROM PUBLIC;
END $$;

-- Grants the permissions to put events, and the permissions of a relay.
CREATE FUNCTION outbox_schema.grant_put(role_name name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  signature text;
BEGIN
  -- After a restore of a dump without privileges, every role may call every function.
  REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA outbox_schema FROM PUBLIC;
  EXECUTE format('GRANT USAGE ON SCHEMA outbox_schema TO %I', role_name);
  EXECUTE format('GRANT INSERT (partition_key, data, bytes, explicit_hash_key, type, headers, topic)
    ON outbox_schema.message TO %I',
    role_name);
  FOR signature IN SELECT oid::regprocedure FROM pg_proc
    WHERE pronamespace = 'outbox_schema'::regnamespace
      AND proname IN ('put', 'put_all', 'put_event', 'put_events', 'lock', 'lock_keys', 'current_slot') LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', signature, role_name);
  END LOOP;
END $$;

CREATE FUNCTION outbox_schema.grant_relay(role_name name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- After a restore of a dump without privileges, every role may call every function.
  REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA outbox_schema FROM PUBLIC;
  EXECUTE format('GRANT USAGE ON SCHEMA outbox_schema TO %I', role_name);
  EXECUTE format('GRANT SELECT ON outbox_schema.settings, outbox_schema.message, outbox_schema.range, outbox_schema.parked,
    outbox_schema.missing, outbox_schema.sent TO %I', role_name);
  EXECUTE format('GRANT UPDATE ON outbox_schema.range TO %I', role_name);
  EXECUTE format('GRANT INSERT, UPDATE, DELETE ON outbox_schema.parked TO %I', role_name);
  EXECUTE format('GRANT INSERT ON outbox_schema.rejected, outbox_schema.ended TO %I', role_name);
  EXECUTE format('GRANT SELECT ON SEQUENCE outbox_schema.number TO %I', role_name);
  EXECUTE format('GRANT UPDATE ON SEQUENCE outbox_schema.sleeping TO %I', role_name);
  EXECUTE format('GRANT EXECUTE ON FUNCTION outbox_schema.rotate, outbox_schema.lag, outbox_schema.recognize,
    outbox_schema.verify TO %I',
    role_name);
END $$;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA outbox_schema FROM PUBLIC;
-- Stores this database now, so that a restored dump is recognised even if the outbox was never relayed.
SELECT outbox_schema.recognize();
