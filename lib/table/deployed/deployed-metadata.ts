import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CfnElement, Stack, Stage, Token } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { InvalidArgumentError } from '../../core/foundation/errors';

/** The key of the context that names a folder with the template of each stack that was deployed: an earlier `cdk.out`. */
export const DEPLOYED_ASSEMBLY = 'even-shards:deployedAssembly';

/**
 * What the template that was deployed says of a table under a key of its metadata, as far as it can be known: from the folder that
 * the context names. Undefined without the context, and for a table or a stack that is new.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if the context names no folder, or one whose templates are not JSON
 */
export function deployedMetadata<M>(table: IConstruct, key: string): M | undefined {
  const folder: unknown = table.node.tryGetContext(DEPLOYED_ASSEMBLY);
  if (folder === undefined) return undefined;
  const field = `context ${DEPLOYED_ASSEMBLY}`;
  if (typeof folder !== 'string' || !existsSync(folder)) {
    throw new InvalidArgumentError(field, folder, 'a folder with the templates that were deployed');
  }
  const stack = Stack.of(table);
  const file = templateFiles(folder, stack).find((candidate) => existsSync(candidate));
  if (file === undefined) return undefined;
  const logicalId = stack.resolve((table.node.defaultChild as CfnElement).logicalId);
  return parsed(field, file)?.Resources?.[logicalId]?.Metadata?.[key] as M | undefined;
}

/** Where the template of a stack can be: where synthesis puts it, in a folder of its stage, or under the name of the stack. */
function templateFiles(folder: string, stack: Stack): string[] {
  const stages: string[] = [];
  for (let stage = Stage.of(stack); stage?.parentStage !== undefined; stage = stage.parentStage) {
    stages.unshift(stage.artifactId);
  }
  const files = [join(folder, ...stages, stack.templateFile), join(folder, stack.templateFile)];
  return Token.isUnresolved(stack.stackName) ? files : [...files, join(folder, `${stack.stackName}.template.json`)];
}

interface DeployedTemplate {
  readonly Resources?: { readonly [logicalId: string]: { readonly Metadata?: { readonly [key: string]: unknown } } };
}

function parsed(field: string, file: string): DeployedTemplate | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new InvalidArgumentError(field, file, 'a folder whose templates are JSON');
  }
}
