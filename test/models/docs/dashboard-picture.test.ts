import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawDashboard } from '../../../scripts/dashboard/picture';
import { synthesize } from '../../../scripts/dashboard/watched-app';

const picture = readFileSync(join(__dirname, '..', '..', '..', 'docs', 'guides', 'dashboard.svg'), 'utf8');

describe('the picture of the dashboard in the guide', () => {
  test('is the output of `npm run docs:dashboard`', async () => {
    expect(await drawDashboard()).toBe(picture);
  }, 120_000);

  test('shows each alarm by its name in the state OK', () => {
    const { alarms } = synthesize();
    const [scaling, shown] = [3, picture.match(/class="ok"/g)!.length];
    expect(shown).toBe(alarms.size - scaling);
    expect(picture).not.toMatch(/class="(ALARM|INSUFFICIENT_DATA)"/);
    for (const label of ['Events Write Throttles', 'Tableby Status Write Throttles', 'Writer Failures']) {
      expect(picture).toContain(`>${label}</text>`);
    }
  });

  test('shows the limits of a shard above its traffic', () => {
    expect(picture).toContain('limit of a shard, 1 MB a second');
    expect(picture).toContain('limit of a shard, 1,000 a second');
  });
});
