import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeGuideBlock } from '../../test/support/guide-table';
import { commandOf, fenced, TRANSCRIPTS, type Transcript } from '../../test/support/transcripts';

// usage: npm run docs:transcripts
async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'transcripts-'));
  for (const transcript of TRANSCRIPTS) {
    writeGuideBlock(
      `docs/guides/${transcript.guide}.md`,
      commandOf(transcript),
      fenced(transcript, await printed(transcript, folder)),
    );
  }
  rmSync(folder, { recursive: true });
}

async function printed(transcript: Transcript, folder: string): Promise<string> {
  const lines: string[] = [];
  const { log } = console;
  console.log = (text: string) => void lines.push(text);
  try {
    await transcript.run(folder);
  } finally {
    console.log = log;
  }
  return lines.join('\n');
}

void main();
