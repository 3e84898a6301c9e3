import { StackStatus } from '@aws-sdk/client-cloudformation';
import { handler } from '../../../../lambda/stream-resharder';
import type { ReshardEvent } from '../../../../lambda/stream-resharder/reshard-event';
import { FakeControlPlane } from '../../../../lib/testing/fake-control-plane';
import { serviceError } from '../../../../lib/testing/service-error';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';

/** What no emulator can be brought to: each status of a stack, and each state of a stream, in the moment of each request. */
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
      if (stacks[StackName] === undefined) throw new Error('no way to CloudFormation');
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
/** The last is that of a stack that CloudFormation does not tell of. */
const STATUSES = [...Object.values(StackStatus), undefined];
const REQUESTS = ['Create', 'Update', 'Delete'] as const;
const STREAMS = ['there', 'gone', 'unreadable', 'updating'] as const;

type Request = (typeof REQUESTS)[number];
type State = (typeof STREAMS)[number];

/** A stream that the deployment takes from 4 shards to 8, and whose resource is deleted when it has them. */
const [BEFORE, DECLARED] = [4, 8];

/** A stack for a moment of its life. */
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

  function begin(state: State, shardCount: number): void {
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

  const play = (request: Request) => clock.runUntil(answerOf(request));

  /** Asks every ten seconds until the answer is complete, as the provider framework does. */
  async function answerOf(RequestType: Request): Promise<object> {
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
    let answer = await handler(event);
    while (!answer.IsComplete) {
      await clock.sleep(10_000);
      answer = await handler({ ...event, ...answer });
    }
    return { ...answer, shards: kinesis.openShards.length };
  }

  const shards = (OpenShardCount: number) => ({ shards: OpenShardCount, Data: { OpenShardCount, Skew: 1 } });
  const unknown = { Data: { OpenShardCount: 'unknown', Skew: 'unknown' } };

  describe.each(STATUSES)('while the stack is in %s', (status) => {
    const isRollBack = ROLLING_BACK.includes(status!);
    beforeEach(() => {
      stacks = stackOf(status);
    });

    describe.each(['Create', 'Update'] as const)('%s', (request) => {
      test.each(['there', 'updating'] as const)('takes a stream that is %s to its count', async (state) => {
        begin(state, BEFORE);
        expect(await play(request)).toMatchObject(shards(DECLARED));
      });

      test.each([
        ['gone', 'ResourceNotFoundException'],
        ['unreadable', 'AccessDeniedException'],
      ] as const)(
        isRollBack ? 'does not hold the stack up if the stream is %s' : 'fails if the stream is %s',
        async (state, name) => {
          begin(state, BEFORE);
          if (isRollBack) {
            expect(await play(request)).toMatchObject(unknown);
            expect(warned).toHaveBeenCalledWith(expect.objectContaining({ unknown: 'the shards of the stream' }));
          } else await expect(play(request)).rejects.toMatchObject({ name });
        },
      );
    });

    describe('Delete', () => {
      if (isRollBack) {
        test.each(['there', 'updating'] as const)(
          'takes a stream that is %s back to its count of before',
          async (state) => {
            begin(state, DECLARED);
            expect(await play('Delete')).toMatchObject(shards(BEFORE));
          },
        );

        test.each(['gone', 'unreadable'] as const)('does not hold the stack up if the stream is %s', async (state) => {
          begin(state, DECLARED);
          expect(await play('Delete')).toMatchObject(unknown);
        });
      } else {
        test.each(STREAMS)('leaves a stream that is %s alone', async (state) => {
          begin(state, DECLARED);
          expect(await play('Delete')).toEqual({ PhysicalResourceId: 'Events', IsComplete: true, shards: DECLARED });
          expect(kinesis.calls).toEqual([]);
        });
      }
    });
  });

  test.each(STATUSES)('is deleted with a nested stack while the stack around it is in %s', async (status) => {
    stacks = { own: { StackStatus: 'DELETE_IN_PROGRESS', ParentId: 'around' } };
    if (status !== undefined) stacks.around = { StackStatus: status };
    begin('there', DECLARED);

    expect(await play('Delete')).toMatchObject({ shards: ROLLING_BACK.includes(status!) ? BEFORE : DECLARED });
  });
});
