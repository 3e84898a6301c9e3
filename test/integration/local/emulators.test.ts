import { emulatorEntry } from '../../../bin/local/emulators/emulator-package';
import { startEmulator, unlessFailed } from '../../../bin/local/emulators/emulator-thread';

function start(source: string) {
  return startEmulator({ name: 'emulator', source, entry: '', environment: {} });
}

const LISTENING = 'require("node:worker_threads").parentPort.postMessage(1234);';

test('an emulator that fails to start is reported with its last output', async () => {
  const source = 'process.stderr.write("no certificate\\n"); setTimeout(() => process.exit(7), 50);';
  await expect(start(source)).rejects.toThrow('emulator ended with exit code 7: no certificate');
});

test('an emulator that throws is reported with what it threw', async () => {
  await expect(start('throw new Error("out of order")')).rejects.toThrow('emulator failed with out of order');
});

test('an emulator that ends by itself is reported to whoever waits for that', async () => {
  const { endpoint, failure } = await start(`${LISTENING} setTimeout(() => process.exit(1), 50);`);
  expect(endpoint).toBe('http://127.0.0.1:1234');
  await expect(failure).rejects.toThrow('emulator ended with exit code 1');
});

test('an emulator that is stopped has not failed', async () => {
  const { failure, stop } = await start(`${LISTENING} setInterval(() => {}, 1000);`);
  await stop();
  await expect(Promise.race([failure, 'nothing happened'])).resolves.toBe('nothing happened');
});

test('an emulator that is not installed is reported with the command that installs it', () => {
  expect(() => emulatorEntry('kinesis-nowhere')).toThrow(
    'a local run needs kinesis-nowhere, which is not installed: run `npm install --save-dev kinesis-local dynalite`',
  );
});

describe('work that needs an emulator', () => {
  const never = new Promise<never>(() => {});
  const refused = () => Promise.reject(new Error('connect ECONNREFUSED'));

  test("ends with the emulator's failure, even if its own is known a little earlier", async () => {
    const source = `${LISTENING} setTimeout(() => process.exit(1), 50);`;
    const first = await start(source);
    await expect(unlessFailed(never, first.failure)).rejects.toThrow('emulator ended with exit code 1');
    const second = await start(source);
    await expect(unlessFailed(refused(), second.failure)).rejects.toThrow('emulator ended with exit code 1');
  });

  test('ends with its own failure when the emulator lives', async () => {
    await expect(unlessFailed(refused(), never)).rejects.toThrow('connect ECONNREFUSED');
  });
});
