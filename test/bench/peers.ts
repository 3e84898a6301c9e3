import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeGuideTable } from '../support/guide-table';
import { printTable, rounded } from '../support/tables/producer/table';
import { ENDPOINT, type Endpoint, type StreamBehaviour, serveEndpoint, startEndpoint } from './peers/endpoint';
import { NODE_PEER, runNodePeer } from './peers/node-peers';
import { PEERS, type Peer } from './peers/peers';
import { canMeasureProcesses, type PeerProcess, startPeer } from './peers/process';
import { KEYS, RECORD_BYTES } from './peers/workload';

/**
 * Compares other libraries with the ordered producer. Each library runs in its own process with its default settings,
 * on a stream that responds over TLS on the loopback interface. Prints a note for each peer whose tools are missing.
 * Writes the table of decision 0002.
 *
 *     npm run bench peers [scenario...]
 */

interface Scenario {
  readonly behaviour: StreamBehaviour;
  readonly records: number;
  readonly rounds: number;
}

/** The scenario and the columns that the decision record shows. */
const DECISION_SCENARIO = 'crowded';
const DECISION_COLUMNS = ['', 'records/s', 'µs of CPU a record', 'out of order ‰', 'not read ‰'];

const QUIET = { left: 1, failed: 0, throttled: 0 };

const SCENARIOS: Record<string, Scenario> = {
  calm: { behaviour: { shards: 128, ...QUIET }, records: 40_000, rounds: 3 },
  crowded: { behaviour: { shards: 4, ...QUIET, left: 0.5, failed: 0.01 }, records: 20_000, rounds: 1 },
  'by-chance': { behaviour: { shards: 4, ...QUIET, throttled: 0.01 }, records: 20_000, rounds: 1 },
};

interface Round {
  readonly records: number;
  readonly seconds: number;
  readonly cpuMs: number;
  readonly bytes: number;
  readonly requests: number;
  readonly outOfOrder: number;
  readonly duplicates: number;
  readonly missing: number;
}

interface Outcome {
  readonly name: string;
  readonly rounds: readonly Round[];
  readonly peakBytes: number;
}

async function compare(names: readonly string[]): Promise<void> {
  if (!canMeasureProcesses())
    return console.log('SKIPPED: processes are measured through /proc, which this system does not have');
  const temporaryFolder = mkdtempSync(join(tmpdir(), 'peers-'));
  const endpoint = await startEndpoint(__filename);
  try {
    const commands = PEERS.map((peer) => peer.prepare({ program: __filename, port: endpoint.port, temporaryFolder }));
    for (const name of names) {
      const outcomes: Outcome[] = [];
      for (const [index, peer] of PEERS.entries()) {
        const command = commands[index];
        if (command === undefined) console.log(`SKIPPED: ${peer.name} needs ${peer.needs}`);
        else outcomes.push(await run(peer, command, endpoint, SCENARIOS[name]!));
      }
      show(name, outcomes);
    }
  } finally {
    endpoint.stop();
    rmSync(temporaryFolder, { recursive: true });
  }
}

/** Measures a peer, after a warm-up on a stream that does not throttle. */
async function run(peer: Peer, command: string[], endpoint: Endpoint, scenario: Scenario): Promise<Outcome> {
  const records = Math.round(scenario.records * (peer.share ?? 1));
  const process = await startPeer(command);
  try {
    const { shards } = scenario.behaviour;
    await endpoint.begin({ shards, ...QUIET });
    await process.put(0, Math.min(records, shards * 1_000));
    const rounds: Round[] = [];
    for (let round = 1; round <= scenario.rounds; round++) {
      await endpoint.begin(scenario.behaviour);
      rounds.push(await measure(process, endpoint, round * records, records));
    }
    return { name: peer.name, rounds, peakBytes: process.usage().peakBytes };
  } catch (error) {
    console.log(`${peer.name}: ${error}`);
    return { name: peer.name, rounds: [], peakBytes: 0 };
  } finally {
    await process.stop();
  }
}

async function measure(process: PeerProcess, endpoint: Endpoint, first: number, records: number): Promise<Round> {
  const before = process.usage();
  const startMs = performance.now();
  await process.put(first, records);
  const seconds = (performance.now() - startMs) / 1_000;
  const cpuMs = process.usage().cpuMs - before.cpuMs;
  const { read, ...report } = await endpoint.report();
  return { ...report, records, seconds, cpuMs, missing: records - read };
}

function show(scenario: string, outcomes: readonly Outcome[]): void {
  const { records, rounds } = SCENARIOS[scenario]!;
  console.log(
    `\n${scenario}: ${rounded(records)} records of ${RECORD_BYTES} bytes, ${rounded(KEYS)} keys, medians of ${rounds} rounds\n`,
  );
  const cpuOf = (outcome: Outcome) => median(outcome.rounds.map((round) => (round.cpuMs * 1_000) / round.records));
  const baseline = cpuOf(outcomes[0]!);
  const table = outcomes.map((outcome) => {
    const { name, rounds, peakBytes } = outcome;
    const mean = (of: (round: Round) => number) => rounds.reduce((sum, round) => sum + of(round), 0) / rounds.length;
    if (rounds.length === 0) return [name, 'did not end', '', '', '', '', '', '', ''];
    const cpu = cpuOf(outcome);
    return [
      name,
      rounded(median(rounds.map((round) => round.records / round.seconds))),
      rounded(cpu, cpu < 100 ? 1 : 0),
      `${rounded(cpu / baseline, 1)} x`,
      rounded(mean((round) => round.bytes / round.records)),
      rounded(peakBytes / 2 ** 20),
      perThousand(mean((round) => round.outOfOrder / round.records)),
      perThousand(mean((round) => round.duplicates / round.records)),
      perThousand(mean((round) => round.missing / round.records)),
    ];
  });
  const header = ['', 'records/s', 'µs of CPU a record', 'ratio', 'bytes a record', 'MiB at most'];
  const allColumns = [...header, 'out of order ‰', 'twice ‰', 'not read ‰'];
  if (scenario === DECISION_SCENARIO) {
    const rows = table.map((cells) => DECISION_COLUMNS.map((column) => cells[allColumns.indexOf(column)]!));
    writeGuideTable(
      'docs/decisions/0002-one-batch-entry-in-flight-per-partition-key.md',
      `npm run bench peers ${scenario}`,
      DECISION_COLUMNS,
      rows,
    );
  }
  printTable(allColumns, table);
}

function perThousand(share: number): string {
  return share === 0 ? '0' : rounded(share * 1_000, 1);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

const [first, ...rest] = process.argv.slice(2);
if (first === ENDPOINT) serveEndpoint();
else if (first === NODE_PEER) void runNodePeer(rest[0]!, Number(rest[1]), rest[2]!);
else void compare(first === undefined ? Object.keys(SCENARIOS) : [first, ...rest]);
