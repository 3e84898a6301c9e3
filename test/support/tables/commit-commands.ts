/** The arguments of the plan of the commits of 43 repositories that the guide to planning shows. */
export const commitArguments = (file: string): string[] => ['--input', file, '--key', 'repository'];

/** The command with the plan of a stream, as the guide has it. The plan of an index follows it in the output. */
export function fenced(output: string): string {
  const [stream] = output.split('\n\n\nindex:');
  const line = `$ npx even-shards plan ${commitArguments('commits.ndjson.gz').join(' ')}`;
  return `\`\`\`\n${line}\n\n${stream}\n\`\`\``;
}
