import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { localClients } from '../../bin/local/emulators/clients';
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

/** A service that starts before the tests of a block, or before each test, and its client. */
export function serviceForTests(start: DynamoDbEmulator['start'], { isForEachTest = false } = {}) {
  const service = {} as { endpoint: string; dynamodb: DynamoDB };
  let stop: (() => Promise<void>) | undefined;
  (isForEachTest ? beforeEach : beforeAll)(async () => {
    const { endpoint, ...running } = await start();
    stop = () => running.stop();
    const { dynamodb } = localClients({ kinesis: endpoint, dynamodb: endpoint, lambda: endpoint });
    Object.assign(service, { endpoint, dynamodb });
  }, 300_000);
  (isForEachTest ? afterEach : afterAll)(async () => {
    service.dynamodb?.destroy();
    await stop?.();
  });
  return service;
}
