import fc from 'fast-check';
import { checkReport } from '../../../bin/check/check-report';
import { parkedReport } from '../../../bin/parked/parked-report';
import { plan } from '../../../bin/plan';
import { print, printError, printProblem, printText } from '../../../bin/print';
import { reshard } from '../../../bin/reshard';
import { shardsReport } from '../../../bin/shards/shards-report';
import { simulate } from '../../../bin/simulate';
import { textTable } from '../../../bin/text-table';
import { anyText } from '../../support/any-text';
import { printed, sampleFolder } from '../../support/command';
import { randomRuns } from '../../support/random-runs';

/** Commands print data, names and errors that come from files and services. These texts must not control the terminal. */

const samples = sampleFolder();

/** C0 and C1 escapes, changes of direction, invisible characters, and a lone surrogate. */
const CONTROLS = [
  '\u001b[2J',
  '\u001b]0;title\u0007',
  '\u009b31m',
  '\u007f',
  '\u202e',
  '\u2066',
  '\u200b',
  '\u{e0041}',
  '\ud800',
];
const BREAKS = ['\n', '\r', '\r\n', '\u000b', '\u000c', '\u0085', '\u2028', '\u2029'].map((each) => `${each}faked`);
const hostile = fc
  .array(fc.constantFrom(...CONTROLS, ...BREAKS, '\t', 'a', '"', '\\', '注'), { minLength: 1, maxLength: 8 })
  .map((parts) => `k${parts.join('')}`);

function expectHarmless(text: string): void {
  expect(text).not.toMatch(/[^\n\t\P{C}]|[\u2028\u2029]/u);
  expect(text).not.toMatch(/^faked/m);
}

/** For each command, a function that returns the output if the input contains this text. */
const COMMANDS: Record<string, (text: string) => Promise<string>> = {
  'plan --input --key': (text) => printed(plan, '--input', sampleOf(text), '--key', text),
  'plan --input': (text) => printed(plan, '--input', sampleOf(text)),
  'simulate --input': (text) => printed(simulate, '--input', sampleOf(text), '--key', text, '--shards', '2'),
  'reshard --from': (text) => printed(reshard, '--from', '1', '--from', `${text}=2`, '--to', '1', '--to', `${text}=4`),
  parked: (text) => {
    const of = { records: 1, since: new Date(0), tries: 1, dead: true };
    return printed(async () => print(parkedReport([{ ...of, partitionKey: text, lastError: text, payload: text }], 0)));
  },
  shards: (text) => {
    const shard = { shardId: text, isOpen: true, startingHashKey: 0n, endingHashKey: 2n ** 128n - 1n, parents: [text] };
    return printed(async () => print(shardsReport(text, [shard], true)));
  },
  check: (text) => {
    const finding = { id: text, stack: text, logicalId: text, effect: text, step: 'revise', text };
    return printed(async () =>
      print(
        checkReport([finding as never], {
          changes: [{ stack: text }],
          notCompared: [text],
          pathOf: () => text,
        } as never),
      ),
    );
  },
  'a table': (text) => printed(async () => print(textTable([text, 'n'], [[text, 1]]))),
};

function sampleOf(text: string): string {
  const records = Array.from({ length: 4 }, (_, n) => JSON.stringify({ [text]: `${text}${n % 2}`, other: text }));
  return samples.file('hostile.ndjson', records);
}

test.each(Object.entries(COMMANDS))(
  '%s – any text in the input – prints nothing that controls the terminal',
  async (_, run) => {
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => expectHarmless(await run(text))),
      { numRuns: randomRuns(15) },
    );
  },
);

test('printText – JSON with any text – does not change the JSON', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(hostile, anyText()), async (text) => {
      const value = { [text]: [text, 1], '\\': `\\${text}` };
      for (const json of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
        expect(JSON.parse(await printed(async () => printText(json)))).toEqual(value);
      }
    }),
    { numRuns: randomRuns(50) },
  );
});

test.each([
  ['a problem', printProblem],
  ['a line on standard error', printError],
])(
  '%s – any text in the message – prints nothing that controls the terminal or looks like a line of the command',
  (_, write) => {
    const log = jest.spyOn(console, 'error').mockImplementation(() => {});
    fc.assert(
      fc.property(hostile, (text) => {
        write(`even-shards: cannot read ${text}`);
        expectHarmless(String(log.mock.lastCall![0]));
      }),
    );
    log.mockRestore();
  },
);
