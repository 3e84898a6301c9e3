import { InvalidArgumentError } from '../../lib/core/kernel/errors';
import { deploymentFindings } from '../../lib/deployment-check/deployment-findings';
import { type Finding, inOrderOfSteps, worstSeverity } from '../../lib/deployment-check/finding';
import { askingAccount } from '../deployed-stack/account-error';
import { STACK_ACTIONS } from '../deployed-stack/account-stack';
import { type AwsClients, awsClients, destroyClients } from '../deployed-stack/aws-clients';
import { STATE_ACTIONS } from '../deployed-stack/resource-state';
import { endpointOf, parsedFlags, UsageError } from '../flags';
import { InvalidInputError } from '../invalid-input-error';
import { CloudAssemblyError } from '../local/assembly/cloud-assembly';
import { print, printError, printText } from '../print';
import { findingsWithItems, ITEM_ACTIONS } from './added-indexes';
import { checkJson, checkReport } from './check-report';
import { type ClientsOfRegion, type Comparison, compareWithAccount, compareWithFolder } from './stack-changes';

const COMMAND = 'even-shards check';

const HELP = `usage: even-shards check --deployed FOLDER [--app DIRECTORY] [options]
       even-shards check --account [--app DIRECTORY] [options]

Compares an app with its deployed stacks, and changes nothing. Prints the changes that AWS would reject, the resources that a
deployment would replace or delete, the items that readers would miss, and the keys that would lose their order. The findings are in
the order of the steps to take.

  --app DIRECTORY    the cloud assembly to deploy (default: cdk.out)
  --deployed FOLDER  the deployed templates: an earlier cdk.out, or STACK.template.json of each stack. Without the template of
                     any stack, the folder is invalid
  --account          read the templates, streams and tables from the account, with the credentials of the environment. Also read
                     at most 1,000 items of each table that gets an index
  --endpoint URL     with --account, the endpoint of all services, such as an emulator
  --revert-drift     with --account, report what a deployment with \`cdk deploy --revert-drift\` would do
  --acknowledge ID   leave out findings with this id, such as Deployment.retentionLowered; may be repeated
  --json             print one JSON document
  --help             show this text

permissions for --account: ${[...STACK_ACTIONS, ...STATE_ACTIONS, ...ITEM_ACTIONS].join(', ')}

exit code, by the worst finding:
  0  no finding
  5  only notices: the effect is left or uneven, or the step is know
  1  AWS rejects the deployment: the effect is refused
  4  the deployment does harm: any other effect
  2  an argument or an input is invalid
  3  a request to the account fails
  70 the command has a bug or cannot run here

example: npx cdk synth && npx even-shards check --account`;

const OPTIONS = {
  account: { type: 'boolean', default: false },
  acknowledge: { type: 'string', multiple: true, default: [] as string[] },
  app: { type: 'string', default: 'cdk.out' },
  deployed: { type: 'string' },
  endpoint: { type: 'string' },
  help: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  'revert-drift': { type: 'boolean', default: false },
} as const;

export async function check(args: string[], clientsOf?: ClientsOfRegion): Promise<void> {
  const flags = parsedFlags(COMMAND, { args, options: OPTIONS }).values;
  if (flags.help) return printText(HELP);
  if (flags.account === (flags.deployed !== undefined)) {
    throw new UsageError('give either --deployed or --account', COMMAND);
  }
  for (const flag of ['endpoint', 'revert-drift'] as const) {
    if (flags[flag] && !flags.account) throw new UsageError(`--${flag} needs --account`, COMMAND);
  }
  endpointOf(COMMAND, 'endpoint', flags.endpoint);
  const { comparison, findings: all } = await compared(flags, clientsOf);
  const acknowledged = new Set(flags.acknowledge.map((id) => `cdk-even-shards:${id.replace(/^cdk-even-shards:/, '')}`));
  const findings = inOrderOfSteps(all).filter(({ id }) => !acknowledged.has(id));
  if (flags.json) printText(JSON.stringify(checkJson(findings, comparison), null, 2));
  else print(checkReport(findings, comparison));
  process.exitCode = exitCodeOf(findings);
}

interface CheckFlags {
  readonly app: string;
  readonly deployed?: string;
  readonly endpoint?: string;
  readonly 'revert-drift': boolean;
}

/** The exit code of the command, by the worst finding. 2 is for invalid input, and 3 for failed requests to the account. */
export function exitCodeOf(findings: readonly Finding[]): number {
  const severity = worstSeverity(findings);
  if (severity === undefined) return 0;
  if (severity === 'harm') return 4;
  return severity === 'refused' ? 1 : 5;
}

async function compared(
  { app, deployed, endpoint, 'revert-drift': revertsDrift }: CheckFlags,
  clientsOf: ClientsOfRegion | undefined,
): Promise<{ comparison: Comparison; findings: readonly Finding[] }> {
  try {
    if (deployed !== undefined) {
      const comparison = compareWithFolder(app, deployed);
      return { comparison, findings: deploymentFindings(comparison.changes) };
    }
    return await withClients(endpoint, (own) =>
      askingAccount(async () => {
        const comparison = await compareWithAccount(app, clientsOf ?? own, { onProgress: printError, revertsDrift });
        const all = [...comparison.ofAccount, ...deploymentFindings(comparison.changes)];
        const { findings, notCompared } = await findingsWithItems(all, comparison);
        return { comparison: { ...comparison, notCompared: [...comparison.notCompared, ...notCompared] }, findings };
      }),
    );
  } catch (error) {
    // Invalid input has another exit code than a finding, so that a pipeline can distinguish them.
    if (error instanceof CloudAssemblyError) throw new InvalidInputError(error.problem);
    if (error instanceof InvalidArgumentError) throw new UsageError(`--${error.problem}`, COMMAND);
    throw error;
  }
}

/** Runs `use` with a function that returns the clients of a region, and closes all clients at the end. */
async function withClients<T>(
  endpoint: string | undefined,
  use: (clientsOf: ClientsOfRegion) => Promise<T>,
): Promise<T> {
  const byRegion = new Map<string | undefined, AwsClients>();
  try {
    return await use((region) => {
      const clients = byRegion.get(region) ?? awsClients({ endpoint, region });
      byRegion.set(region, clients);
      return clients;
    });
  } finally {
    for (const clients of byRegion.values()) destroyClients(clients);
  }
}
