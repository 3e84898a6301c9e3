import { readFileSync } from 'node:fs';
import { printed, sampleFolder } from '../../support/command';
import { commandOf, fenced, TRANSCRIPTS } from '../../support/transcripts';

/** Compares the output of commands in the guides with the real output. */

const samples = sampleFolder();

test.each(TRANSCRIPTS.map((transcript) => [transcript.line, transcript] as const))(
  'a guide shows the real output of even-shards %s',
  async (_, transcript) => {
    const output = await printed(() => transcript.run(samples.path('.')));
    const guide = readFileSync(`docs/guides/${transcript.guide}.md`, 'utf8');
    expect(guide).toContain(
      `<!-- begin: ${commandOf(transcript)} -->\n\n${fenced(transcript, output)}\n\n<!-- end -->`,
    );
  },
);
