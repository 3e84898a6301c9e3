import { type IndexReshardStep, planIndexReshard } from '../../lib/core/sharded-index/plan-index-reshard';
import type { IndexShards } from '../../lib/core/sharded-index/sharded-index-config';
import { parsedFlags, UsageError } from '../flags';
import { countsOf } from './counts-of';
import { reshardReport } from './reshard-report';

const COMMAND = 'even-shards reshard';

const HELP = `usage: even-shards reshard --from COUNT... --to COUNT... [options]

Says which deployments take an index, or a table of Amazon Keyspaces, from its shard counts to others, so that readers find
every item at every moment of the change.

  --from COUNT  the counts that are deployed: N for the whole table or for every value without a count of its own, and
                VALUE=N for a value; may be repeated; W/R if writers use W shards and readers ask R, in a change that
                was interrupted
  --to COUNT    the counts in the end, N and VALUE=N
  --json        print the steps as one JSON document, as planIndexReshard returns them
  --help        show this text

example: even-shards reshard --from 1 --from shipped=20 --to 1 --to shipped=40 --to pending=5`;

const OPTIONS = {
  from: { type: 'string', multiple: true },
  help: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  to: { type: 'string', multiple: true },
} as const;

/** `even-shards reshard`. */
export async function reshard(args: string[]): Promise<void> {
  const { help, json, from, to } = parsedFlags(COMMAND, { args, options: OPTIONS }).values;
  if (help) return console.log(HELP);
  if (from === undefined || to === undefined) throw new UsageError('give --from and --to', COMMAND);
  const steps = stepsOf(countsOf(COMMAND, 'from', from), countsOf(COMMAND, 'to', to));
  console.log(json ? JSON.stringify(steps, null, 2) : reshardReport(steps).join('\n'));
}

function stepsOf(current: IndexShards, target: IndexShards): IndexReshardStep[] {
  const byValue = Object.entries(target.byValue ?? {}).map(([value, { write }]) => [value, write]);
  return planIndexReshard(current, { default: target.default.write, byValue: Object.fromEntries(byValue) });
}
