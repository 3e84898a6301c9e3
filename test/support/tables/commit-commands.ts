/** The arguments of the plan of the commits of 43 repositories that the guide to planning shows. */
export const commitArguments = (file: string): string[] => ['--input', file, '--key', 'repository'];

/** The command with what it prints, as the guide has it. */
export function fenced(output: string): string {
  const line = `$ npx even-shards plan ${commitArguments('commits.ndjson.gz').join(' ')}`;
  return `\`\`\`\n${line}\n\n${output}\n\`\`\``;
}
