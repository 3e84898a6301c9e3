import { emulatorEntry } from './emulator-package';
import { type Emulator, startEmulator } from './emulator-thread';

const SOURCE = `
const { workerData } = require('node:worker_threads');
const { guard, withExpressionLimits, withTransactions } = require(workerData.guard);
const server = require(workerData.entry)({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
// dynalite throws an uncaught error if a connection fails, for example if a request is aborted. Such an error must not
// end the emulator.
process.on('uncaughtException', (error) => {
  if (!['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(error.code)) throw error;
});
guard(withExpressionLimits(withTransactions(server)));
`;

/** Starts dynalite, an emulator of DynamoDB. */
export async function startDynamoDbEmulator(): Promise<Emulator> {
  return startEmulator({ name: 'dynalite', source: SOURCE, entry: emulatorEntry('dynalite'), environment: {} });
}
