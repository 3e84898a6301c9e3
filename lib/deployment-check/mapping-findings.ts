import { listOf, type Properties, TABLE_TYPES } from '../cloudformation/template';
import { readGuide } from '../construct/guide-link';
import { type ComparedStack, type NameOf, referredKeys, resourceKey, type StackVersion } from './compared-stacks';
import { type Finding, finding, type Location } from './finding';
import type { Replacement } from './resource-findings';
import { settingText } from './update-effects';

const TYPE = 'AWS::Lambda::EventSourceMapping';

const GUIDE = readGuide('second-day', 'what-a-deployment-replaces');

/** Properties that name a part of a source, such as a topic. A function can have a mapping for each part. */
const PARTS_OF_SOURCES = [
  'AmazonManagedKafkaEventSourceConfig',
  'DocumentDBEventSourceConfig',
  'Queues',
  'SelfManagedEventSource',
  'SelfManagedKafkaEventSourceConfig',
  'Topics',
];

/** An event source mapping in a template. Two mappings with the same function and source have the same texts. */
interface Mapping extends Location {
  readonly function: string;
  readonly source: string;
  readonly properties: Properties;
}

/**
 * Findings for event source mappings that CloudFormation creates, or that get another function. CloudFormation does this
 * before it deletes old mappings, and Lambda rejects a second mapping of the same function and source.
 */
export function mappingFindings(
  stacks: readonly ComparedStack[],
  replaced: ReadonlyMap<string, Replacement>,
  nameOf: NameOf,
): Finding[] {
  const deployed = stacks.flatMap(({ deployed }) => (deployed === undefined ? [] : mappingsOf(deployed, new Map())));
  const next = stacks.flatMap(({ synthesized }) => mappingsOf(synthesized, replaced));
  const [before, after] = [byKey(deployed), byKey(next)];
  const isReplaced = (mapping: Mapping) => replaced.has(resourceKey(mapping));
  const isArriving = (mapping: Mapping) => {
    const earlier = before.get(resourceKey(mapping));
    return earlier === undefined || isReplaced(mapping) || !isSame(earlier, mapping);
  };
  const found = next.filter(isArriving).flatMap((mapping) => {
    const others = next.filter((each) => !isArriving(each) || next.indexOf(each) < next.indexOf(mapping));
    const existing = [...deployed, ...others].find((each) => isSame(each, mapping));
    const isDeployed = before.has(resourceKey(mapping));
    if (existing !== undefined) {
      const kept = after.get(resourceKey(existing));
      return [
        isDeployed && !isReplaced(mapping)
          ? updateRejected(mapping, existing, kept, nameOf)
          : rejected(mapping, existing, kept, nameOf),
      ];
    }
    if (isReplaced(mapping)) return [replacedMapping(mapping, replaced.get(resourceKey(mapping))!)];
    const earlier = deployed.find((each) => each.source === mapping.source && !after.has(resourceKey(each)));
    const isMoved = !isDeployed && earlier !== undefined && mapping.properties.StartingPosition !== undefined;
    return isMoved ? [moved(mapping, earlier, nameOf)] : [];
  });
  return [...found, ...stacks.flatMap(({ synthesized }) => tooManyReaders(synthesized, deployed, next, nameOf))];
}

/**
 * Findings for tables whose streams get more readers than a shard can serve. Source: the DynamoDB developer guide, "Change data
 * capture for DynamoDB Streams".
 */
function tooManyReaders(
  { scope, resources }: StackVersion,
  deployed: readonly Mapping[],
  next: readonly Mapping[],
  nameOf: NameOf,
): Finding[] {
  return [...resources].flatMap(([logicalId, { Type, Properties = {} }]) => {
    if (!TABLE_TYPES.includes(Type)) return [];
    const table = { stack: scope.stack.id, logicalId };
    const readersIn = (mappings: readonly Mapping[]) =>
      mappings.filter(({ source }) => source.split(' ').includes(resourceKey(table)));
    const [before, readers] = [readersIn(deployed), readersIn(next)];
    const most = listOf(Properties.Replicas).length > 1 ? 1 : 2;
    if (readers.length <= Math.max(most, before.length)) return [];
    const names = readers.map((each) => nameOf(resourceKey(each))).join(', ');
    const text = `${readers.length} event source mappings would read the stream of the table: ${names}. With more than ${
      most === 1 ? 'one reader of a table with ' + 'replicas' : 'two readers'
    }, DynamoDB throttles them. Let one function do the work of several.${readGuide('index-keeper', 'what-you-must-know')}`;
    return [finding(table, 'Deployment.streamReaders', 'failing', 'know', text)];
  });
}

function byKey(mappings: readonly Mapping[]): ReadonlyMap<string, Mapping> {
  return new Map(mappings.map((mapping) => [resourceKey(mapping), mapping]));
}

function isSame(one: Mapping, other: Mapping): boolean {
  return one.function === other.function && one.source === other.source;
}

function mappingsOf(version: StackVersion, replaced: ReadonlyMap<string, Replacement>): Mapping[] {
  const { scope, resources } = version;
  // A fixed name is another function in another stage or Region.
  const { directory, region } = scope.stack;
  return [...resources].flatMap(([logicalId, { Type, Properties = {} }]) => {
    if (Type !== TYPE) return [];
    const declared = scope.declared(logicalId);
    /** The resources of a property, by their keys. A replaced resource is another resource than the deployed resource. */
    const part = (property: string): string => {
      const keys = referredKeys(declared[property], scope);
      if (keys.length === 0) return [settingText(Properties[property]), directory, region].join(' ');
      // A qualifier that is added to the ARN of a function.
      const [qualifier = ''] = /(?<=}):[\w$-]+$/.exec(String(Properties[property])) ?? [];
      const names = keys.map((key) => (replaced.get(key)?.isRefused === false ? `the new ${key}` : key));
      return [...names.sort(), qualifier].join(' ');
    };
    const parts = PARTS_OF_SOURCES.map((property) => settingText(Properties[property]));
    return [
      {
        stack: scope.stack.id,
        logicalId,
        function: part('FunctionName'),
        source: [part('EventSourceArn'), ...parts].join(' '),
        properties: Properties,
      },
    ];
  });
}

const RULE = 'Lambda rejects a second mapping of the same function and source';

/** @param kept the existing mapping in the new templates. Undefined if the deployment removes it */
function updateRejected(mapping: Mapping, existing: Mapping, kept: Mapping | undefined, nameOf: NameOf): Finding {
  const isKept = kept !== undefined && isSame(kept, existing);
  const name = nameOf(resourceKey(existing));
  const text =
    `this event source mapping would get the function of ${name}, which has the same source, and ${RULE}. ` +
    (isKept ? 'Keep one of the two mappings.' : `First deploy the change of ${name}.`);
  return finding(mapping, 'Deployment.secondMapping', 'refused', isKept ? 'revise' : 'split', text);
}

/** @param kept the existing mapping in the new templates. Undefined if the deployment removes it */
function rejected(mapping: Mapping, existing: Mapping, kept: Mapping | undefined, nameOf: NameOf): Finding {
  const [name, earlier] = [mapping, existing].map((each) => nameOf(resourceKey(each)));
  if (resourceKey(mapping) === resourceKey(existing)) {
    const text =
      `this update requires a new event source mapping, and ${RULE} while the earlier mapping exists: keep the starting position. To read from ` +
      `another position, remove the mapping in one deployment, and add it in the next deployment.${GUIDE}`;
    return finding(mapping, 'Deployment.replacementRefused', 'refused', 'revise', text);
  }
  if (kept !== undefined) {
    const isMoved = !isSame(kept, existing);
    const text =
      `the new event source mapping has the function and the source of ${earlier}, and ${RULE}. ` +
      (isMoved ? `First deploy the change of ${earlier}.` : 'Keep one of the two mappings.');
    return finding(mapping, 'Deployment.secondMapping', 'refused', isMoved ? 'split' : 'revise', text);
  }
  const isOfStack = existing.stack === mapping.stack;
  const text =
    `the logical id of the event source mapping changes from ${isOfStack ? existing.logicalId : earlier} to ${isOfStack ? mapping.logicalId : name}, and ${RULE}. ` +
    (isOfStack
      ? `Keep the logical id with overrideLogicalId('${existing.logicalId}') on node.defaultChild, or rename the resource in the deployed stack with ` +
        '`cdk refactor`.'
      : `Move the resource with \`cdk refactor\`, or first deploy ${nameOf(existing.stack)} without the mapping; the new mapping then begins at its starting position.`);
  return finding(mapping, 'Deployment.renamed', 'refused', isOfStack ? 'revise' : 'split', `${text}${GUIDE}`);
}

function replacedMapping(mapping: Mapping, { properties }: Replacement): Finding {
  const isSourceNew = properties.includes('EventSourceArn') || properties.includes('SelfManagedEventSource');
  const consequence = isSourceNew
    ? 'the new mapping reads the new source, and Lambda never delivers the unread records of the earlier source'
    : `the new mapping begins at its starting position and not where the earlier mapping stopped: ${startOf(mapping)}`;
  const text = `another ${properties.join(' and ')} replaces the event source mapping: ${consequence}.${GUIDE}`;
  return finding(mapping, 'Deployment.replaced', 'replaced', 'prepare', text);
}

function moved(mapping: Mapping, earlier: Mapping, nameOf: NameOf): Finding {
  const keep =
    earlier.stack === mapping.stack
      ? ` To continue where the earlier mapping stopped, keep its logical id with overrideLogicalId('${earlier.logicalId}') on node.defaultChild: ` +
        'an update of FunctionName keeps the position.'
      : '';
  const text =
    `the event source mapping ${nameOf(resourceKey(earlier))} is removed, and this mapping of another function reads the same source from its starting position: ` +
    `${startOf(mapping)}.${keep}${GUIDE}`;
  return finding(mapping, 'Deployment.mappingMoved', 'replaced', 'prepare', text);
}

/** The records that Lambda delivers twice or never, because a new mapping begins at its starting position. */
function startOf({ properties: { StartingPosition } }: Mapping): string {
  if (StartingPosition === 'LATEST') return 'Lambda never delivers the records that the earlier mapping has not read';
  const since = StartingPosition === 'AT_TIMESTAMP' ? ' since the timestamp' : '';
  return `Lambda delivers all stored records${since} again, also the records that the earlier mapping has read`;
}
