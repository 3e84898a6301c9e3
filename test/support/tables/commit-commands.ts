interface CommitCommand {
  readonly command: 'plan' | 'simulate';
  args(file: string): string[];
}

/** What the guide to planning shows of the commits of 43 repositories. */
export const COMMIT_COMMANDS: readonly CommitCommand[] = [
  { command: 'plan', args: (file) => ['--input', file, '--records-per-second', '2610'] },
  { command: 'plan', args: (file) => ['--input', file, '--key', 'repository'] },
  { command: 'simulate', args: (file) => ['--input', file, '--key', 'repository', '--id', 'commit'] },
];

/** A command with what it prints, as the guide has it. */
export function fenced({ command, args }: CommitCommand, output: string): string {
  const line = `$ npx even-shards ${command} ${args('commits.ndjson.gz').join(' ')}`;
  return `\`\`\`\n${line}\n\n${output}\n\`\`\``;
}
