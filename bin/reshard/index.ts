import {
  type IndexReshardStep,
  planIndexReshard,
  targetOf,
} from '../../lib/core/sharded-index/change/plan-index-reshard';
import { planTableReshard, type TableReshardStep } from '../../lib/core/sharded-index/change/plan-table-reshard';
import {
  ALLOWED_WRITE_SECONDS,
  isWriteSeconds,
  LONGEST_INVOCATION_SECONDS,
} from '../../lib/core/sharding/longest-write';
import { checkIndexShardCount } from '../../lib/core/sharding/shard-count';
import { inFlagTerms, numberOf, parsedFlags, UsageError } from '../flags';
import { print, printText } from '../print';
import { countsOf } from './counts-of';
import { reshardReport } from './reshard-report';
import { reshardRowsOfTable } from './rows';

const COMMAND = 'even-shards reshard';

const HELP = `usage: even-shards reshard --from COUNT... --to COUNT... [options]
       even-shards reshard --adopt --to COUNT... [options]
       even-shards reshard rows KEYSPACE.TABLE [options]

Lists the deployments that change the shard counts of an index, or of a table of Amazon Keyspaces, such that readers find all items at
all times. With --adopt, lists the steps that add an index to a table with items. With rows, moves rows of a table of Amazon Keyspaces
to the right shards: see even-shards reshard rows --help.

  --from COUNT  the deployed counts: N for the whole table or for all values without their own count, VALUE=N for a value;
                may be repeated. For an interrupted change: W/R if writers use W shards and readers read R shards. For a
                table also W/R/S if items were put with S shards or more
  --to COUNT    the final counts, N and VALUE=N
  --adopt       the table has items, and its writers and readers do not use the index yet
  --adaptive N  the counts are the initial counts of ShardCounts.adaptive, with the maximum N
  --table       the counts belong to a table that is sharded by its own key
  --longest-write SECONDS
                the longest timeout of a reader or a writer. It is the wait after a deployment, because earlier invocations
                still use the earlier counts (default: 5400, the longest timeout of a Lambda function)
  --json        print the steps as one JSON document, as planIndexReshard or planTableReshard returns them
  --help        show this text

example: even-shards reshard --from 1 --from shipped=20 --to 1 --to shipped=40 --to pending=5`;

const OPTIONS = {
  adaptive: { type: 'string' },
  adopt: { type: 'boolean', default: false },
  from: { type: 'string', multiple: true },
  help: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  'longest-write': { type: 'string' },
  table: { type: 'boolean', default: false },
  to: { type: 'string', multiple: true },
} as const;

/** `even-shards reshard`. */
export async function reshard(args: string[]): Promise<void> {
  if (args[0] === 'rows') return reshardRowsOfTable(args.slice(1));
  const flags = parsedFlags(COMMAND, { args, options: OPTIONS }).values;
  if (flags.help) return printText(HELP);
  const steps = stepsOf(flags);
  const maximum = maximumOf(flags, steps);
  const waitSeconds = waitSecondsOf(flags);
  if (flags.json) printText(JSON.stringify(steps, null, 2));
  else print(reshardReport(steps, waitSeconds, maximum));
}

/** How long an invocation that began before a deployment can still run. */
function waitSecondsOf({ 'longest-write': text }: Flags): number {
  const seconds = numberOf(COMMAND, 'longest-write', text) ?? LONGEST_INVOCATION_SECONDS;
  if (isWriteSeconds(seconds)) return seconds;
  throw new UsageError(`--longest-write must be ${ALLOWED_WRITE_SECONDS}, got ${text}`, COMMAND);
}

/** The maximum of adaptive counts. Undefined for fixed counts. */
function maximumOf({ adaptive, table }: Flags, steps: readonly Step[]): number | undefined {
  const maximum = numberOf(COMMAND, 'adaptive', adaptive);
  if (maximum === undefined) return undefined;
  if (table) throw new UsageError('--adaptive is for an index: a table has no adaptive counts', COMMAND);
  inFlagTerms(COMMAND, () => checkIndexShardCount('adaptive', maximum));
  const counts = steps.flatMap((step) =>
    step.action === 'deploy' ? Object.values(step.shards.byValue ?? {}).concat(step.shards.default) : [],
  );
  const most = Math.max(1, ...counts.map(({ write }) => write));
  if (most <= maximum) return maximum;
  throw new UsageError(`--adaptive must be at least ${most}, the initial count of a value, got ${maximum}`, COMMAND);
}

type Step = IndexReshardStep | TableReshardStep;

interface Flags {
  adaptive?: string;
  adopt: boolean;
  table: boolean;
  'longest-write'?: string;
  from?: string[];
  to?: string[];
}

function stepsOf({ adopt, table, from, to }: Flags): Step[] {
  if (adopt && from !== undefined)
    throw new UsageError('--adopt is for a table without deployed counts: leave out --from', COMMAND);
  if (adopt && table)
    throw new UsageError('--adopt is for an index: the items of a table have their shards in their key', COMMAND);
  if (to === undefined || (from === undefined && !adopt)) {
    throw new UsageError(adopt ? 'give --to' : 'give --from and --to', COMMAND);
  }
  const target = targetOf(countsOf(COMMAND, 'to', to));
  if (from === undefined) return planIndexReshard(undefined, target);
  const current = countsOf(COMMAND, table ? 'fromTable' : 'from', from);
  return table ? planTableReshard(current, target) : planIndexReshard(current, target);
}
