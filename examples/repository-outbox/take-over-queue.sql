-- Moves the queue of "Guaranteeing Order with Kinesis Bulk Puts" to an outbox. The queue is a table of records to send,
-- ordered by id. Its worker selects and sends the first record of each key. Before you run this file, let the worker
-- delete the records that it has sent, and stop the worker. Writers continue: they wait while this file runs, and later
-- inserts go to the outbox, in the transactions of the writers and in commit order.
--
-- Replace the names of the table and its columns by your names, and run this file as the owner of the table and of the
-- outbox: psql -1 -v ON_ERROR_STOP=1 -f

-- Waits for transactions that have inserted rows and have not committed, and for a worker whose transaction selects,
-- sends and deletes rows.
LOCK TABLE public.kinesis_records IN ACCESS EXCLUSIVE MODE;

-- Moves the records that are not sent yet. The records of a key keep their order, and come before all later records.
SELECT outbox.put_all(
  coalesce(array_agg(partition_key::text ORDER BY id), '{}'),
  coalesce(array_agg(record_data::text ORDER BY id), '{}')
) FROM public.kinesis_records;
DELETE FROM public.kinesis_records;

-- Moves each later row to the outbox and deletes the row immediately. INSERT ... RETURNING still returns the row.
CREATE FUNCTION public.kinesis_record_to_outbox() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM outbox.put(NEW.partition_key::text, NEW.record_data::text);
  DELETE FROM public.kinesis_records WHERE id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER to_outbox AFTER INSERT ON public.kinesis_records
  FOR EACH ROW EXECUTE FUNCTION public.kinesis_record_to_outbox();
