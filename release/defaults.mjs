/**
 * The values that a text of `@default` names: its numbers, its words such as true, and the code and quoted texts before the
 * first comma or colon. The rest explains the value. Two texts with the same values describe the same default, so a better
 * wording is not a break.
 */
export function defaultValues(text) {
  const [value] = text.split(/[,:;] /, 1);
  const names = value.match(/`[^`]+`|'[^']*'/g) ?? [];
  const numbers = text.match(/\d[\d,._]*\d|\d|\b(true|false|undefined|none)\b/g) ?? [];
  return [...names, ...numbers.map((number) => number.replaceAll(/[,_]/g, ''))].join(' ');
}
