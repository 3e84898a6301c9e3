import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { PYTHON_NEEDED } from '../../support/fetched';
import { Account, CREDENTIALS, fetchEmulator, REGION } from '../deploy/account';
import { clientsOf, compareWithAws, ESTIMATE } from './compare-with-aws';

/**
 * Compares the models with AWS, or with moto in a dry run: npm run conformance aws [-- --dry-run] [--yes] [--region R] [--report FILE].
 * The SDK finds the credentials.
 */
const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    yes: { type: 'boolean', default: false },
    region: { type: 'string' },
    report: { type: 'string', default: 'models-on-aws.md' },
  },
});

async function main(): Promise<void> {
  if (values['dry-run']) return dryRun();
  console.log(ESTIMATE);
  if (!values.yes && !(await isAgreed())) return;
  const clients = clientsOf({ ...(values.region !== undefined && { region: values.region }), maxAttempts: 10 });
  try {
    // An index usually contains a written item within a second.
    await report(compareWithAws(clients, { name: nextName(), service: 'AWS', settle: () => sleep(3_000) }));
  } finally {
    clients.destroy();
  }
}

async function dryRun(): Promise<void> {
  if (!fetchEmulator()) throw new Error(`a dry run needs ${PYTHON_NEEDED}`);
  const account = await Account.open();
  const clients = clientsOf({ region: REGION, credentials: CREDENTIALS, endpoint: account.endpoint });
  try {
    await report(
      compareWithAws(clients, { name: nextName(), service: 'moto, in place of AWS', settle: async () => {} }),
    );
  } finally {
    clients.destroy();
    await account.close();
  }
}

async function report(comparison: ReturnType<typeof compareWithAws>): Promise<void> {
  const { text, differences } = await comparison;
  writeFileSync(values.report, text);
  console.log(`${differences} differences: the report is in ${values.report}`);
  if (differences > 0) process.exitCode = 1;
}

async function isAgreed(): Promise<boolean> {
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  const reply = await prompt.question('Create the stack? (yes/no) ');
  prompt.close();
  return reply.trim() === 'yes';
}

function nextName(): string {
  return `even-shards-models-${randomBytes(4).toString('hex')}`;
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
