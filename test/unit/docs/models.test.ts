import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as testing from '../../../lib/testing';

const FOLDER = 'docs';
const text = readFileSync('docs/models.md', 'utf8');

describe('the register of models', () => {
  test.each([...text.matchAll(/\]\((?!https:)([^)]+)\)/g)].map(([, path]) => path!))(
    'names an existing file: %s',
    (path) => {
      expect(existsSync(join(FOLDER, path))).toBe(true);
    },
  );

  test('lists every model that lib/testing exports', () => {
    const models = Object.keys(testing).filter((name) => /^[A-Z][a-z]/.test(name) && name !== 'VirtualClock');
    expect(models).toContain('FakeKinesis');
    expect(models.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });
});
