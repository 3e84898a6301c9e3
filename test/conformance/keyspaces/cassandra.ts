import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client, type ClientOptions, policies } from 'cassandra-driver';

/** `npm run conformance keyspaces` sets this environment variable to the folder of the Apache Cassandra jars. */
const CASSANDRA = 'CASSANDRA';

export interface RunningCassandra {
  port: number;
  stop(): Promise<void>;
}

/** Starts Apache Cassandra on the loopback interface, with a limited heap. Cassandra ends when this process ends. */
export async function startCassandra(partitioner = 'Murmur3Partitioner'): Promise<RunningCassandra> {
  const jars = process.env[CASSANDRA];
  if (jars === undefined) throw new Error(`${CASSANDRA} is not set: run npm run conformance keyspaces`);
  const folder = await mkdtemp(join(tmpdir(), 'cassandra-'));
  const [port, storagePort] = await freePorts();
  const configuration = join(folder, 'conf');
  await mkdir(configuration);
  await writeFile(
    join(configuration, 'cassandra.yaml'),
    cassandraYaml(folder, port, storagePort).replace('Murmur3Partitioner', partitioner),
  );
  await writeFile(join(configuration, 'logback.xml'), QUIET_LOG);
  const child = spawn('java', [
    ...MODULES,
    ...['-Xms512m', '-Xmx1g', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=4', '-Djdk.attach.allowAttachSelf=true'],
    ...['cassandra-foreground=yes', 'cassandra.skip_wait_for_gossip_to_settle=0', 'cassandra.ring_delay_ms=0']
      .concat(`java.io.tmpdir=${folder}`, `cassandra.storagedir=${folder}`)
      .concat(`cassandra.config=file://${configuration}/cassandra.yaml`)
      .concat(`logback.configurationFile=${configuration}/logback.xml`, 'io.netty.transport.estimateSizeOnSubmit=false')
      .map((property) => `-D${property}`),
    ...['-cp', [configuration, join(jars, '*')].join(delimiter), join(__dirname, 'LoopbackCassandra.java')],
  ]);
  // If a suite ends during the start, no code handles a rejection of this promise.
  const pipes = [child.stdin, child.stdout, child.stderr] as Socket[];
  for (const each of [child, ...pipes]) each.unref();
  const exit = once(child, 'exit');
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  const stop = async () => {
    child.stdin.end();
    await exit;
    await rm(folder, { recursive: true, force: true });
  };
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'listening') return { port, stop };
    output += `${line}\n`;
  }
  await stop();
  throw new Error(`Apache Cassandra did not start: ${output}`);
}

/** A Cassandra with a keyspace, and its client. It starts before the first test of a file, and stops after the last test. */
export function cassandraForTests(keyspace: string, partitioner?: string) {
  const running = {} as {
    port: number;
    client: Client;
    connect: (options?: Partial<ClientOptions>) => Client;
  };
  let server: RunningCassandra | undefined;
  const clients: Client[] = [];
  beforeAll(async () => {
    server = await startCassandra(partitioner);
    const { port } = server;
    const connect = (options: Partial<ClientOptions> = {}) => {
      const client = new Client({
        contactPoints: [`127.0.0.1:${port}`],
        localDataCenter: 'datacenter1',
        policies: { retry: new policies.retry.FallthroughRetryPolicy() },
        ...options,
      });
      clients.push(client);
      return client;
    };
    Object.assign(running, { port, connect, client: connect() });
    const replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
    await running.client.execute(`CREATE KEYSPACE ${keyspace} WITH replication = ${replication}`);
  }, 300_000);
  afterAll(async () => {
    for (const client of clients) await client.shutdown();
    await server?.stop();
  }, 60_000);
  return running;
}

async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()];
  for (const server of servers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const ports = servers.map((server) => (server.address() as AddressInfo).port) as [number, number];
  for (const server of servers) {
    server.close();
    await once(server, 'close');
  }
  return ports;
}

/**
 * The configuration of one node on the loopback interface. Cassandra writes its commit log to the disk only every ten
 * seconds, because the data is temporary.
 */
function cassandraYaml(folder: string, port: number, storagePort: number): string {
  return `cluster_name: conformance
num_tokens: 1
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
commitlog_sync: periodic
commitlog_sync_period: 10000ms
commitlog_segment_size: 8MiB
commitlog_total_space: 128MiB
memtable_heap_space: 128MiB
memtable_offheap_space: 128MiB
file_cache_size: 32MiB
networking_cache_size: 16MiB
key_cache_size: 8MiB
auto_snapshot: false
auto_bootstrap: false
disk_optimization_strategy: ssd
endpoint_snitch: SimpleSnitch
listen_address: 127.0.0.1
rpc_address: 127.0.0.1
storage_port: ${storagePort}
native_transport_port: ${port}
data_file_directories: [${folder}/data]
commitlog_directory: ${folder}/commitlog
saved_caches_directory: ${folder}/saved_caches
hints_directory: ${folder}/hints
cdc_raw_directory: ${folder}/cdc_raw
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: 127.0.0.1:${storagePort}
`;
}

const QUIET_LOG = `<configuration>
  <appender name="STDERR" class="ch.qos.logback.core.ConsoleAppender">
    <target>System.err</target>
    <encoder><pattern>%-5level %msg%n%ex{5}</pattern></encoder>
  </appender>
  <root level="ERROR"><appender-ref ref="STDERR"/></root>
</configuration>
`;

/** Source: conf/jvm17-server.options of Apache Cassandra 5.0. */
const MODULES = [
  ...[
    'java.base/jdk.internal.misc',
    'java.management.rmi/com.sun.jmx.remote.internal.rmi',
    'java.rmi/sun.rmi.registry',
    'java.rmi/sun.rmi.server',
    'java.rmi/sun.rmi.transport.tcp',
    'java.sql/java.sql',
    'jdk.compiler/com.sun.tools.javac.api',
    'jdk.compiler/com.sun.tools.javac.code',
    'jdk.compiler/com.sun.tools.javac.file',
    'jdk.compiler/com.sun.tools.javac.parser',
    'jdk.compiler/com.sun.tools.javac.tree',
    'jdk.compiler/com.sun.tools.javac.util',
    'jdk.naming.dns/com.sun.jndi.dns',
    'jdk.unsupported/sun.misc',
  ].map((module) => `--add-exports=${module}=ALL-UNNAMED`),
  ...[
    'java.base/java.io',
    'java.base/java.lang',
    'java.base/java.lang.module',
    'java.base/java.lang.reflect',
    'java.base/java.net',
    'java.base/java.nio',
    'java.base/java.util',
    'java.base/java.util.concurrent',
    'java.base/java.util.concurrent.atomic',
    'java.base/jdk.internal.loader',
    'java.base/jdk.internal.math',
    'java.base/jdk.internal.module',
    'java.base/jdk.internal.ref',
    'java.base/jdk.internal.reflect',
    'java.base/jdk.internal.util.jar',
    'java.base/jdk.internal.vm',
    'java.base/sun.nio.ch',
    'jdk.management/com.sun.management.internal',
    'jdk.management.jfr/jdk.management.jfr',
  ].map((module) => `--add-opens=${module}=ALL-UNNAMED`),
];
