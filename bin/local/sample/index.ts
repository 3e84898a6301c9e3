import type { EvenShardsError } from '../../../lib/core/kernel/errors';
import { checkProducerRecord } from '../../../lib/core/producer/producer-record';
import { CallFailedError, InvalidInputError, isOfService } from '../../invalid-input-error';
import { readUserEvents, textField } from '../../samples/user-events';
import { indexesOf, producersOf } from '../producers-and-indexes';
import type { LocalStack } from '../run-local';
import { eventsByTime } from './events-by-time';
import { itemsByValue } from './items-by-value';
import { keysOverShards } from './keys-over-shards';
import { type ProducedEvent, produceEvents } from './produce-events';

/** The options of a sample run. The command line has already rejected invalid combinations. */
interface SampleOptions {
  /** Files of newline-delimited JSON events, to use instead of the built-in samples. */
  readonly input: readonly string[];
  /** The field of an event that holds its partition key. Required if `input` has files. */
  readonly partitionKey?: string;
  /** Prints a line of the run's report. */
  readonly print: (line: string) => void;
}

/** Writes records through a deployed app and reads them back: the built-in samples, or events of the user. */
export async function runSample(stack: LocalStack, options: SampleOptions): Promise<void> {
  try {
    await (options.input.length > 0 ? runUserEvents(stack, options) : runBuiltIn(stack, options));
  } catch (error) {
    throw isOfService(error) ? new CallFailedError(error) : error;
  }
}

async function runBuiltIn(stack: LocalStack, { print }: SampleOptions): Promise<void> {
  const sorted = indexesOf(stack).filter(({ config }) => config.sortKeyAttributes.length > 0);
  const byTime = sorted.find(({ config }) => config.valueAttribute === undefined);
  const byValue = sorted.find(({ config }) => config.valueAttribute !== undefined);
  const [producer] = producersOf(stack);
  if (byTime !== undefined) await eventsByTime(stack, byTime, print);
  if (byValue !== undefined) await itemsByValue(stack, byValue, print);
  if (producer !== undefined) await keysOverShards(stack, producer, print);
  if ((byTime ?? byValue ?? producer) === undefined) {
    print('no sample to run: the app has no OrderedProducerFunction, and no FanOutQueryFunction with string keys');
  }
}

async function runUserEvents(stack: LocalStack, { input, partitionKey, print }: SampleOptions): Promise<void> {
  const [producer] = producersOf(stack);
  if (producer === undefined) throw new InvalidInputError('the app has no OrderedProducerFunction to send events to');
  const events = (await readUserEvents(input)).map(
    (event, at): ProducedEvent => ({ partitionKey: textField(event, partitionKey!, at), data: JSON.stringify(event) }),
  );
  events.forEach(checkProducedEvent);
  await produceEvents(stack, producer, events, print);
}

/** Throws an error with the number of the invalid event, before any event is written. */
function checkProducedEvent({ partitionKey, data }: ProducedEvent, at: number): void {
  try {
    checkProducerRecord({ partitionKey, data: Buffer.from(data) }, { field: `event ${at + 1}` });
  } catch (error) {
    throw new InvalidInputError((error as EvenShardsError).problem);
  }
}
