import { rmSync } from 'node:fs';
import { runLoad } from '../../../../bin/local/console/load';
import { type LocalStack, startLocal } from '../../../../bin/local/run-local';
import { synthesizeReferenceApp } from '../../../support/reference-app';

/** `even-shards local --limits 0.1` under a skewed load. */
describe('if the load is above the limits of the stream', () => {
  const LOAD = { records: 600, keys: 20, skew: 1, bytes: 20 };
  let app: string;
  let stack: LocalStack;

  beforeAll(async () => {
    app = synthesizeReferenceApp();
    stack = await startLocal({ app, gates: { limits: 0.1 } });
  }, 60_000);
  afterAll(async () => {
    await stack?.stop();
    rmSync(app, { recursive: true });
  });

  test('records lose their order with a usual PutRecords loop, which sends failed records again after later records', async () => {
    const { sentAgain, orderViolations, missing } = await runLoad(stack, { way: 'put-records', ...LOAD });
    expect(missing).toBe(0);
    expect(sentAgain).toBeGreaterThan(0);
    expect(orderViolations).toBeGreaterThan(0);
  }, 120_000);

  test('records keep their order with OrderedProducer', async () => {
    expect(await runLoad(stack, { way: 'producer', ...LOAD })).toMatchObject({ orderViolations: 0, missing: 0 });
  }, 120_000);

  test('the test itself reads the records without read limits, because the limits of the stream apply only to the app', async () => {
    const read = jest.spyOn(stack.clients.kinesis, 'getRecords');
    await runLoad(stack, { way: 'producer', ...LOAD, records: 20 });
    expect(read).not.toHaveBeenCalled();
  }, 120_000);
});
