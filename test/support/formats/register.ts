import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The register docs/formats.md: the cells of its tables, by the heading of their section. */
export class FormatRegister {
  private readonly text = readFileSync(join(__dirname, '..', '..', '..', 'docs/formats.md'), 'utf8');

  /** The formats in the first column of the table of formats. */
  formats(): string[] {
    return this.rows('Formats').flatMap(([formats]) => formats!.split(', '));
  }

  /** The rows of the table of names: the label of a row, and its names. */
  names(): Map<string, string[]> {
    return new Map(
      this.rows('Names').map(([label, names]) => [label!, [...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)]),
    );
  }

  /** The highest version of each format in the table of versions. */
  highestVersions(): Map<string, number> {
    const versions = new Map<string, number>();
    for (const [formats, version] of this.rows('Versions')) {
      for (const format of formats!.replace(/ \(.*\)/, '').split(', ')) {
        versions.set(format, Math.max(Number(version), versions.get(format) ?? 0));
      }
    }
    return versions;
  }

  /** The rows of the table of a section, without its header. */
  private rows(section: string): string[][] {
    const [, text = ''] = this.text.split(`\n## ${section}\n`);
    const lines = text
      .split('\n## ')[0]!
      .split('\n')
      .filter((line) => line.startsWith('|'));
    return lines.slice(2).map((line) => line.slice(2, -2).split(' | '));
  }
}
