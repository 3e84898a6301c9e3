/** Where the guides can be read by whoever gets an alarm. */
const GUIDES = 'https://github.com/cdk-even-shards/cdk-even-shards/blob/main/docs/guides';

/** A sentence for the end of an alarm's description. The heading is one of the page, as GitHub makes an anchor of it. */
export function readGuide(page: string, heading: string): string {
  return ` See ${GUIDES}/${page}.md#${heading}`;
}
