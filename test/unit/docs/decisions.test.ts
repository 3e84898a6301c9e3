import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(__dirname, '..', '..', '..', 'docs', 'decisions');
const decisions = readdirSync(folder).filter((name) => /^\d{4}-.*\.md$/.test(name));
const list = read('README.md');

describe('the decisions', () => {
  test.each(decisions)('%s has a number, a status, and its position in the list', (name) => {
    const [title = '', , status = ''] = read(name).split('\n');
    expect(title).toMatch(new RegExp(`^# ${name.slice(0, 4)} .+`));
    expect(status).toMatch(/^Status: (accepted|superseded by \[\d{4}\]\(.+\))(, |$)/);
    expect(list).toContain(`- [${title.slice(2)}](${name})`);
  });

  test.each(decisions)('%s has a summary in two sentences that begins with "Today"', (name) => {
    const [, today = ''] = /^\*\*Today:\*\* (.*?)\n\n/ms.exec(read(name).split('\n').slice(4).join('\n')) ?? [];
    expect(today.split(/(?<=\.)\s+(?=[A-Z`])/)).toHaveLength(2);
  });

  test('are exactly the decisions in the list', () => {
    const listed = [...list.matchAll(/\]\((\d{4}-.+\.md)\)$/gm)].map(([, name]) => name);
    expect(listed).toEqual([...decisions].sort());
  });

  test.each(decisions)('%s has a link to each decision that amends it', (name) => {
    for (const [, other] of read(name).matchAll(/^Status: .*\bamends \[\d{4}\]\(([^)]+)\)/gm)) {
      expect(read(other!)).toMatch(new RegExp(`^Status: .*amended by \\[\\d{4}\\]\\(${name}\\)`, 'm'));
    }
  });
});

function read(name: string): string {
  return readFileSync(join(folder, name), 'utf8');
}
