import { seededRandom } from '../../../lib/testing/seeded-random';

const REPOSITORIES = 60;
const ACCOUNTS = 24;
const EVENTS = 3_000;

/** The events of "Guaranteeing Order with Kinesis Bulk Puts": repositories are created, receive commits, and some are deleted. */
export function repositoryEvents(): string[] {
  const random = seededRandom(37);
  return Array.from({ length: EVENTS }, (_, event) => {
    const number = event < REPOSITORIES ? event : Math.floor(REPOSITORIES * random());
    const account = `account-${number % ACCOUNTS}`;
    const kind = event < REPOSITORIES ? 'create' : event >= EVENTS - 5 ? 'destroy' : 'commit';
    const id = Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
    return JSON.stringify({ kind, id, repository: `${account}/project-${number}`, account });
  });
}
