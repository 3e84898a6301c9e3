import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidArgumentError } from '../../../lib/core/kernel/errors';
import { type Gate, LOST, refusal } from './service-proxy';

/** What can be made to go wrong with a call. */
export const FAULT_KINDS = ['error', 'lost-answer', 'slow', 'throttle'] as const;
type FaultKind = (typeof FAULT_KINDS)[number];

export const FAULTY_SERVICES = ['dynamodb', 'kinesis'] as const;
export type FaultyService = (typeof FAULTY_SERVICES)[number];

/** How likely each fault of a service is, from 0 to 1. */
export type FaultRates = Partial<Record<FaultKind, number>>;

const FAULT = /^(\w+):([\w-]+)=(\d+(?:\.\d+)?)%$/;

/**
 * Reads `kinesis:lost-answer=1%,dynamodb:slow=2%`.
 *
 * @throws InvalidArgumentError that says what is allowed
 */
export function parseFaults(text: string): Record<FaultyService, FaultRates> {
  const rates: Record<FaultyService, FaultRates> = { dynamodb: {}, kinesis: {} };
  for (const part of text.split(',')) {
    const [, service, kind, percent] = FAULT.exec(part.trim()) ?? [];
    const isKnown = isOneOf(FAULTY_SERVICES, service) && isOneOf(FAULT_KINDS, kind) && Number(percent) <= 100;
    if (!isKnown || rates[service][kind] !== undefined) throw new InvalidArgumentError('faults', part.trim(), ALLOWED);
    rates[service][kind] = Number(percent) / 100;
  }
  return rates;
}

const ALLOWED = `each fault once, as service:fault=0..100%, of the services ${FAULTY_SERVICES.join(', ')} and the faults ${FAULT_KINDS.join(', ')}, joined by commas`;

function isOneOf<T extends string>(allowed: readonly T[], text: string | undefined): text is T {
  return (allowed as readonly (string | undefined)[]).includes(text);
}

/** Draws faults by their rates, and counts them. */
export class Faults {
  readonly injected: Partial<Record<FaultKind, number>> = {};

  constructor(
    private readonly rates: FaultRates,
    private readonly random: () => number,
  ) {}

  /** Whether the fault happens now. Random numbers are drawn only for faults that were asked for. */
  happens(kind: FaultKind): boolean {
    const rate = this.rates[kind] ?? 0;
    if (rate === 0 || this.random() >= rate) return false;
    this.injected[kind] = (this.injected[kind] ?? 0) + 1;
    return true;
  }
}

/** Longer than a caller likes to wait, but shorter than its timeout. */
const SLOW_MS = 2_000;

/** Adds faults to a gate. The call behind a lost answer is applied, and the call behind an error is not. */
export function withFaults(gate: Gate, faults: Faults): Gate {
  return async (call, forward) => {
    if (faults.happens('error')) return refusal('InternalFailure', 'Internal service failure.', {}, 500);
    if (faults.happens('slow')) await sleep(SLOW_MS);
    const isLost = faults.happens('lost-answer');
    const answer = await gate(call, forward);
    return isLost ? LOST : answer;
  };
}
