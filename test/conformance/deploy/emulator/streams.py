"""Streams with the correct number of open shards. moto returns the number before the last split or merge."""
from moto.kinesis.models import Stream


def install():
    open_shards = property(lambda stream: sum(shard.is_open for shard in stream.shards.values()), lambda *_: None)
    Stream.shard_count = open_shards
