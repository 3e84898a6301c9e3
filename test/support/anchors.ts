/** The anchors that a page has: its own, and those of its headings, as GitHub names and numbers them. */
export function anchorsOf(page: string): string[] {
  const anchors = [...page.matchAll(/<a id="([^"]+)">/g)].map(([, anchor]) => anchor!);
  const seen = new Map<string, number>();
  for (const [, heading] of page.matchAll(/^#+ (.+)$/gm)) {
    const name = heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const earlier = seen.get(name) ?? 0;
    seen.set(name, earlier + 1);
    anchors.push(earlier === 0 ? name : `${name}-${earlier}`);
  }
  return anchors;
}
