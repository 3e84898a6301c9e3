import { endpointOf, UsageError } from '../flags';
import { InvalidInputError } from '../invalid-input-error';
import { CloudAssemblyError } from '../local/assembly/cloud-assembly';
import { askingAccount } from './account-error';
import { accountStack, STACK_ACTIONS } from './account-stack';
import { type AwsClients, awsClients, destroyClients } from './aws-clients';
import { localStacks } from './local-stack';
import { type StackResources, stackResources } from './stack-resources';

/** The flags that name the deployed resources. */
export const TARGET_OPTIONS = {
  app: { type: 'string' },
  'dynamodb-endpoint': { type: 'string' },
  endpoint: { type: 'string' },
  'kinesis-endpoint': { type: 'string' },
  permissions: { type: 'boolean', default: false },
  stack: { type: 'string' },
} as const;

export const TARGET_HELP = `what is deployed:
  --stack NAME         a stack of the account, by its CloudFormation name, with the credentials and the region of the environment
  --endpoint URL       the endpoint of all services, such as an emulator
  --app DIRECTORY      instead of --stack, the app that \`even-shards local --serve\` runs, with the printed endpoints:
  --kinesis-endpoint URL, --dynamodb-endpoint URL
  --permissions        only print the IAM policy that this command needs`;

interface TargetFlags {
  readonly app?: string | undefined;
  readonly 'dynamodb-endpoint'?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly 'kinesis-endpoint'?: string | undefined;
  readonly permissions: boolean;
  readonly stack?: string | undefined;
}

/** The target of a command: deployed resources, and clients of their services. */
export interface Target {
  readonly resources: StackResources;
  readonly clients: AwsClients;
  /** The permissions for reading the target. */
  readonly statements: readonly Statement[];
}

/** A statement of an IAM policy. */
export interface Statement {
  readonly actions: readonly string[];
  readonly resources: readonly string[];
}

/** @throws UsageError if the flags name no stack and no app, or both */
export function checkTargetFlags(command: string, { app, stack }: Pick<TargetFlags, 'app' | 'stack'>): void {
  if (app === undefined && stack === undefined) throw new UsageError('give either --stack or --app', command);
  if (app === undefined || stack === undefined) return;
  throw new UsageError('give either --stack or --app, not both', command);
}

/**
 * Opens the target that the flags name, and closes its clients when `use` has ended. A failed request throws an
 * `AccountError`.
 */
export async function withTarget(
  command: string,
  flags: TargetFlags,
  use: (target: Target) => Promise<void>,
): Promise<void> {
  const { app, stack } = flags;
  checkTargetFlags(command, flags);
  await withClients(command, flags, async (clients) => {
    if (app !== undefined) await use(localTarget(command, app, flags, clients));
    else await use(await stackTarget(command, stack!, clients));
  });
}

/** Runs `use` with clients of the account or of an emulator. A failed request throws an `AccountError`. */
export async function withClients(
  command: string,
  flags: TargetFlags,
  use: (clients: AwsClients) => Promise<void>,
): Promise<void> {
  const [endpoint, kinesis, dynamodb] = (['endpoint', 'kinesis-endpoint', 'dynamodb-endpoint'] as const).map((flag) =>
    endpointOf(command, flag, flags[flag]),
  );
  const clients = awsClients({
    ...(endpoint !== undefined && { endpoint }),
    ...(kinesis !== undefined && { kinesis }),
    ...(dynamodb !== undefined && { dynamodb }),
  });
  try {
    await askingAccount(() => use(clients));
  } finally {
    destroyClients(clients);
  }
}

function localTarget(command: string, app: string, flags: TargetFlags, clients: AwsClients): Target {
  try {
    return {
      resources: stackResources(localStacks(app)),
      clients: localClients(command, flags, clients),
      statements: [],
    };
  } catch (error) {
    throw error instanceof CloudAssemblyError ? new InvalidInputError(error.problem) : error;
  }
}

/**
 * Requires all endpoints: without an endpoint, a request would go to the account, where a stream or a table can have the same name as a
 * local resource.
 */
function localClients(command: string, flags: TargetFlags, clients: AwsClients): AwsClients {
  const local = <S extends 'kinesis' | 'dynamodb'>(service: S): AwsClients[S] => {
    if ((flags.endpoint ?? flags[`${service}-endpoint`]) !== undefined) return clients[service];
    throw new UsageError(`--app needs --${service}-endpoint, as the local run has printed it`, command);
  };
  return {
    ...clients,
    get kinesis() {
      return local('kinesis');
    },
    get dynamodb() {
      return local('dynamodb');
    },
  };
}

async function stackTarget(command: string, stack: string, clients: AwsClients): Promise<Target> {
  const stacks = await accountStack(clients.cloudformation, stack);
  if (stacks.length === 0) throw new UsageError(`there is no stack ${stack} in the account and the region`, command);
  const arns = [`arn:aws:cloudformation:*:*:stack/${stack}/*`];
  // CloudFormation begins the name of a nested stack with the name of the parent stack.
  if (stacks.length > 1) arns.push(`arn:aws:cloudformation:*:*:stack/${stack}-*/*`);
  return { resources: stackResources(stacks), clients, statements: [{ actions: STACK_ACTIONS, resources: arns }] };
}

/** The names that a user may give for a resource. */
interface Named {
  readonly path: string;
  readonly aliases?: readonly string[];
}

/**
 * Returns the resource with this name. The name is its construct path, the end of this path, its name in AWS, or an
 * output of the stack with its name in AWS. Without a name, returns the only resource.
 *
 * @param kind the kind of the resource, such as "an index"
 * @throws UsageError if no resource has this name, or if several resources have it
 */
export function chosen<T extends Named>(command: string, kind: string, all: readonly T[], name: string | undefined): T {
  const isNamed = ({ path, aliases = [] }: T) =>
    name === undefined || path === name || path.endsWith(`/${name}`) || aliases.includes(name);
  const found = all.filter(isNamed);
  if (found.length === 1) return found[0]!;
  const listed = found.length === 0 ? all : found;
  const there = listed.length === 0 ? 'there is none' : `there is ${listed.map(({ path }) => path).join(', ')}`;
  const noun = kind.replace(/\ban? /g, '');
  let problem = `name ${kind}`;
  if (name !== undefined) problem = `${found.length === 0 ? 'no' : 'more than one'} ${noun} is called ${name}`;
  throw new UsageError(`${problem}: ${there}`, command);
}

/** The policy with these statements, as IAM accepts it. */
export function policyText(statements: readonly Statement[]): string {
  const Statement = statements
    .filter(({ actions }) => actions.length > 0)
    .map(({ actions, resources }) => ({ Effect: 'Allow', Action: actions, Resource: resources }));
  return JSON.stringify({ Version: '2012-10-17', Statement }, null, 2);
}
