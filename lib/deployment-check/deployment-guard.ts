import { join } from 'node:path';
import { Annotations, CfnElement, Stack, Stage, Token } from 'aws-cdk-lib';
import { Construct, type IConstruct } from 'constructs';
import { type ReadTemplate, readTemplate, type UnknownPart } from '../cloudformation/read-template';
import { type Template, withoutDefaultChild } from '../cloudformation/template';
import { checkAtSynthesis } from '../construct/synthesis-check';
import type { StackChange } from './compared-stacks';
import { checkDeployedFolder, deployedTemplate } from './deployed-template';
import { deploymentFindings } from './deployment-findings';
import type { Finding } from './finding';

/** The context key whose value is the folder with the deployed templates, such as an earlier `cdk.out`. */
const DEPLOYED_ASSEMBLY = 'even-shards:deployedAssembly';

const SECTIONS = ['Parameters', 'Mappings', 'Conditions', 'Resources', 'Outputs'] as const;

const guarded = new WeakSet<IConstruct>();

/**
 * Adds a check to synthesis. The check compares the stacks of the construct's app or stage with the deployed
 * templates, and warns about harmful effects of a deployment. It does nothing if the context has no folder with
 * deployed templates.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if the folder in the context does not exist
 */
export function guardDeployment(construct: IConstruct): void {
  const folder: unknown = construct.node.tryGetContext(DEPLOYED_ASSEMBLY);
  const stage = Stage.of(construct);
  if (folder === undefined || stage === undefined || guarded.has(stage)) return;
  const field = `context ${DEPLOYED_ASSEMBLY}`;
  checkDeployedFolder(field, folder);
  guarded.add(stage);
  checkAtSynthesis(stage, () => warnOfDeployment(field, folder, stage));
}

function warnOfDeployment(field: string, folder: string, stage: Stage): void {
  const stacks = new Map(stacksOf(stage).map((stack) => [uniqueName(stack), stack]));
  const changes = [...stacks].map(([name, stack]): StackChange => {
    const { region, stackName, templateFile } = stack;
    const file = join(...stageFolders(stage), templateFile);
    const known = {
      ...(!Token.isUnresolved(stackName) && { name: stackName }),
      ...(!Token.isUnresolved(region) && { region }),
    };
    const deployed = deployedTemplate(field, folder, { file, ...(known.name && { stackName: known.name }) });
    const synthesized = templateOf(stack);
    for (const part of [...(deployed?.unknown ?? []), ...synthesized.unknown]) warnOfUnknown(stack, part);
    const paths = elementsOf(stack).map(({ logicalId, node }): [string, string] => [
      stack.resolve(logicalId),
      withoutDefaultChild(node.path),
    ]);
    return {
      ...known,
      stack: name,
      ...(deployed && { deployed: deployed.template }),
      synthesized: synthesized.template,
      constructPaths: new Map(paths),
    };
  });
  for (const finding of deploymentFindings(changes)) warn(stacks.get(finding.stack)!, finding);
}

/** The stacks of a stage. Stages inside this stage are synthesized separately, so their stacks are not included. */
function stacksOf(scope: IConstruct): Stack[] {
  return scope.node.children.flatMap((child) => {
    if (Stage.isStage(child)) return [];
    return [...(Stack.isStack(child) ? [child] : []), ...stacksOf(child)];
  });
}

function uniqueName({ nestedStackParent, nestedStackResource, node }: Stack): string {
  if (nestedStackParent === undefined || !CfnElement.isCfnElement(nestedStackResource)) return node.path;
  return `${uniqueName(nestedStackParent)}/${nestedStackParent.resolve(nestedStackResource.logicalId)}`;
}

function stageFolders(stage: Stage): string[] {
  return stage.parentStage === undefined ? [] : [...stageFolders(stage.parentStage), stage.artifactId];
}

function elementsOf(stack: Stack): CfnElement[] {
  return stack.node
    .findAll()
    .filter(CfnElement.isCfnElement)
    .filter((element) => element.stack === stack);
}

function templateOf(stack: Stack): ReadTemplate {
  const parts = elementsOf(stack).map((element): Template => stack.resolve(element._toCloudFormation()));
  const sections = SECTIONS.map((section) => [section, Object.assign({}, ...parts.map((part) => part[section]))]);
  return readTemplate({ ...Object.fromEntries(sections), Transform: stack.templateOptions.transforms ?? [] })!;
}

/** Warns that the check does not compare a part of the template. */
function warnOfUnknown(stack: Stack, { name, type, reason }: UnknownPart): void {
  const text = `${name} (${type}) is not compared with the deployed template: ${reason}`;
  Annotations.of(stack).addWarningV2('cdk-even-shards:Deployment.notCompared', text);
}

/**
 * Adds a warning to the resource, not to the construct around it. CDK searches for an acknowledgement in the parent
 * scopes of the annotated construct, but not in the construct itself. A removed resource has no construct, so this
 * function creates a construct for the resource below the stack.
 */
function warn(stack: Stack, { id, logicalId, text }: Finding): void {
  const element = elementsOf(stack).find((each) => stack.resolve(each.logicalId) === logicalId);
  Annotations.of(element ?? childOf(childOf(stack, 'Deployed'), logicalId)).addWarningV2(id, text);
}

function childOf(scope: Construct, id: string): Construct {
  return (scope.node.tryFindChild(id) as Construct | undefined) ?? new Construct(scope, id);
}
