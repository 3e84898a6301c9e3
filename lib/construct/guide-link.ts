/** The public address of the guides, for the descriptions of alarms and for the output of commands. */
const GUIDES = 'https://github.com/cdk-even-shards/cdk-even-shards/blob/main/docs/guides';

/** The address of a heading of a guide. `heading` is its GitHub anchor. */
export function guideAddress(page: string, heading: string): string {
  return `${GUIDES}/${page}.md#${heading}`;
}

/** A sentence for the end of an alarm's description. `heading` is the GitHub anchor of a heading on the page. */
export function readGuide(page: string, heading: string): string {
  return ` See ${guideAddress(page, heading)}`;
}
