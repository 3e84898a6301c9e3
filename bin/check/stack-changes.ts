import { statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import type { ReadTemplate } from '../../lib/cloudformation/read-template';
import { InvalidArgumentError } from '../../lib/core/kernel/errors';
import { resourceKey, resourcePaths, type StackChange } from '../../lib/deployment-check/compared-stacks';
import { checkDeployedFolder, deployedTemplate } from '../../lib/deployment-check/deployed-template';
import type { Finding, Location } from '../../lib/deployment-check/finding';
import { accountStack, type StackClient } from '../deployed-stack/account-stack';
import { resourceStates, type StateClients } from '../deployed-stack/resource-state';
import { type AssemblyStack, readCloudAssembly } from '../local/assembly/cloud-assembly';
import { driftFindings, stateFindings, withState } from './account-state';

/** The stacks of an app, compared with their deployed state. */
export interface Comparison {
  readonly changes: readonly StackChange[];
  /** Findings from the account itself, in addition to the findings from the templates. */
  readonly ofAccount: readonly Finding[];
  /** The parts of the templates that have an unknown form, each with its path and the reason. */
  readonly notCompared: readonly string[];
  /** The tables that exist in the account. Empty without an account. */
  readonly deployedTables: readonly DeployedTable[];
  /** Returns the construct path of a resource. */
  pathOf(stack: string, logicalId: string): string;
}

/** The client that reads items of tables. */
type ItemsClient = Pick<DynamoDB, 'scan'>;

/** A table in the account, and the client of its Region. */
export interface DeployedTable extends Location {
  readonly name: string;
  readonly client: ItemsClient;
}

/** A stack of the app, with its deployed template. A new stack has no deployed template. */
interface Compared {
  readonly stack: AssemblyStack;
  readonly deployed?: ReadTemplate | undefined;
}

/** All stacks of an assembly: each stack, followed by its nested stacks. */
function stacksOf(app: string): AssemblyStack[] {
  return readCloudAssembly(app).flatMap(withNested);
}

function withNested(stack: AssemblyStack): AssemblyStack[] {
  return [stack, ...[...stack.nested.values()].flatMap(withNested)];
}

/** Compares an app with the templates in a folder. */
export function compareWithFolder(app: string, folder: string): Comparison {
  checkDeployedFolder('deployed', folder);
  const root = resolve(app);
  const compared = stacksOf(app).map((stack) => {
    const file = relative(root, join(stack.directory, stack.templateFile));
    return { stack, deployed: deployedTemplate('deployed', folder, { file, stackName: stack.name }) };
  });
  // Without this error, a check against the wrong folder would pass, because every stack would look new.
  if (compared.every(({ deployed }) => deployed === undefined)) {
    const allowed = `a folder with the template of a stack of ${app}, such as ${compared[0]?.stack.name}.template.json`;
    throw new InvalidArgumentError('deployed', folder, allowed);
  }
  return comparisonOf(compared, [], []);
}

/** The clients of the region of a stack, or undefined if the stack is not compared. */
export type ClientsOfRegion = (
  region: string | undefined,
) => StateClients & { readonly cloudformation: StackClient; readonly dynamodb: ItemsClient };

interface AccountOptions {
  /** Called before the command reads a stack. */
  readonly onProgress: (line: string) => void;
  /** Whether the deployment reverts drift. */
  readonly revertsDrift: boolean;
}

/** Compares an app with the account. */
export async function compareWithAccount(
  app: string,
  clientsOf: ClientsOfRegion,
  { onProgress, revertsDrift }: AccountOptions,
): Promise<Comparison> {
  const stacks = readCloudAssembly(app);
  onProgress(`comparing ${app}, synthesized at ${statSync(join(app, 'manifest.json')).mtime.toISOString()}`);
  const compared: Compared[] = [];
  const ofAccount: Finding[] = [];
  const tables: DeployedTable[] = [];
  for (const stack of stacks) {
    const clients = clientsOf(stack.region);
    onProgress(`reading ${stack.name}`);
    const inAccount = await accountStack(clients.cloudformation, stack.name);
    for (const each of withNested(stack)) {
      const deployed = inAccount.find(({ id }) => id === nestedIdOf(stack, each));
      if (deployed === undefined) compared.push({ stack: each });
      else {
        const states = await resourceStates(deployed, clients);
        const synthesized = each.template;
        const template = withState(deployed.template, synthesized, states, revertsDrift);
        compared.push({ stack: each, deployed: { ...deployed, template } });
        for (const { logicalId, table } of states) {
          if (table?.TableName === undefined) continue;
          tables.push({ stack: each.id, logicalId, name: table.TableName, client: clients.dynamodb });
        }
        ofAccount.push(...stateFindings(each.id, deployed.template, states));
        if (revertsDrift) ofAccount.push(...driftFindings(each.id, deployed.template, synthesized, states));
      }
    }
  }
  return comparisonOf(compared, ofAccount, tables);
}

function comparisonOf(
  compared: readonly Compared[],
  ofAccount: readonly Finding[],
  deployedTables: readonly DeployedTable[],
): Comparison {
  const changes = compared.map(({ stack, deployed }) => changeOf(stack, deployed?.template));
  const paths = resourcePaths(changes);
  const names = new Map(changes.map(({ stack, name = stack }) => [stack, name]));
  const pathOf = (stack: string, logicalId: string) =>
    paths.get(resourceKey({ stack, logicalId })) ?? `${names.get(stack)}/${logicalId}`;
  const notCompared = compared.flatMap(({ stack, deployed }) =>
    [...stack.unknown, ...(deployed?.unknown ?? [])].map(
      ({ name, type, reason }) => `${pathOf(stack.id, name)} (${type}), ${reason}`,
    ),
  );
  return {
    changes,
    ofAccount,
    deployedTables,
    notCompared: [...new Set(notCompared)],
    pathOf,
  };
}

/**
 * Converts the id of a nested stack in the app to its id in the account, which begins with the name of the outer stack.
 */
function nestedIdOf(outer: AssemblyStack, { id }: AssemblyStack): string {
  return outer.name + id.slice(outer.id.length);
}

function changeOf(
  { id, template, ...stack }: AssemblyStack,
  deployed: StackChange['deployed'] | undefined,
): StackChange {
  return { ...stack, stack: id, synthesized: template, ...(deployed !== undefined && { deployed }) };
}
