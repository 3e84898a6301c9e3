/** The arguments of the command in the planning guide that plans for the commits of 43 repositories. */
export const commitArguments = (file: string): string[] => ['--input', file, '--key', 'repository'];

/**
 * The block in the guide with the plan of a stream. The output of the command also has the plan of an index, which the
 * block leaves out.
 */
export function fenced(output: string): string {
  const [stream] = output.split('\n\n\nthe formula of AWS');
  const line = `$ npx even-shards plan ${commitArguments('commits.ndjson.gz').join(' ')}`;
  return `\`\`\`\n${line}\n\n${stream}\n\`\`\``;
}
