"""Streams whose closed shards keep their records and end, and with the correct number of open shards.

moto moves the records of a closed shard to its children, puts records into closed shards, and never ends a closed shard. It
returns the number of shards before the last split or merge.
"""
import threading
from collections import OrderedDict

from moto.kinesis.models import KinesisBackend, Stream, decompose_shard_iterator, md5_hash
from moto.kinesis.responses import KinesisResponse

one_at_a_time = threading.RLock()


def install():
    call, read, find = KinesisResponse.call_action, KinesisBackend.get_records, Stream.get_shard_for_key

    def call_alone(response):
        with one_at_a_time:
            return call(response)

    def find_open(stream, partition_key, explicit_hash_key):
        find(stream, partition_key, explicit_hash_key)  # checks the arguments
        hashed = int(explicit_hash_key) if explicit_hash_key else int(md5_hash(partition_key.encode()).hexdigest(), 16)
        ranges = ((shard, shard.starting_hash, shard.ending_hash) for shard in stream.shards.values() if shard.is_open)
        return next(shard for shard, first, last in ranges if first <= hashed <= last)

    def read_to_the_end(backend, stream_arn, shard_iterator, limit):
        iterator, records, behind = read(backend, stream_arn, shard_iterator, limit)
        name, shard_id, last = decompose_shard_iterator(iterator)
        shard = backend.describe_stream(stream_arn=stream_arn, stream_name=name).get_shard(shard_id)
        is_ended = not shard.is_open and int(last) >= shard.get_max_sequence_number()
        return (None if is_ended else iterator), records, behind

    KinesisResponse.call_action = call_alone
    KinesisBackend.get_records = read_to_the_end
    Stream.get_shard_for_key = find_open
    Stream.split_shard = keeping_records(Stream.split_shard, closed=1)
    Stream.merge_shards = keeping_records(Stream.merge_shards, closed=2)
    Stream.shard_count = property(lambda stream: sum(shard.is_open for shard in stream.shards.values()), lambda *_: None)


def keeping_records(change, closed):
    """A split or a merge that does not move the records of the shards that it closes."""

    def change_without_records(stream, *names):
        shards = [stream.shards[name] for name in names[:closed]]
        records = [shard.records for shard in shards]
        for shard in shards:
            shard.records = OrderedDict()
        try:
            change(stream, *names)
        finally:
            for shard, kept in zip(shards, records):
                shard.records = kept

    return change_without_records
