import { describeWhere } from '../support/describe-where';
import { DYNAMODB_LOCAL, startDynamoDbLocal } from './dynamodb-local';
import { findDynoxide, startDynoxide } from './dynoxide';

/** An emulator of DynamoDB that supports multi-attribute keys. */
export interface DynamoDbEmulator {
  readonly name: string;
  readonly isInstalled: boolean;
  /** The command that installs the emulator. */
  readonly needs: string;
  start(): Promise<{ endpoint: string; stop(): Promise<void> }>;
}

const dynoxide = findDynoxide();

export const DYNAMODB_EMULATORS: readonly DynamoDbEmulator[] = [
  {
    name: 'DynamoDB Local',
    isInstalled: process.env[DYNAMODB_LOCAL] !== undefined,
    needs: 'a JDK',
    start: startDynamoDbLocal,
  },
  {
    name: 'dynoxide',
    isInstalled: dynoxide !== undefined,
    needs: 'cargo, or dynoxide on the path',
    start: () => startDynoxide(dynoxide!),
  },
];

/** Runs a suite on each installed emulator. */
export function describeOnDynamoDbEmulators(name: string, suite: (emulator: DynamoDbEmulator) => void): void {
  for (const emulator of DYNAMODB_EMULATORS)
    describeWhere(emulator.isInstalled, emulator.needs)(`${name} on ${emulator.name}`, () => suite(emulator));
}
