import { inFlagTerms } from '../flags';
import { print, printText } from '../print';
import { busiestKey, readSample, type TrafficSample, withProgress } from '../samples/traffic-sample';
import { languageOf } from './code-language';
import { printDivided } from './divided-shards';
import { PLAN_COMMAND, PLAN_HELP, type PlanFlags, planFlags, wants } from './plan-flags';
import { planItem } from './plan-item';
import { planOverload } from './plan-overload';
import { type PlannedKind, planReport, type SampleSummary } from './plan-report';
import { plannedIndex } from './planned-index';
import { plannedStream } from './planned-stream';
import { pricesFile } from './prices-file';
import { whichKey } from './which-key';

/** `even-shards plan`. */
export async function plan(args: string[]): Promise<void> {
  if (args[0] === 'item') return planItem(args.slice(1));
  if (args[0] === 'overload') return planOverload(args.slice(1));
  const { flags, target } = planFlags(args);
  const language = languageOf(PLAN_COMMAND, flags.language);
  if (flags.help) return printText(PLAN_HELP);
  if (flags.shards !== undefined) return printDivided(flags, language);
  const prices = flags.prices === undefined ? undefined : pricesFile(flags.prices);
  const { input, key } = flags;
  if (input !== undefined && key === undefined) return whichKey(input, flags);
  const sample =
    input && (await withProgress('records read', (onProgress) => readSample(input, { key: key!, onProgress })));
  const planned = {
    ...(sample && { sample: summaryOf(sample, key!) }),
    ...(wants('stream', target, flags) && {
      stream: inFlagTerms(PLAN_COMMAND, () => plannedStream(flags, sample, prices)),
    }),
    ...(wants('index', target, flags) && {
      index: inFlagTerms(PLAN_COMMAND, () => plannedIndex(flags, kindOf(target, flags), sample, prices)),
    }),
  };
  if (flags.json) printText(JSON.stringify(planned, flags.keyspaces ? withoutCost : undefined, 2));
  else print(planReport(planned, language));
}

/** Leaves out the cost of a plan for Amazon Keyspaces, because the known prices are prices of DynamoDB. */
function withoutCost(key: string, value: unknown): unknown {
  return key === 'monthlyCost' ? undefined : value;
}

function kindOf(target: string | undefined, { keyspaces }: PlanFlags): PlannedKind {
  if (keyspaces) return 'keyspaces';
  return target === 'table' ? 'table' : 'index';
}

function summaryOf(sample: TrafficSample, keyField: string): SampleSummary {
  return { keyField, records: sample.records, keys: sample.keys.size, busiest: busiestKey(sample) };
}
