import { readFileSync } from 'node:fs';
import { SERVICE_LIMITS, SERVICE_LIMITS_AS_OF, type ServiceLimit } from '../../../lib/core/planning/service-limits';

const guide = readFileSync('docs/guides/limits.md', 'utf8');

function row({ what, value, otherwise, increasedBy, source }: ServiceLimit): string {
  const allowed = value.toLocaleString('en') + (otherwise === undefined ? '' : `; ${otherwise}`);
  return `| ${what} | ${allowed} | ${increasedBy ?? 'not possible'} | ${source} |`;
}

test('the guide to limits has the service limits of the planner, with the date of the sources', () => {
  const [, rest] = guide.split('<!-- begin: SERVICE_LIMITS -->');
  const rows = rest!.slice(0, rest!.indexOf('<!-- end -->')).trim().split('\n').slice(2);
  expect(rows).toEqual(Object.values<ServiceLimit>(SERVICE_LIMITS).map(row));
  expect(guide).toContain(`as of ${SERVICE_LIMITS_AS_OF}`);
});
