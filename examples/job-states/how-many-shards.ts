import { overloadProbability, shardsForOverload, weightedShards } from 'cdk-even-shards/planning';

/**
 * Calculates the numbers of the section "How to decide the number of shards" in "GSI Sharding in DynamoDB": `npx tsx
 * how-many-shards.ts`.
 */

/** A system adds nodes when the utilization of its busiest node reaches this value. */
const GROWS_AT = 0.7;
/** A node is overloaded if its load is more than 150 % of its fair share. */
const OVERLOAD = 0.5;
/** A node is unevenly loaded if its load is more than 120 % of its fair share. */
const UNEVEN = 0.2;
/** The shares of jobs in the states succeeded, ignored and pending. */
const SHARES = { succeeded: 70, ignored: 20, pending: 10 };

/** The probability that a node is overloaded if each state is one key. It counts all placements of the states on the nodes. */
function overloadOfStates(shares: readonly number[], nodes: number): number {
  const total = shares.reduce((sum, share) => sum + share, 0);
  const placements = nodes ** shares.length;
  let overloaded = 0;
  for (let placement = 0; placement < placements; placement++) {
    const held = new Array<number>(nodes).fill(0);
    shares.forEach((share, state) => {
      held[Math.floor(placement / nodes ** state) % nodes]! += share;
    });
    if (Math.max(...held) * nodes > (1 + OVERLOAD) * total) overloaded += 1;
  }
  return overloaded / placements;
}

/** The load of the busiest node if all nodes have this average load. */
function busiestNode(average: number): number {
  return average * (1 + OVERLOAD);
}

function report(): string[] {
  const rows = [2, 3, 4, 10].map((nodes) => [
    nodes,
    percent(1 / nodes),
    percent((1 + UNEVEN) / nodes),
    percent((1 + OVERLOAD) / nodes),
    percent(overloadOfStates(Object.values(SHARES), nodes)),
    percent(overloadProbability({ shards: 10 * nodes, partitions: nodes, overload: OVERLOAD })),
    shardsForOverload({ partitions: nodes, probability: 0.05, overload: OVERLOAD }),
  ]);
  const states = Object.entries(weightedShards({ shards: 100, shares: SHARES })).map(
    ([state, count]) => `${state} ${count}`,
  );
  return [
    ...table(
      ['nodes', 'share', 'uneven above', 'overload above', 'a key a state', '10 shards a node', 'shards for 5%'],
      rows,
    ),
    '',
    `of 100 shards: ${states.join(', ')}`,
    '',
    `nodes that are ${percent(GROWS_AT)} busy on average, and one of them half as much again: ` +
      `${percent(GROWS_AT)} x ${1 + OVERLOAD} = ${percent(busiestNode(GROWS_AT))}`,
    `twice as many nodes are ${percent(GROWS_AT / 2)} busy, and the busiest of them ${percent(busiestNode(GROWS_AT / 2))}: ` +
      'two machines do the work of one',
  ];
}

function percent(part: number): string {
  return `${Number((100 * part).toFixed(1))}%`;
}

function table(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  return [header, ...rows].map((row) =>
    row.map((cell, column) => String(cell).padStart(header[column]!.length)).join('  '),
  );
}

console.log(report().join('\n'));
