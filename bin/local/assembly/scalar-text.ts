/** A text, a number or a truth value as text, each of which CloudFormation takes for another; undefined for anything else. */
export function scalarText(value: unknown): string | undefined {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;
}
