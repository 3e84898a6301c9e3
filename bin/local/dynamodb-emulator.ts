import { emulatorEntry } from './emulator-package';
import { type Emulator, startEmulator } from './emulator-thread';

const SOURCE = `
const { parentPort, workerData } = require('node:worker_threads');
const server = require(workerData)({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
// It throws what breaks a connection, such as an aborted request: that ends the connection alone.
process.on('uncaughtException', (error) => {
  if (!['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(error.code)) throw error;
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

/** DynamoDB, by dynalite. */
export async function startDynamoDbEmulator(): Promise<Emulator> {
  return startEmulator({ name: 'dynalite', source: SOURCE, entry: emulatorEntry('dynalite'), environment: {} });
}
