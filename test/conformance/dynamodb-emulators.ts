import { findDynoxide, startDynoxide } from '../../bin/local/emulators/dynoxide';
import { describeWhere } from '../support/describe-where';
import { DYNAMODB_LOCAL, startDynamoDbLocal } from './dynamodb-local';

/** An emulator of DynamoDB that has multi-attribute keys, and what it needs. */
export interface DynamoDbEmulator {
  readonly name: string;
  readonly isInstalled: boolean;
  /** How it gets here. */
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

/** A suite on each of them that is installed. */
export function describeOnDynamoDbEmulators(name: string, suite: (emulator: DynamoDbEmulator) => void): void {
  for (const emulator of DYNAMODB_EMULATORS)
    describeWhere(emulator.isInstalled, emulator.needs)(`${name} on ${emulator.name}`, () => suite(emulator));
}
