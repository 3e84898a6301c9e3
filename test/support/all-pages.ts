/** Reads all pages of a query, one after the other. */
export async function allPages<P extends { cursor?: string }>(
  pageAt: (cursor: string | undefined) => Promise<P>,
): Promise<P[]> {
  const pages: P[] = [];
  do pages.push(await pageAt(pages.at(-1)?.cursor));
  while (pages.at(-1)!.cursor !== undefined);
  return pages;
}
