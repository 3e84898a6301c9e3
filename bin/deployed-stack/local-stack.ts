import { type AssemblyStack, readCloudAssembly } from '../local/assembly/cloud-assembly';
import { planDeployment } from '../local/assembly/deployment-plan';
import type { LocalResource } from '../local/assembly/local-resource';
import type { DeployedStack } from './deployed-stack';

/**
 * The stacks of an app in a local run, with nested stacks. Each resource has the name that the run gives it.
 */
export function localStacks(app: string): DeployedStack[] {
  const stacks = readCloudAssembly(app);
  // Any value of `multiAttributeKeys` gives the same names.
  const { streams, tables, functions } = planDeployment(stacks, { multiAttributeKeys: true });
  const names = new Map(
    [...streams, ...tables, ...functions].map(({ path, name }: LocalResource) => [path, name] as const),
  );
  const deployed = (stack: AssemblyStack): DeployedStack[] => [
    {
      id: stack.id,
      template: stack.template,
      unknown: stack.unknown,
      paths: stack.constructPaths,
      physicalNames: new Map(
        Object.keys(stack.template.Resources ?? {}).flatMap((logicalId) => {
          const name = names.get(stack.constructPaths.get(logicalId) ?? `${stack.name}/${logicalId}`);
          return name === undefined ? [] : [[logicalId, name] as const];
        }),
      ),
    },
    ...[...stack.nested.values()].flatMap(deployed),
  ];
  return stacks.flatMap(deployed);
}
