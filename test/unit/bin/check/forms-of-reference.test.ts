// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders belong to Fn::Sub
import { App, CfnOutput, CfnParameter, Fn, type IResolvable, NestedStack, Stack, Token } from 'aws-cdk-lib';
import { AttributeType, type CfnGlobalTable, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CfnStreamConsumer, Stream } from 'aws-cdk-lib/aws-kinesis';
import { Alias, CfnEventSourceMapping, Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { compareWithFolder } from '../../../../bin/check/stack-changes';
import { ShardCounts, ShardedTable } from '../../../../lib';
import { deploymentFindings } from '../../../../lib/deployment-check/deployment-findings';

/** The value for the reader. The names of the values are `OfTable` and `OfStream`. */
type Refer = (value: string, name: string, owner: Stack, reader: Stack) => string;

/** A form of the references from a reader to a table and a stream. */
interface Form {
  /** The place of the table and the stream. */
  readonly owner?: 'nested';
  /** @default the stack of the table */
  readonly reader?: 'nested' | 'stack' | 'Region';
  readonly strength?: 'strong' | 'weak' | 'both';
  /** The part of the function to which the mapping refers. */
  readonly qualifier?: 'version' | 'alias';
  /** @default the CDK makes the reference */
  readonly refer?: Refer;
}

const exported = (exportName: string, imported: string): Form => ({
  reader: 'stack',
  refer: (value, name, owner) => {
    new CfnOutput(owner, name, { value, exportName: Fn.join('-', [exportName, name]) });
    return Fn.importValue(Fn.join('-', [imported, name]));
  },
});

/** The oldest supported aws-cdk-lib has no `Fn::GetStackOutput`, and so no weak references. */
const { getStackOutput } = Fn as { getStackOutput?: (stackName: string, output: string) => IResolvable };

const NEWER_FORMS: Readonly<Record<string, Form>> = {
  'an output with Fn::GetStackOutput': {
    reader: 'stack',
    refer: (value, name, owner) => {
      new CfnOutput(owner, name, { value }).overrideLogicalId(name);
      return Token.asString(getStackOutput?.('A', name));
    },
  },
  'a weak reference': { reader: 'stack', strength: 'weak' },
  'a reference that becomes weak': { reader: 'stack', strength: 'both' },
  'a weak reference to another Region': { reader: 'Region', strength: 'weak' },
};

const FORMS: Readonly<Record<string, Form>> = {
  'Ref and GetAtt': {},
  Sub: { refer: (value) => Fn.sub('${Value}', { Value: value }) },
  If: { refer: (value) => Fn.conditionIf('Unknown', value, 'other').toString() },
  'Select and Split': { refer: (value) => Fn.select(0, Fn.split('/index/', value)) },
  ToJsonString: { refer: (value) => Fn.toJsonString({ value }) },
  'a consumer of the stream': {
    refer: (value, name, owner) => {
      if (name !== 'OfStream') return value;
      return new CfnStreamConsumer(owner, 'Consumer', { streamArn: value, consumerName: 'c' }).attrConsumerArn;
    },
  },
  'a version of the function': { qualifier: 'version' },
  'an alias of the function': { qualifier: 'alias' },
  "a nested stack's parameter": { reader: 'nested' },
  "a nested stack's output": { owner: 'nested' },
  'two nested stacks': { owner: 'nested', reader: 'nested' },
  'an export of the CDK': { reader: 'stack' },
  'a literal export': exported('app', 'app'),
  'an export with a computed name': exported(Fn.sub('${AWS::StackName}'), 'A'),
  'an export with a name that only AWS knows': exported(Fn.ref('AWS::AccountId'), Fn.ref('AWS::AccountId')),
  'an export to another Region': { reader: 'Region' },
  'a parameter of Systems Manager': {
    reader: 'stack',
    refer: (value, name, owner, reader) => {
      new StringParameter(owner, name, { parameterName: `/app/${name}`, stringValue: value });
      return StringParameter.valueForStringParameter(reader, `/app/${name}`);
    },
  },
  'a dynamic reference': {
    reader: 'stack',
    refer: (value, name, owner) => {
      new StringParameter(owner, name, { parameterName: `/app/${name}`, stringValue: value });
      return `{{resolve:ssm:/app/${name}:1}}`;
    },
  },
  'a parameter with a default': {
    refer: (value, name, owner) => Fn.join('', [new CfnParameter(owner, name, { default: '' }).valueAsString, value]),
  },
  ...(getStackOutput && NEWER_FORMS),
};

interface Version {
  readonly indexes?: readonly string[];
  readonly streamName?: string;
  readonly mappingId?: string;
  readonly readerId?: string;
  readonly startingPosition?: string;
  /** The id of the table with the shard counts of an adaptive index. */
  readonly countTableId?: string;
  /** Whether the table gets a sharded index with a reader and a writer that is not bound. */
  readonly adopts?: boolean;
}

/** Synthesizes a table with an index, a stream, a function that reads the index, and a mapping of the stream. */
function synthesize(form: Form, version: Version): string {
  const { owner, reader, strength = 'strong', qualifier, refer = (value) => value } = form;
  const {
    indexes = ['byStatus', 'byShop'],
    mappingId = 'Mapping',
    readerId = 'Reader',
    startingPosition = 'LATEST',
  } = version;
  const app = new App({ context: { '@aws-cdk/core:defaultCrossStackReferences': strength } });
  const env = { account: '111111111111', region: 'eu-west-1' };
  const crossRegionReferences = reader === 'Region';
  const a = new Stack(app, 'A', { env, crossRegionReferences });
  const owning = owner === 'nested' ? new NestedStack(a, 'Data') : a;
  const ofRegion = { ...env, ...(crossRegionReferences && { region: 'us-east-1' }) };
  const readers = { nested: () => new NestedStack(a, 'Readers'), same: () => a };
  const reading =
    reader === 'stack' || reader === 'Region'
      ? new Stack(app, 'B', { env: ofRegion, crossRegionReferences })
      : readers[reader ?? 'same']();
  const partitionKey = { name: 'status', type: AttributeType.STRING };
  const table = new TableV2(owning, 'Table', {
    partitionKey,
    globalSecondaryIndexes: indexes.map((indexName) => ({ indexName, partitionKey })),
  });
  const { streamArn } = new Stream(owning, 'Stream', version.streamName ? { streamName: version.streamName } : {});
  const configuration = { tableName: refer(table.tableName, 'OfTable', owning, reading), indexName: 'byStatus' };
  const { countTableId } = version;
  if (countTableId !== undefined) {
    const counts = new TableV2(owning, countTableId, { partitionKey });
    const name = refer(counts.tableName, 'OfCounts', owning, reading);
    const sharded = new ShardedTable(reading, 'Sharded', { partitionKey });
    sharded.addShardedIndex({
      indexName: 'byTime',
      shardCounts: ShardCounts.adaptive(),
      shardCountTable: TableV2.fromTableName(reading, 'ImportedCounts', name),
    });
  }
  const reads = new LambdaFunction(reading, readerId, {
    runtime: Runtime.NODEJS_22_X,
    handler: 'index.handler',
    code: Code.fromInline('exports.handler = async () => {}'),
    environment: { CONFIGURATION: reading.toJsonString(configuration) },
  });
  const allow = (action: string, end: string) => {
    const resource = Fn.join('', ['arn:aws:dynamodb:*:*:table/', configuration.tableName, end]);
    reads.role!.addToPrincipalPolicy(new PolicyStatement({ actions: [action], resources: [resource] }));
  };
  allow('dynamodb:Query', '/index/*');
  if (version.adopts) {
    const metadata = { byTime: { shardAttribute: 'byTimeShard', shards: { default: { write: 2, read: 2 } } } };
    (table.node.defaultChild as CfnGlobalTable).addMetadata('EvenShards::ShardedIndexes', metadata);
    allow('dynamodb:Query', '/index/byTime');
    allow('dynamodb:PutItem', '');
  }
  const functions = {
    none: () => reads.functionName,
    version: () => reads.currentVersion.functionArn,
    alias: () => new Alias(reading, 'Alias', { aliasName: 'live', version: reads.currentVersion }).functionArn,
  };
  const functionName = functions[qualifier ?? 'none']();
  const eventSourceArn = refer(streamArn, 'OfStream', owning, reading);
  new CfnEventSourceMapping(reading, mappingId, { functionName, eventSourceArn, startingPosition });
  return app.synth().directory;
}

/** The findings of an update, as the id, the construct path and the text. */
function findingsOf(deployed: string, app: string): string[] {
  const { changes, pathOf } = compareWithFolder(app, deployed);
  return deploymentFindings(changes).map(
    ({ id, stack, logicalId, text }) => `${id.split('.')[1]} ${pathOf(stack, logicalId)}: ${text}`,
  );
}

const IMPORTED = Object.keys(FORMS).filter((name) => name.includes('export'));
/** An ARN cannot contain a table name in JSON. */
const PERMITTED = Object.keys(FORMS).filter((name) => name !== 'ToJsonString');
const OUTPUTS = Object.keys(FORMS).filter((name) => /GetStackOutput|weak/.test(name));

const MOVED_AND_ADOPTING: Version = { mappingId: 'Other', readerId: 'OtherReader', adopts: true };
const WITHOUT_INDEXES: Version = { indexes: [], startingPosition: 'TRIM_HORIZON' };

/** Each finding: the update, the pattern of the finding, the forms of reference, and the deployed version. */
const FINDINGS: Readonly<Record<string, readonly [Version, RegExp, readonly string[], Version?]>> = {
  'changedShardCountTable, for another table of counts,': [
    { countTableId: 'OtherCounts' },
    /^changedShardCountTable [AB](\/Readers)?\/Sharded:/,
    Object.keys(FORMS),
    { countTableId: 'Counts' },
  ],
  'indexInUse, for a function,': [WITHOUT_INDEXES, /^indexInUse A(\/Data)?\/Table:/, Object.keys(FORMS)],
  'indexDeleted, for a function with a permission,': [
    WITHOUT_INDEXES,
    /^indexDeleted A(\/Data)?\/Table: .*Reader/,
    PERMITTED,
  ],
  'replaced, for a mapping that follows its stream,': [
    { streamName: 'renamed' },
    /^replaced [AB](\/Readers)?\/Mapping:/,
    Object.keys(FORMS),
  ],
  'renamed, for a second mapping of a function and a stream,': [
    { mappingId: 'Other' },
    /^renamed [AB](\/Readers)?\/Other:/,
    Object.keys(FORMS),
  ],
  'mappingMoved, for a mapping that moves to another function of its stream,': [
    MOVED_AND_ADOPTING,
    /^mappingMoved [AB](\/Readers)?\/Other:/,
    Object.keys(FORMS),
  ],
  'adoptedAtOnce, for a function with a permission,': [
    MOVED_AND_ADOPTING,
    /^adoptedAtOnce A(\/Data)?\/Table: .*OtherReader/,
    PERMITTED,
  ],
  'unboundWriters, for a function with a permission,': [
    MOVED_AND_ADOPTING,
    /^unboundWriters A(\/Data)?\/Table: .*OtherReader/,
    PERMITTED,
  ],
  'replacementRefused, for another starting position,': [
    WITHOUT_INDEXES,
    /^replacementRefused [AB](\/Readers)?\/Mapping:/,
    Object.keys(FORMS),
  ],
  'exportInUse, for a replaced stream,': [{ streamName: 'renamed' }, /^exportInUse A\/Stream:/, IMPORTED],
  'outputInUse, for a replaced stream,': [{ streamName: 'renamed' }, /^outputInUse A\/Stream:/, OUTPUTS],
};

const CASES = Object.entries(FINDINGS).flatMap(([name, [version, pattern, forms, deployed = {}]]) =>
  forms.map((form) => ({ name: `${name} through ${form}`, form, deployed, version, pattern })),
);

/** The synthesized apps, by form and version. Synthesis takes most of the time of these tests. */
const apps = new Map<string, string>();

function appOf(form: string, version: Version): string {
  const key = JSON.stringify([form, version]);
  const app = apps.get(key) ?? synthesize(FORMS[form]!, version);
  apps.set(key, app);
  return app;
}

test.each(CASES)('check finds $name', ({ form, deployed, version, pattern }) => {
  expect(findingsOf(appOf(form, deployed), appOf(form, version))).toContainEqual(expect.stringMatching(pattern));
});

test.each(Object.keys(FORMS))('check finds nothing in an unchanged app with a reference through %s', (form) => {
  expect(findingsOf(appOf(form, {}), appOf(form, {}))).toEqual([]);
});

const testOfNewerCdk = getStackOutput === undefined ? test.skip : test;
testOfNewerCdk(
  'check finds nothing if a strong reference becomes weak in two deployments, and finds the imports if it does in one',
  () => {
    const [strong, both, weak] = (['strong', 'both', 'weak'] as const).map((strength) =>
      synthesize({ reader: 'stack', strength }, {}),
    ) as [string, string, string];
    expect([findingsOf(strong, both), findingsOf(both, weak)]).toEqual([[], []]);
    expect(findingsOf(strong, weak)).toEqual(
      ['Table', 'Stream'].map((id) => expect.stringContaining(`exportInUse A/${id}: `)),
    );
  },
);
