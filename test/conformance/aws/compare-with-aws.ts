import { CloudFormation, type CloudFormationClientConfig } from '@aws-sdk/client-cloudformation';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { EVERYTHING, modelConfig } from '../../support/fakes/fan-out-model';
import { answeredIndexes, type Compared, playIndexAnswers } from '../../support/plays/index-answers';
import { playStreamAnswers } from '../../support/plays/stream-answers';
import { playTableAnswers } from '../../support/plays/table-answers';
import { type Question, questionsOf } from './questions';
import { inStack } from './stack';

/** What a run takes, by the price lists of us-east-1; a shard is charged for each hour that begins. */
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
  /** Of the stack, and the beginning of all names in it. */
  name: string;
  /** What is compared with. */
  service: string;
  /** Waits until indexes show what was written. */
  settle(): Promise<void>;
}

/** Compares each model in one stack, and returns the report: a difference ends the comparison of its model, and no other. */
export async function compareWithAws(
  { cloudFormation, dynamodb, kinesis }: Pick<Clients, 'cloudFormation' | 'dynamodb' | 'kinesis'>,
  { name, service, settle }: ComparisonOptions,
): Promise<string> {
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
  const comparisons: Record<string, () => Promise<Compared>> = {
    'queries of an index': () =>
      playIndexAnswers(dynamodb, EVERYTHING, { calls: CALLS.index, seed: SEED, known, deployed }),
    'conditional updates, transactions and reads': () =>
      playTableAnswers(dynamodb, { calls: CALLS.table, seed: SEED, transactional: true, tableName, isThere: true }),
    'puts, splits and merges': () =>
      playStreamAnswers(kinesis, {
        ...{ calls: CALLS.stream, seed: SEED, knowsClosedShards: true, doublesAndHalves: true },
        deployed: { streamName: compared, shardCount: 2 },
      }),
  };
  return inStack(cloudFormation, resources, async () => {
    const rows: string[] = [];
    for (const [about, compare] of Object.entries(comparisons)) rows.push(await rowOf(about, compare));
    const questions = questionsOf({ dynamodb, kinesis }, { config, unequal, closed });
    const answers: string[] = [];
    for (const question of questions) answers.push(await answerOf(question));
    return `# The models, compared with ${service}

| what | calls compared | the first difference |
| --- | --- | --- |
${rows.join('\n')}

| question | the service | the model |
| --- | --- | --- |
${answers.join('\n')}
`;
  });
}

async function rowOf(about: string, compare: () => Promise<Compared>): Promise<string> {
  const [compared, difference] = await compare().then(
    (counts) => [Object.values(counts).reduce((sum, count) => sum + count, 0), 'none'] as const,
    (error: Error) => ['up to it', cellOf(error.message)] as const,
  );
  return `| ${about} | ${compared} | ${difference} |`;
}

async function answerOf({ about, service, model }: Question): Promise<string> {
  const answers = [service(), model()].map((answer) =>
    answer.catch((error: Error) => `${error.name}: ${error.message}`),
  );
  const [theirs, ours] = await Promise.all(answers);
  return `| ${about} | ${cellOf(theirs!)} | ${ours === theirs ? 'the same' : cellOf(ours!)} |`;
}

function cellOf(text: string): string {
  const cell = text.replaceAll(/\s*\n\s*/g, '<br>').replaceAll('|', '\\|');
  return cell.length > 1_500 ? `${cell.slice(0, 1_500)}…` : cell;
}
