import { readFileSync } from 'node:fs';
import { printed, sampleFolder } from '../../support/command';
import { commandOf, fenced, TRANSCRIPTS } from '../../support/transcripts';

/** What the guides show of a command is what it prints. */

const samples = sampleFolder();

test.each(TRANSCRIPTS.map((transcript) => [transcript.line, transcript] as const))(
  'a guide shows what it prints: even-shards %s',
  async (_, transcript) => {
    const output = await printed(() => transcript.run(samples.path('.')));
    const guide = readFileSync(`docs/guides/${transcript.guide}.md`, 'utf8');
    expect(guide).toContain(
      `<!-- begin: ${commandOf(transcript)} -->\n\n${fenced(transcript, output)}\n\n<!-- end -->`,
    );
  },
);
