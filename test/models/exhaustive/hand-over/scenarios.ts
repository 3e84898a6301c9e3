import type { Scenario } from '../explore';
import { type HandOverBounds, handOverScenario } from './hand-over-scenario';

/** A key moves to another shard, with faults of its producer and crashes of its readers. */
export function handOverScenarios(faults: number): Scenario[] {
  const base: HandOverBounds = { before: ['a1'], behind: ['a2'], faults: 0, crashes: faults + 1, batch: 1 };
  const all: Record<string, HandOverBounds> = {
    'readers end': base,
    'readers end, whole batches': { ...base, batch: 100 },
    'requests fail': { ...base, faults, crashes: 0 },
    'readers end and requests fail, whole batches': { ...base, faults: 1, crashes: 1, batch: 100 },
    'the producer ends': { ...base, faults: faults - 1, crashes: 0, producerEnds: 1 },
    'the producer and a reader end': { ...base, crashes: 1, producerEnds: faults, batch: 100 },
  };
  return Object.entries(all).map(([name, bounds]) => handOverScenario(`a hand-over, ${name}`, bounds));
}
