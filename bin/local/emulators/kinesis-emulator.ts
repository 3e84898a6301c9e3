import { dirname, join } from 'node:path';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../assembly/emulated-types';
import { emulatorEntry } from './emulator-package';
import { type Emulator, startEmulator } from './emulator-thread';

const PLAIN_PORT = '4568';

/**
 * kinesis-local computes the hash of every stored record, again for each record of a request. The thread keeps the hash of a
 * record instead: 20,000 records take 13 seconds instead of 119. A version with other code only stays slow.
 */
const HASH_OF_RECORD = String.raw`(KinesisRecord\.prototype = \$p;[^]*?\$p\.g = \(function\(\) \{\s*return )([^;]+);`;

/**
 * kinesis-local divides 2^128 - 1 by the number of shards of a new stream, so that 2, 4 or 8 shards end some keys too
 * early. The thread divides 2^128.
 */
const LAST_HASH_KEY = 2n ** 128n - 1n;
const WIDTH_OF_SHARD = String.raw`(\$m_s_package\$\(\)\.\w+\(\)\.\w+\(")${LAST_HASH_KEY}("\);[^]*?shardHash = )this\.\w+`;

/**
 * kinesis-local listens on every network interface, and no option changes that. So the thread replaces `listen` by a
 * function that does not listen. The guard listens on the loopback interface and passes requests on.
 */
const SOURCE = `
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { Server } = require('node:net');
const { workerData } = require('node:worker_threads');
const { guardKinesis } = require(workerData.guard);
const { listen } = Server.prototype;
Server.prototype.listen = function (port, callback) {
  if (typeof port === 'object') return listen.apply(this, arguments);
  this.address = () => ({ address: '127.0.0.1', family: 'IPv4', port });
  process.nextTick(() => {
    callback();
    if (port === ${PLAIN_PORT}) guardKinesis(this);
  });
  return this;
};
const code = readFileSync(workerData.entry, 'utf8');
const corrected = code
  .replace(/${HASH_OF_RECORD}/, '$1this.hash ??= $2;')
  .replace(/${WIDTH_OF_SHARD}/, '$1${LAST_HASH_KEY}$2$1${LAST_HASH_KEY + 1n}")');
new Module(workerData.entry)._compile(corrected, workerData.entry);
`;

const DURATIONS = [
  'CREATE_STREAM_DURATION',
  'DELETE_STREAM_DURATION',
  'DEREGISTER_STREAM_CONSUMER_DURATION',
  'MERGE_SHARDS_DURATION',
  'REGISTER_STREAM_CONSUMER_DURATION',
  'SPLIT_SHARD_DURATION',
  'START_STREAM_ENCRYPTION_DURATION',
  'STOP_STREAM_ENCRYPTION_DURATION',
  'UPDATE_SHARD_COUNT_DURATION',
  'UPDATE_STREAM_MODE_DURATION',
];

/** Starts kinesis-local, an emulator of Kinesis. */
export async function startKinesisEmulator(): Promise<Emulator> {
  const entry = emulatorEntry('kinesis-local');
  return startEmulator({
    name: 'kinesis-local',
    source: SOURCE,
    entry,
    environment: {
      AWS_ACCOUNT_ID: LOCAL_ACCOUNT,
      AWS_REGION: LOCAL_REGION,
      KINESIS_MOCK_CERT_PATH: join(dirname(entry), 'server.json'),
      KINESIS_MOCK_PLAIN_PORT: PLAIN_PORT,
      LOG_LEVEL: 'ERROR',
      ON_DEMAND_STREAM_COUNT_LIMIT: '1000',
      SHARD_LIMIT: '10000',
      ...Object.fromEntries(DURATIONS.map((name) => [name, '10ms'])),
    },
  });
}
