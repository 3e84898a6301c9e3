import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { LOCAL_REGION } from '../../bin/local/assembly/emulated-types';
import type { Emulator } from '../../bin/local/emulators/emulator-thread';
import { startKinesisEmulator } from '../../bin/local/emulators/kinesis-emulator';
import { LOCAL_CREDENTIALS } from '../../bin/local/functions/lambda-environment';
import { waitUntilActive } from './active-stream';

/**
 * Kinesis on kinesis-local for the tests of a file or of a block. kinesis-local starts before the first test and stops
 * after the last test.
 */
export function kinesisForTests() {
  let emulator: Emulator | undefined;
  const endpoint = () => emulator!.endpoint;
  const kinesis = new Kinesis({
    region: LOCAL_REGION,
    credentials: LOCAL_CREDENTIALS,
    endpoint: async () => ({ url: new URL(endpoint()) }),
    // HTTP/1.1 reuses connections. The default of this client is HTTP/2, with a session for each request.
    requestHandler: new NodeHttpHandler(),
  });
  beforeAll(async () => {
    emulator = await startKinesisEmulator();
  }, 60_000);
  afterAll(async () => {
    kinesis.destroy();
    await emulator?.stop();
  });
  /** Creates a stream, and waits until it is active. */
  const createStream = async (StreamName: string, ShardCount: number): Promise<void> => {
    await kinesis.createStream({ StreamName, ShardCount });
    await waitUntilActive(kinesis, StreamName);
  };
  return { kinesis, endpoint, createStream };
}
