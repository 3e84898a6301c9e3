import type { StackClient } from '../../bin/deployed-stack/account-stack';
import { localStacks } from '../../bin/deployed-stack/local-stack';
import { readCloudAssembly } from '../../bin/local/assembly/cloud-assembly';

/**
 * A fake CloudFormation. The resources in its stacks have the names that they have in a local run of the app. It lists
 * two resources on each page.
 */
export function stackClientOf(app: string): StackClient {
  const names = new Map(readCloudAssembly(app).map(({ id, name }) => [name, id]));
  const deployed = new Map(localStacks(app).map((stack) => [stack.id, stack]));
  const stackNamed = (name: string | undefined) => {
    const stack = deployed.get(names.get(name!) ?? '');
    if (stack !== undefined) return stack;
    throw Object.assign(new Error(`Stack with id ${name} does not exist`), { name: 'ValidationError' });
  };
  const client = {
    async getTemplate({ StackName }: { StackName?: string }) {
      return { TemplateBody: JSON.stringify(stackNamed(StackName).template) };
    },
    async listStackResources({ StackName, NextToken = '0' }: { StackName?: string; NextToken?: string }) {
      const all = [...stackNamed(StackName).physicalNames];
      const from = Number(NextToken);
      return {
        StackResourceSummaries: all.slice(from, from + 2).map(([LogicalResourceId, PhysicalResourceId]) => ({
          LogicalResourceId,
          PhysicalResourceId,
        })),
        ...(from + 2 < all.length && { NextToken: String(from + 2) }),
      };
    },
  };
  return client as unknown as StackClient;
}
