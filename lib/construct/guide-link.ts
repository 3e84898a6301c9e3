/** The public address of the guides, for the descriptions of alarms. */
const GUIDES = 'https://github.com/cdk-even-shards/cdk-even-shards/blob/main/docs/guides';

/** A sentence for the end of an alarm's description. `heading` is the GitHub anchor of a heading on the page. */
export function readGuide(page: string, heading: string): string {
  return ` See ${GUIDES}/${page}.md#${heading}`;
}
