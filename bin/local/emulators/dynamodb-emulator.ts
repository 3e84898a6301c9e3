import { emulatorEntry } from './emulator-package';
import { type Emulator, startEmulator } from './emulator-thread';

const SOURCE = `
const { workerData } = require('node:worker_threads');
const { guardDynamoDb } = require(workerData.guard);
const dynalite = require(workerData.entry);
// dynalite throws an uncaught error if a connection fails, for example if a request is aborted. Such an error must not
// end the emulator.
process.on('uncaughtException', (error) => {
  if (!['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(error.code)) throw error;
});
guardDynamoDb(dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 }));
`;

/** Starts dynalite, an emulator of DynamoDB. */
export async function startDynamoDbEmulator(): Promise<Emulator> {
  return startEmulator({ name: 'dynalite', source: SOURCE, entry: emulatorEntry('dynalite'), environment: {} });
}
