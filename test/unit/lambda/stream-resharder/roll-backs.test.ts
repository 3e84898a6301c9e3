import { StackStatus } from '@aws-sdk/client-cloudformation';
import { handler } from '../../../../lambda/stream-resharder';
import type { ReshardEvent } from '../../../../lambda/stream-resharder/reshard-event';
import { FakeControlPlane } from '../../../../lib/testing/fake-control-plane';
import { serviceError } from '../../../../lib/testing/service-error';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';

/**
 * Combines each status of a stack and each state of a stream with each request. No emulator supports all these states, so
 * the tests use a simulated control plane.
 */
let kinesis: FakeControlPlane;
let stacks: Record<string, { StackStatus: string; ParentId?: string }>;
jest.mock('../../../../lambda/reshard-client', () => ({
  reshardClient: () => new Proxy({}, { get: (_, call: keyof FakeControlPlane) => callOf(call) }),
  boundedHandler: () => undefined,
}));
jest.mock('@aws-sdk/client-cloudformation', () => ({
  ...jest.requireActual('@aws-sdk/client-cloudformation'),
  CloudFormation: class {
    async describeStacks({ StackName }: { StackName: string }) {
      if (stacks[StackName] === undefined) throw new Error('no connection to CloudFormation');
      return { Stacks: [stacks[StackName]] };
    }
  },
}));
const callOf = (call: keyof FakeControlPlane) => (kinesis[call] as (input: object) => Promise<object>).bind(kinesis);

const ROLLING_BACK = [
  'ROLLBACK_IN_PROGRESS',
  'ROLLBACK_FAILED',
  'ROLLBACK_COMPLETE',
  'UPDATE_ROLLBACK_IN_PROGRESS',
  'UPDATE_ROLLBACK_FAILED',
  'UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS',
  'UPDATE_ROLLBACK_COMPLETE',
];
/** All statuses of a stack. The last status is undefined: in this case, CloudFormation does not return the stack. */
const STATUSES = [...Object.values(StackStatus), undefined];
const REQUESTS = ['Create', 'Update', 'Delete'] as const;
const STREAMS = ['there', 'gone', 'unreadable', 'updating'] as const;

type Request = (typeof REQUESTS)[number];
type State = (typeof STREAMS)[number];

/** The deployment updates the stream from 4 shards to 8. The resource is deleted when the stream has 8 shards. */
const [BEFORE, DECLARED] = [4, 8];

/** A stack with this status. */
const stackOf = (status: string | undefined): typeof stacks =>
  status === undefined ? {} : { own: { StackStatus: status } };

describe('the custom resource of a shard count', () => {
  let clock: VirtualClock;
  let warned: jest.SpyInstance;
  beforeEach(() => {
    clock = new VirtualClock();
    jest.spyOn(Date, 'now').mockImplementation(() => Date.UTC(2026, 0, 1) + clock.now());
    jest.spyOn(console, 'info').mockImplementation();
    warned = jest.spyOn(console, 'warn').mockImplementation();
  });
  afterEach(() => jest.restoreAllMocks());

  function createStream(state: State, shardCount: number): void {
    kinesis = new FakeControlPlane({ clock, shardCount, roundTripMs: () => 0, reshardStepMs: 100 });
    if (state === 'updating') {
      kinesis.status = 'UPDATING';
      clock.schedule(() => {
        kinesis.status = 'ACTIVE';
      }, 60_000);
    }
    if (state !== 'gone' && state !== 'unreadable') return;
    const name = state === 'gone' ? 'ResourceNotFoundException' : 'AccessDeniedException';
    jest.spyOn(kinesis, 'describeStreamSummary').mockRejectedValue(serviceError(name, name));
  }

  const run = (request: Request) => clock.runUntil(responseTo(request));

  /** Invokes the function every ten seconds until the response is complete, as the provider framework does. */
  async function responseTo(RequestType: Request): Promise<object> {
    const event: ReshardEvent = {
      RequestType,
      StackId: 'own',
      PhysicalResourceId: 'Events',
      ResourceProperties: {
        StreamName: 'Events',
        ShardCount: String(DECLARED),
        DeployedShardCount: String(BEFORE),
      },
    };
    let response = await handler(event);
    while (!response.IsComplete) {
      await clock.sleep(10_000);
      response = await handler({ ...event, ...response });
    }
    return { ...response, shards: kinesis.openShards.length };
  }

  const shards = (OpenShardCount: number) => ({ shards: OpenShardCount, Data: { OpenShardCount, Skew: 1 } });
  const unknown = { Data: { OpenShardCount: 'unknown', Skew: 'unknown' } };

  describe.each(STATUSES)('while the stack is in %s', (status) => {
    const isRollBack = ROLLING_BACK.includes(status!);
    beforeEach(() => {
      stacks = stackOf(status);
    });

    describe.each(['Create', 'Update'] as const)('%s', (request) => {
      test.each(['there', 'updating'] as const)(
        'changes the stream to its declared count if the stream is %s',
        async (state) => {
          createStream(state, BEFORE);
          expect(await run(request)).toMatchObject(shards(DECLARED));
        },
      );

      test.each([
        ['gone', 'ResourceNotFoundException'],
        ['unreadable', 'AccessDeniedException'],
      ] as const)(isRollBack ? 'completes if the stream is %s' : 'fails if the stream is %s', async (state, name) => {
        createStream(state, BEFORE);
        if (isRollBack) {
          expect(await run(request)).toMatchObject(unknown);
          expect(warned).toHaveBeenCalledWith(expect.objectContaining({ unknown: 'the shards of the stream' }));
        } else await expect(run(request)).rejects.toMatchObject({ name });
      });
    });

    describe('Delete', () => {
      if (isRollBack) {
        test.each(['there', 'updating'] as const)(
          'changes the stream to its previous count if the stream is %s',
          async (state) => {
            createStream(state, DECLARED);
            expect(await run('Delete')).toMatchObject(shards(BEFORE));
          },
        );

        test.each(['gone', 'unreadable'] as const)('completes if the stream is %s', async (state) => {
          createStream(state, DECLARED);
          expect(await run('Delete')).toMatchObject(unknown);
        });
      } else {
        test.each(STREAMS)('does not change the stream if the stream is %s', async (state) => {
          createStream(state, DECLARED);
          expect(await run('Delete')).toEqual({ PhysicalResourceId: 'Events', IsComplete: true, shards: DECLARED });
          expect(kinesis.calls).toEqual([]);
        });
      }
    });
  });

  test.each(STATUSES)(
    'in a nested stack, restores the count only if the parent stack rolls back: %s',
    async (status) => {
      stacks = { own: { StackStatus: 'DELETE_IN_PROGRESS', ParentId: 'around' } };
      if (status !== undefined) stacks.around = { StackStatus: status };
      createStream('there', DECLARED);

      expect(await run('Delete')).toMatchObject({ shards: ROLLING_BACK.includes(status!) ? BEFORE : DECLARED });
    },
  );
});
