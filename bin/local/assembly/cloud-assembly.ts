import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { Template } from '../../../lib/cloudformation/template';
import { EvenShardsError, shortened } from '../../../lib/core/kernel/errors';
import { anything, fields, listOf, mapOf, optional, type Shape, text } from './json-shape';

/** A stack of a synthesized app, as `cdk deploy` would find it. */
export interface AssemblyStack {
  /**
   * The artifact id, unique in the app. The id of a nested stack consists of the id of its parent and its logical id.
   */
  readonly id: string;
  /** Absolute path of the assembly that holds the stack: the assembly of the app or of a stage. */
  readonly directory: string;
  /** The CloudFormation stack name. Stacks of different stages can have the same name. */
  readonly name: string;
  /** The path of the template's file within the directory. */
  readonly templateFile: string;
  /** Absent if the region is known only at deployment. */
  readonly region?: string;
  readonly template: Template;
  /** Absolute path of each file asset, by its object key in the template. */
  readonly assetPaths: ReadonlyMap<string, string>;
  /**
   * Construct path of each resource by logical id. The path omits `/Resource`, the id of the default child of L2
   * constructs.
   */
  readonly constructPaths: ReadonlyMap<string, string>;
  /** The nested stacks, by the logical ids of their resources. */
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
  return inDependencyOrder(artifacts).filter(isStack).map(readStack);
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
  readonly metadata?: ConstructMetadata;
  readonly additionalMetadataFile?: string;
}

type ConstructMetadata = Readonly<Record<string, readonly { readonly type: string; readonly data?: unknown }[]>>;

interface LocatedArtifact extends ManifestArtifact {
  readonly id: string;
  readonly directory: string;
  readonly siblings: ReadonlyMap<string, LocatedArtifact>;
  readonly nested: readonly LocatedArtifact[];
}

const METADATA = mapOf(listOf(fields({ type: text })));

const MANIFEST = fields({
  artifacts: optional(
    mapOf(
      fields({
        type: text,
        environment: optional(text),
        properties: optional(
          fields({
            directoryName: optional(text),
            file: optional(text),
            stackName: optional(text),
            templateFile: optional(text),
          }),
        ),
        dependencies: optional(listOf(text)),
        metadata: optional(METADATA),
        additionalMetadataFile: optional(text),
      }),
    ),
  ),
});

/** The shape that a template must have to match `Template`. */
const TEMPLATE = fields({
  Parameters: optional(mapOf(fields({ Type: text }))),
  Mappings: optional(mapOf(mapOf(mapOf(anything)))),
  Conditions: optional(mapOf(anything)),
  Resources: optional(
    mapOf(
      fields({
        Type: text,
        Condition: optional(text),
        Properties: optional(mapOf(anything)),
        DeletionPolicy: optional(text),
        UpdateReplacePolicy: optional(text),
      }),
    ),
  ),
  Outputs: optional(mapOf(fields({ Export: optional(fields({ Name: anything })) }))),
});

const ASSET_MANIFEST = fields({
  files: optional(
    mapOf(
      fields({
        source: optional(fields({ path: optional(text) })),
        destinations: optional(mapOf(fields({ objectKey: text }))),
      }),
    ),
  ),
});

interface AssetManifest {
  readonly files?: Readonly<Record<string, FileAsset>>;
}

interface FileAsset {
  readonly source?: { readonly path?: string };
  readonly destinations?: Readonly<Record<string, { readonly objectKey: string }>>;
}

function readArtifacts(directory: string): LocatedArtifact[] {
  const manifest = readJson<Manifest>(directory, 'manifest.json', MANIFEST);
  const siblings = new Map<string, LocatedArtifact>();
  for (const [id, artifact] of Object.entries(manifest.artifacts ?? {})) {
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

function isStack(artifact: LocatedArtifact): boolean {
  return artifact.type === 'aws:cloudformation:stack';
}

function readStack(artifact: LocatedArtifact): AssemblyStack {
  const { directory, id, properties = {} } = artifact;
  const assetPaths = new Map(dependenciesOf(artifact).filter(isAssetManifest).flatMap(readAssetPaths));
  const constructs = Object.entries(readMetadata(artifact)).flatMap(logicalIdAndPath);
  const templateFile = String(properties.templateFile);
  const template = readJson<Template>(directory, templateFile, TEMPLATE);
  const name = String(properties.stackName ?? id);
  return withNested({ id, directory, name, templateFile, ...regionOf(artifact), template, assetPaths }, constructs);
}

function regionOf({ environment = '' }: ManifestArtifact): { region?: string } {
  const [, region] = /^aws:\/\/[^/]*\/(?!unknown-region$)(.+)$/.exec(environment) ?? [];
  return region === undefined ? {} : { region };
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
    const template = readJson<Template>(stack.directory, file, TEMPLATE);
    const inside = constructs.filter(([, candidate]) => candidate.startsWith(scope));
    const templateFile = relative(stack.directory, file);
    nested.set(logicalId, withNested({ ...stack, id, name, templateFile, template }, inside));
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

function isAssetManifest(artifact: LocatedArtifact): boolean {
  return artifact.type === 'cdk:asset-manifest';
}

function readAssetPaths({ directory, properties = {} }: LocatedArtifact): [string, string][] {
  const { files = {} } = readJson<AssetManifest>(directory, String(properties.file), ASSET_MANIFEST);
  return Object.values(files).flatMap(({ source, destinations = {} }) => {
    const path = source?.path;
    if (path === undefined) return [];
    return Object.values(destinations).map(({ objectKey }): [string, string] => [objectKey, resolve(directory, path)]);
  });
}

/** Older versions of the CDK keep construct metadata in the manifest. Newer versions write a separate file. */
function readMetadata({ directory, metadata, additionalMetadataFile }: LocatedArtifact): ConstructMetadata {
  if (additionalMetadataFile === undefined) return metadata ?? {};
  return { ...metadata, ...readJson<ConstructMetadata>(directory, additionalMetadataFile, METADATA) };
}

function logicalIdAndPath([path, entries]: [string, ConstructMetadata[string]]): [logicalId: string, path: string][] {
  return entries
    .filter(({ type }) => type === 'aws:cdk:logicalId')
    .map(({ data }) => [String(data), path.replace(/^\//, '')]);
}

function withoutDefaultChild(path: string): string {
  return path.replace(/\/Resource$/, '');
}

function readJson<T>(directory: string, file: string, shape: Shape): T {
  const json = parsed(directory, file, readText(directory, file));
  const problem = shape(json, '');
  if (problem !== undefined) throw new CloudAssemblyError(directory, `${file} is malformed (${shortened(problem)})`);
  return json as T;
}

function readText(directory: string, file: string): string {
  try {
    return readFileSync(resolve(directory, file), 'utf8');
  } catch (cause) {
    throw new CloudAssemblyError(directory, `no ${file}`, { cause });
  }
}

function parsed(directory: string, file: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new CloudAssemblyError(directory, `${file} is not JSON`, { cause });
  }
}
