import { emulatorEntry } from '../../../bin/local/emulators/emulator-package';
import { startEmulator, unlessFailed } from '../../../bin/local/emulators/emulator-thread';

function start(source: string) {
  return startEmulator({ name: 'emulator', source, entry: '', environment: {} });
}

const LISTENING = 'require("node:worker_threads").parentPort.postMessage(1234);';

test('startEmulator rejects with the last output of an emulator that fails to start', async () => {
  const source = 'process.stderr.write("no certificate\\n"); setTimeout(() => process.exit(7), 50);';
  await expect(start(source)).rejects.toThrow('emulator ended with exit code 7: no certificate');
});

test('startEmulator rejects with the error that an emulator throws', async () => {
  await expect(start('throw new Error("out of order")')).rejects.toThrow('emulator failed with out of order');
});

test('startEmulator – the promise `failure` rejects when an emulator ends unexpectedly', async () => {
  const { endpoint, failure } = await start(`${LISTENING} setTimeout(() => process.exit(1), 50);`);
  expect(endpoint).toBe('http://127.0.0.1:1234');
  await expect(failure).rejects.toThrow('emulator ended with exit code 1');
});

test('startEmulator – the promise `failure` does not reject when the caller stops the emulator', async () => {
  const { failure, stop } = await start(`${LISTENING} setInterval(() => {}, 1000);`);
  await stop();
  await expect(Promise.race([failure, 'nothing happened'])).resolves.toBe('nothing happened');
});

test('a missing emulator is reported with the command that installs it', () => {
  expect(() => emulatorEntry('kinesis-nowhere')).toThrow(
    'a local run needs kinesis-nowhere, which is not installed: run `npm install --save-dev kinesis-local dynalite`',
  );
});

describe('unlessFailed', () => {
  const never = new Promise<never>(() => {});
  const failing = () => Promise.reject(new Error('connect ECONNREFUSED'));

  test('rejects with the failure of the emulator, even if the work fails a little earlier', async () => {
    const source = `${LISTENING} setTimeout(() => process.exit(1), 50);`;
    const first = await start(source);
    await expect(unlessFailed(never, first.failure)).rejects.toThrow('emulator ended with exit code 1');
    const second = await start(source);
    await expect(unlessFailed(failing(), second.failure)).rejects.toThrow('emulator ended with exit code 1');
  });

  test('rejects with the error of the work if the emulator still runs', async () => {
    await expect(unlessFailed(failing(), never)).rejects.toThrow('connect ECONNREFUSED');
  });
});
