import { readFileSync } from 'node:fs';

/** The tables that `npm run bench outbox` writes into the guide. Tests do not time: what they hold is what the guide says of them. */

const guide = readFileSync('docs/guides/outbox.md', 'utf8');

/** The cells of the rows of a table, by the row's name. */
function table(part: string): Map<string, string[]> {
  const begin = `<!-- begin: npm run bench outbox ${part} -->`;
  const [, rest] = guide.split(begin) as [string, string | undefined];
  if (rest === undefined) throw new Error(`the guide has no ${begin}`);
  const lines = rest.slice(0, rest.indexOf('<!-- end -->')).trim().split('\n').slice(2);
  const rows = lines.map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
  return new Map(rows.map(([name, ...cells]) => [name!, cells]));
}

const numberIn = (text: string): number => Number(text.replaceAll(',', ''));

const LOADS = [
  '1 key, round trip 0 ms',
  '1 key, round trip 20 ms',
  '10,000 keys, round trip 0 ms',
  '10,000 keys, round trip 20 ms',
  '1,000,000 keys, round trip 20 ms',
  '10,000 keys, rows of 10 kB, round trip 20 ms',
];

describe('the tables of the guide to the outbox', () => {
  const throughput = table('throughput');
  const timesTheCycle = (cell: string): number => numberIn(/\(([\d,.]+)\)$/.exec(cell)![1]!);

  test('compare every load, and each number in brackets is that of its row', () => {
    expect([...throughput.keys()]).toEqual(LOADS);
    for (const cells of throughput.values()) {
      const [cycle, ...others] = cells.map((cell) => numberIn(cell.split(' ')[0]!));
      for (const [index, rate] of others.entries()) {
        expect(timesTheCycle(cells[index + 1]!) / (rate / cycle!)).toBeCloseTo(1, 0);
      }
    }
  });

  test('say of a hot key at 20 ms what the text says: 100 times the cycle, and more', () => {
    const times = timesTheCycle(throughput.get('1 key, round trip 20 ms')![2]!);
    expect(times).toBeGreaterThanOrEqual(100);
    expect(guide).toContain(`**A hot key** goes ${times} times as fast as the cycle at 20 ms`);
  });

  test('say of many keys what the text says: 100,000 rows a second, and more', () => {
    const rate = throughput.get('10,000 keys, round trip 0 ms')![2]!.split(' ')[0]!;
    expect(numberIn(rate)).toBeGreaterThanOrEqual(100_000);
    expect(guide).toContain(`One worker relayed ${rate} rows a second`);
  });

  test('say of several workers what the text says', () => {
    const rows = table('workers');
    expect([...rows.keys()]).toEqual(['1 key', '10,000 keys', '1,000,000 keys', '10,000 keys, rows of 10 kB']);
    const twoOf = (name: string) => timesTheCycle(rows.get(name)![1]!);
    expect(twoOf('1 key')).toBeLessThan(1.15);
    for (const name of ['10,000 keys', '1,000,000 keys', '10,000 keys, rows of 10 kB']) {
      expect(twoOf(name)).toBeGreaterThanOrEqual(1.2);
    }
    expect(guide).toContain(`With 10,000 keys two relayed ${twoOf('10,000 keys')} times as many rows as one`);
  });

  test('bound the rows a second by the slower of two cores', () => {
    const rows = table('processor-time');
    expect([...rows.keys()]).toEqual([
      '200,000 rows, 1 key',
      '200,000 rows, 1 key, packs',
      '200,000 rows, 100 keys',
      '200,000 rows, 100 keys, packs',
      '200,000 rows, 10,000 keys',
      '200,000 rows, 10,000 keys, packs',
      '1,000,000 rows, 1,000,000 keys',
      '1,000,000 rows, 1,000,000 keys, packs',
      '20,000 rows of 10 kB, 1 key',
      '20,000 rows of 10 kB, 1 key, packs',
      '20,000 rows of 10 kB, 10,000 keys',
      '20,000 rows of 10 kB, 10,000 keys, packs',
    ]);
    for (const [relay, server, rate] of [...rows.values()].map((cells) => cells.map(numberIn))) {
      expect(rate! / (1_000_000 / Math.max(relay!, server!))).toBeCloseTo(1, 1);
    }
  });

  test('show that a verification takes less of the server than the relay', () => {
    const relayed = table('processor-time');
    const verified = table('verification');
    expect([...verified.keys()]).toEqual(['1 key', '100 keys', '10,000 keys']);
    for (const [keys, [aRow, idle]] of verified) {
      expect(numberIn(aRow!)).toBeLessThan(numberIn(relayed.get(`200,000 rows, ${keys}`)![1]!));
      expect(numberIn(idle!)).toBeLessThan(10);
    }
  });

  test('show a latency below 50 ms, beside that of a notification alone', () => {
    const rows = table('latency');
    expect([...rows.keys()]).toEqual(['`put` to the request to Kinesis', 'a notification alone']);
    const [median, , ninetyNinth] = rows.get('`put` to the request to Kinesis')!.map(numberIn);
    expect(median).toBeLessThan(50);
    expect(ninetyNinth).toBeLessThan(50);
  });

  test('say what the list prices make of a month', () => {
    // Source: the price lists of AWS Lambda and AWS Fargate, us-east-1, ARM, 2026.
    const [gigabyteSecond, invocation, processorHour, gigabyteHour] = [0.0000133334, 0.0000002, 0.03238, 0.00356];
    const [hours, memory] = [730, 0.5];
    const invocations = 60 * hours;
    const atOnce = invocations - invocations / 15;
    const priceOf = (what: string) => Number(new RegExp(`^\\| ${what}[^|]*\\| ([\\d.]+) \\|`, 'm').exec(guide)![1]);
    expect(priceOf('the function with 512 MiB')).toBeCloseTo(3_600 * hours * memory * gigabyteSecond, 2);
    const standby = atOnce * 0.5 * memory * gigabyteSecond + invocations * invocation;
    expect(priceOf('its invocations that find another')).toBeCloseTo(standby, 2);
    expect(priceOf('the smallest container')).toBeCloseTo(hours * (0.25 * processorHour + memory * gigabyteHour), 2);
  });

  test('show what each way to write costs', () => {
    expect([...table('writers').keys()]).toEqual([
      'plain insert',
      '`outbox.put`',
      'plain insert into `outbox.message`',
      'the lock in a statement of its own, in a transaction',
      'plain insert of 100',
      '`outbox.put_all` of 100',
    ]);
  });

  test.each(['held-snapshot', 'held-hour'])('show no fifth of %s below 0.8 of the first', (part) => {
    const fifths = table(part).get('relay, slots truncated')!.map(numberIn);
    expect(fifths).toHaveLength(5);
    expect(Math.min(...fifths)).toBeGreaterThanOrEqual(0.8);
  });
});
