module example.com/shardedindex

go 1.22
