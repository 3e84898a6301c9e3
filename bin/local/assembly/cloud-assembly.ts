import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { type ReadTemplate, readTemplate, type UnknownPart } from '../../../lib/cloudformation/read-template';
import type { StackTemplate } from '../../../lib/cloudformation/stack-scope';
import { type Template, withoutDefaultChild } from '../../../lib/cloudformation/template';
import { EvenShardsError, shortened } from '../../../lib/core/kernel/errors';
import { fields, listOf, mapOf, optional, text } from './json-shape';

/** A stack of a synthesized app, as `cdk deploy` would find it. */
export interface AssemblyStack extends StackTemplate {
  /**
   * The artifact id, unique in the app. The id of a nested stack consists of the id of its parent and its logical id.
   */
  readonly id: string;
  /** Absolute path of the assembly that holds the stack: the assembly of the app or of a stage. */
  readonly directory: string;
  /** The path of the template's file within the directory. */
  readonly templateFile: string;
  /** The parts of the template's file that have an unknown form. `template` does not contain them. */
  readonly unknown: readonly UnknownPart[];
  /** Absolute path of each file asset, by its object key in the template. */
  readonly assetPaths: ReadonlyMap<string, string>;
  /**
   * Construct path of each resource by logical id. The path omits `/Resource`, the id of the default child of L2
   * constructs.
   */
  readonly constructPaths: ReadonlyMap<string, string>;
  readonly nested: ReadonlyMap<string, AssemblyStack>;
}

/** The directory does not contain a readable cloud assembly. */
export class CloudAssemblyError extends EvenShardsError {
  constructor(
    readonly directory: string,
    problem: string,
    options?: ErrorOptions,
  ) {
    super(
      'CLOUD_ASSEMBLY',
      `${shortened(problem)} in ${shortened(directory)}: run \`npx cdk synth\` first, or name the directory with --app`,
      options,
    );
  }
}

/**
 * Reads the stacks of an assembly and of its nested assemblies (stages). A stack comes after the stacks on which it
 * depends.
 */
export function readCloudAssembly(directory: string): AssemblyStack[] {
  const artifacts = readArtifacts(resolve(directory));
  return inDependencyOrder(artifacts)
    .filter(({ type }) => type === 'aws:cloudformation:stack')
    .map(readStack);
}

interface Manifest {
  readonly artifacts?: Readonly<Record<string, ManifestArtifact>>;
}

interface ManifestArtifact {
  readonly type: string;
  /** The account and the region, such as `aws://111111111111/eu-west-1`. */
  readonly environment?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly dependencies?: readonly string[];
  readonly metadata?: unknown;
  readonly additionalMetadataFile?: string;
}

interface LocatedArtifact extends ManifestArtifact {
  readonly id: string;
  readonly directory: string;
  readonly siblings: ReadonlyMap<string, LocatedArtifact>;
  readonly nested: readonly LocatedArtifact[];
}

/** The part of a manifest without which a folder is not an assembly. */
const MANIFEST = fields({ artifacts: optional(mapOf(fields({ type: text, dependencies: optional(listOf(text)) }))) });

function readArtifacts(directory: string): LocatedArtifact[] {
  const manifest = readJson(directory, 'manifest.json');
  const problem = MANIFEST(manifest, '');
  if (problem !== undefined) {
    throw new CloudAssemblyError(directory, `manifest.json is malformed (${shortened(problem)})`);
  }
  const siblings = new Map<string, LocatedArtifact>();
  for (const [id, artifact] of Object.entries((manifest as Manifest).artifacts ?? {})) {
    siblings.set(id, { ...artifact, id, directory, siblings, nested: readNested(directory, artifact) });
  }
  return [...siblings.values()];
}

function readNested(directory: string, artifact: ManifestArtifact): LocatedArtifact[] {
  return artifact.type === 'cdk:cloud-assembly'
    ? readArtifacts(join(directory, String(artifact.properties?.directoryName)))
    : [];
}

function inDependencyOrder(artifacts: readonly LocatedArtifact[]): LocatedArtifact[] {
  const ordered = new Set<LocatedArtifact>();
  const visited = new Set<LocatedArtifact>();
  const visit = (artifact: LocatedArtifact): void => {
    if (visited.has(artifact)) return;
    visited.add(artifact);
    dependenciesOf(artifact).forEach(visit);
    artifact.nested.forEach(visit);
    ordered.add(artifact);
  };
  artifacts.forEach(visit);
  return [...ordered];
}

function readStack(artifact: LocatedArtifact): AssemblyStack {
  const { directory, id, properties = {}, environment } = artifact;
  const assetPaths = new Map(dependenciesOf(artifact).flatMap(readAssetPaths));
  const metadata = readMetadata(artifact);
  const constructs = Object.entries(metadata).flatMap(logicalIdAndPath);
  const templateFile = String(properties.templateFile);
  const [, region] = /^aws:\/\/[^/]*\/(?!unknown-region$)(.+)$/.exec(String(environment)) ?? [];
  const stack = { id, directory, name: String(properties.stackName ?? id), ...(region !== undefined && { region }) };
  const read = templateIn(directory, templateFile);
  const template = withLegacyAssets(read.template, directory, metadata, assetPaths);
  return withNested({ ...stack, ...read, template, templateFile, assetPaths }, constructs);
}

/**
 * Gives a default to the parameters from which the legacy synthesizer takes the object keys of assets. The CDK CLI sets
 * these parameters at a deployment. A value consists of two parts of the object key.
 */
function withLegacyAssets(
  template: Template,
  directory: string,
  metadata: object,
  assetPaths: Map<string, string>,
): Template {
  const parameters = { ...template.Parameters };
  for (const { type, data } of Object.values(metadata).flat()) {
    const { s3KeyParameter, id, path } = Object(data);
    if (type !== 'aws:cdk:asset' || !Object.hasOwn(parameters, s3KeyParameter)) continue;
    parameters[s3KeyParameter] = { ...parameters[s3KeyParameter]!, Default: `${id}||` };
    assetPaths.set(String(id), resolve(directory, String(path)));
  }
  return { ...template, Parameters: parameters };
}

function templateIn(directory: string, file: string): ReadTemplate {
  const read = readTemplate(readJson(directory, file));
  if (read === undefined) throw new CloudAssemblyError(directory, `${file} is malformed (it must be an object)`);
  return read;
}

/**
 * Adds the nested stacks. Each nested stack has its own map of construct paths, because the parent stack may have
 * resources with the same logical ids.
 */
function withNested(
  stack: Omit<AssemblyStack, 'constructPaths' | 'nested'>,
  constructs: readonly [logicalId: string, path: string][],
): AssemblyStack {
  const scopes = constructs.flatMap(([, path]) => nestedScope(path) ?? []);
  const own = constructs.filter(([, path]) => !scopes.some((scope) => path.startsWith(scope)));
  const nested = new Map<string, AssemblyStack>();
  for (const [logicalId, path] of own) {
    const scope = nestedScope(path);
    const file = nestedTemplateFile(stack, logicalId);
    if (scope === undefined || file === undefined) continue;
    const id = `${stack.id}/${logicalId}`;
    const name = `${stack.name}-${logicalId}`;
    const inside = constructs.filter(([, candidate]) => candidate.startsWith(scope));
    const templateFile = relative(stack.directory, file);
    nested.set(
      logicalId,
      withNested({ ...stack, id, name, templateFile, ...templateIn(stack.directory, file) }, inside),
    );
  }
  return { ...stack, nested, constructPaths: new Map(own.map(([id, path]) => [id, withoutDefaultChild(path)])) };
}

/** The prefix of the construct paths inside a nested stack, from the path of its resource. */
function nestedScope(path: string): string | undefined {
  const [, scope] = /^(.+)\.NestedStack\/[^/]+\.NestedStackResource$/.exec(path) ?? [];
  return scope === undefined ? undefined : `${scope}/`;
}

/** The template of a nested stack is an asset. The template URL ends with the object key of the asset. */
function nestedTemplateFile(
  { template, assetPaths }: Pick<AssemblyStack, 'template' | 'assetPaths'>,
  logicalId: string,
) {
  const url = JSON.stringify(template.Resources?.[logicalId]?.Properties?.TemplateURL ?? '');
  return [...assetPaths].find(([objectKey]) => url.includes(objectKey))?.[1];
}

function dependenciesOf(artifact: LocatedArtifact): LocatedArtifact[] {
  return (artifact.dependencies ?? []).flatMap((id) => artifact.siblings.get(id) ?? []);
}

function readAssetPaths({ type, directory, properties = {} }: LocatedArtifact): [string, string][] {
  if (type !== 'cdk:asset-manifest') return [];
  const { files } = Object(readJson(directory, String(properties.file)));
  return Object.values(Object(files)).flatMap((file) => {
    const { source, destinations } = Object(file);
    const { path } = Object(source);
    if (typeof path !== 'string') return [];
    return Object.values(Object(destinations)).map((destination): [string, string] => [
      String(Object(destination).objectKey),
      resolve(directory, path),
    ]);
  });
}

/** Older versions of the CDK keep construct metadata in the manifest. Newer versions write a separate file. */
function readMetadata({ directory, metadata, additionalMetadataFile: file }: LocatedArtifact): object {
  return { ...Object(metadata), ...(file === undefined ? {} : Object(readJson(directory, String(file)))) };
}

function logicalIdAndPath([path, entries]: [string, unknown]): [logicalId: string, path: string][] {
  return [entries].flat().flatMap((entry): [string, string][] => {
    const { type, data } = Object(entry);
    return type === 'aws:cdk:logicalId' ? [[String(data), path.replace(/^\//, '')]] : [];
  });
}

function readJson(directory: string, file: string): unknown {
  let content: string;
  try {
    content = readFileSync(resolve(directory, file), 'utf8');
  } catch (cause) {
    throw new CloudAssemblyError(directory, `no ${file}`, { cause });
  }
  try {
    return JSON.parse(content.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new CloudAssemblyError(directory, `${file} is not JSON`, { cause });
  }
}
