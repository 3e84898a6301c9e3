-- Takes over the queue of "Guaranteeing Order with Kinesis Bulk Puts": a table of records to send, in the order of their ids, from which a
-- worker selects the first of each key. Stop the worker first, and let it delete what it has sent. Writers go on: they wait while this
-- runs, and what they insert from then on goes to the outbox, in their transactions and under their commits' order.
--
-- Put the names of your table and its columns in place of these, and run it as the owner of both: psql -1 -v ON_ERROR_STOP=1 -f

-- Waits for transactions that have inserted and not yet committed, and for a worker that selects, sends and deletes in one.
LOCK TABLE public.kinesis_records IN ACCESS EXCLUSIVE MODE;

-- What nobody has sent yet. The rows of a key keep their order, and come before all that is inserted later.
SELECT outbox.put_all(
  coalesce(array_agg(partition_key::text ORDER BY id), '{}'),
  coalesce(array_agg(record_data::text ORDER BY id), '{}')
) FROM public.kinesis_records;
DELETE FROM public.kinesis_records;

-- A row that is inserted later. Its INSERT ... RETURNING answers as before; the row itself is gone at once.
CREATE FUNCTION public.kinesis_record_to_outbox() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM outbox.put(NEW.partition_key::text, NEW.record_data::text);
  DELETE FROM public.kinesis_records WHERE id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER to_outbox AFTER INSERT ON public.kinesis_records
  FOR EACH ROW EXECUTE FUNCTION public.kinesis_record_to_outbox();
