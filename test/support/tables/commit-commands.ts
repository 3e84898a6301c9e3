/** The arguments of the plan of the commits of 43 repositories that the guide to planning shows. */
export const commitArguments = (file: string): string[] => ['--input', file, '--key', 'repository'];

/** The command in the guide for the plan of a stream. Its output also has the plan of an index. */
export function fenced(output: string): string {
  const [stream] = output.split('\n\n\nindex:');
  const line = `$ npx even-shards plan ${commitArguments('commits.ndjson.gz').join(' ')}`;
  return `\`\`\`\n${line}\n\n${stream}\n\`\`\``;
}
