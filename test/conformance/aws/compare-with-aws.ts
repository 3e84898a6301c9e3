import { CloudFormation, type CloudFormationClientConfig } from '@aws-sdk/client-cloudformation';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { EVERYTHING, modelConfig } from '../../support/fakes/fan-out-model';
import { type Difference, type OnDifference, textOf } from '../../support/plays/differences';
import { answeredIndexes, type Compared, playIndexAnswers } from '../../support/plays/index-answers';
import { playStreamAnswers } from '../../support/plays/stream-answers';
import { playTableAnswers } from '../../support/plays/table-answers';
import { type Question, questionsOf } from './questions';
import { inStack } from './stack';

/** The estimated cost of a run in us-east-1. AWS charges a full hour for a shard that exists for a part of an hour. */
export const ESTIMATE = `This creates one stack, of 8 tables and 3 streams, in your account, and deletes it at the end. It takes about 15 minutes.
It costs about 0.50 USD at most: 30 hours of shards (0.45), and 60,000 write and 20,000 read units of DynamoDB (0.05).`;

const SEED = 1;
const CALLS = { index: 40, table: 150, stream: 8 };

interface Clients {
  cloudFormation: CloudFormation;
  dynamodb: DynamoDB;
  kinesis: Kinesis;
  destroy(): void;
}

export function clientsOf(options: CloudFormationClientConfig): Clients {
  const cloudFormation = new CloudFormation(options);
  const dynamodb = new DynamoDB(options as object);
  const kinesis = new Kinesis({ ...(options as object), requestHandler: new NodeHttpHandler() });
  const destroy = (): void => {
    for (const client of [cloudFormation, dynamodb, kinesis]) client.destroy();
  };
  return { cloudFormation, dynamodb, kinesis, destroy };
}

interface ComparisonOptions {
  /** The name of the stack, and the prefix of all names in the stack. */
  name: string;
  /** The service of the comparison. */
  service: string;
  /** Waits until the indexes contain the written items. */
  settle(): Promise<void>;
}

/** The result of a comparison. */
interface Report {
  text: string;
  differences: number;
}

/** Compares each model in one stack, and reports all differences. */
export async function compareWithAws(
  { cloudFormation, dynamodb, kinesis }: Pick<Clients, 'cloudFormation' | 'dynamodb' | 'kinesis'>,
  { name, service, settle }: ComparisonOptions,
): Promise<Report> {
  const deployed = { prefix: `${name}-`, settle };
  const config = { ...modelConfig('multi-attribute', 1), tableName: `${name}-Questions` };
  const [compared, unequal, closed] = ['compared', 'unequal', 'closed'].map((each) => `${name}-${each}`) as [
    string,
    string,
    string,
  ];
  const tableName = `${name}-Written`;
  const indexes = [...answeredIndexes(EVERYTHING, { seed: SEED, deployed }), { config, type: 'S' as const }];
  const resources = { name, indexes, tableName, streams: { [compared]: 2, [unequal]: 2, [closed]: 1 } };
  const known = { otherWords: true, freeEmptyReads: true };
  const comparisons: Record<string, (onDifference: OnDifference) => Promise<Compared>> = {
    'queries of an index': (onDifference) =>
      playIndexAnswers(dynamodb, EVERYTHING, { calls: CALLS.index, seed: SEED, known, deployed, onDifference }),
    'conditional updates, transactions and reads': (onDifference) =>
      playTableAnswers(dynamodb, {
        ...{ calls: CALLS.table, seed: SEED, transactional: true, tableName, isThere: true },
        onDifference,
      }),
    'puts, splits and merges': (onDifference) =>
      playStreamAnswers(kinesis, {
        ...{ calls: CALLS.stream, seed: SEED, knowsClosedShards: true, doublesAndHalves: true },
        deployed: { streamName: compared, shardCount: 2 },
        onDifference,
      }),
  };
  return inStack(cloudFormation, resources, async () => {
    const models: ComparedModel[] = [];
    for (const [about, compare] of Object.entries(comparisons)) models.push(await comparedModel(about, compare));
    const answers: Answered[] = [];
    for (const question of questionsOf({ dynamodb, kinesis }, { config, unequal, closed })) {
      answers.push(await answered(question));
    }
    const differing = [...models.flatMap(({ differences }) => differences), ...answers.filter((each) => !each.isSame)];
    return { text: reportOf(service, models, answers), differences: differing.length };
  });
}

interface ComparedModel {
  about: string;
  calls: number;
  differences: string[];
}

/** A comparison that fails counts as one more difference. */
async function comparedModel(
  about: string,
  compare: (onDifference: OnDifference) => Promise<Compared>,
): Promise<ComparedModel> {
  const differences: Difference[] = [];
  const [calls, end] = await compare((difference) => differences.push(difference)).then(
    (counts) => [Object.values(counts).reduce((sum, count) => sum + count, 0), []] as const,
    (error: Error) => [0, [`It ended: ${error.message}`]] as const,
  );
  return { about, calls, differences: [...differences.map(textOf), ...end] };
}

interface Answered {
  about: string;
  theirs: string;
  ours: string;
  isSame: boolean;
}

async function answered({ about, service, model }: Question): Promise<Answered> {
  const answers = [service(), model()].map((answer) =>
    answer.catch((error: Error) => `${error.name}: ${error.message}`),
  );
  const [theirs, ours] = (await Promise.all(answers)) as [string, string];
  return { about, theirs, ours, isSame: ours === theirs };
}

function reportOf(service: string, models: readonly ComparedModel[], answers: readonly Answered[]): string {
  const rows = models.map(({ about, calls, differences }) => `| ${about} | ${calls} | ${differences.length} |`);
  const answerRows = answers.map(
    ({ about, theirs, ours, isSame }) => `| ${about} | ${cellOf(theirs)} | ${isSame ? 'the same' : cellOf(ours)} |`,
  );
  const lists = models
    .filter(({ differences }) => differences.length > 0)
    .map(({ about, differences }) => `\n## Differences: ${about}\n\n${differences.map(blockOf).join('\n\n')}\n`);
  return `# The models, compared with ${service}

| what | calls compared | differences |
| --- | --- | --- |
${rows.join('\n')}

| question | the service | the model |
| --- | --- | --- |
${answerRows.join('\n')}
${lists.join('')}`;
}

function cellOf(text: string): string {
  return cut(text.replaceAll(/\s*\n\s*/g, '<br>').replaceAll('|', '\\|'));
}

function blockOf(text: string): string {
  const lines = text.split('\n').map(cut);
  return ['```', ...lines, '```'].join('\n');
}

function cut(text: string): string {
  return text.length > 1_500 ? `${text.slice(0, 1_500)}…` : text;
}
