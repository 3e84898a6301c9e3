import { counted, roughPercent } from '../../plain-text';
import { escaped, line, PLOT_STYLE, rectangle, text } from '../../simulate/plots/plot';
import { textTable } from '../../text-table';
import type { KeyCandidate, KeyComparison } from './compare-keys';

const BAR = 20;

/** A report of how evenly each field spreads the records as a partition key, and which order it keeps. */
export function keyLines({ records, recordsPerSecond, candidates }: KeyComparison): string[] {
  const rate = whole(recordsPerSecond);
  return [
    `which key? ${counted(records, 'record')}, at ${rate} a second, by each field and by the pairs that spread better`,
    '',
    ...textTable(
      [
        'partition key',
        'spreads',
        'keeps in order',
        'values',
        'at a time',
        'hottest/s',
        'bears/s',
        '10 GB at',
        'stream',
        'index',
        'the busiest value at a time',
      ],
      candidates.map((each) => [
        each.name,
        spreadOf(each),
        listed(each.order.keeps),
        each.distinct,
        roughPercent(each.shareAtATime),
        whole(each.hottestPerSecond),
        whole(each.bearsPerSecond),
        each.fullAtRecords === undefined ? 'never' : compact(each.fullAtRecords),
        each.streamShards === undefined ? 'none' : String(each.streamShards),
        String(each.indexShards),
        bar(each.shareAtATime),
      ]),
    ),
    '',
    ...candidates.flatMap((each) => [
      `  ${each.name}: spreads ${spreadOf(each)}, ${each.spread.reason} (the busiest value of all, ${each.busiest.value}, has ${roughPercent(each.busiest.share)})`,
      `  ${' '.repeat(each.name.length)}  ${orderOf(each)}`,
    ]),
    '',
    '  keeps in order  the fields whose records stay in order with this key: all records of one value have one key',
    '  at a time       the share of the busiest value in a hundredth of the sample, in the order of its time, on average',
    `  hottest/s       the records a second of that value, of ${rate} in total; one shard or partition takes 1,000`,
    '  bears/s         the total records a second at which that value uses three quarters of a shard or a partition',
    '  10 GB at        the total records at which the busiest value has 10 GB, the limit of a partition; never if most values are new',
    '  stream          the shards of a stream with this partition key, placed by MD5; none if no number of shards is enough',
    '  index           the shards of that value in an index: writes a second / 1,000, for each KB of an item',
    '',
    'No key is recommended: only you know which events must stay in order. Take the key that spreads most evenly among those',
    'that keep that order, and see the guide "A key for order". Plan with it: --key NAME',
  ];
}

/** The report as a picture. */
export function keyPicture({ records, recordsPerSecond, candidates }: KeyComparison): string {
  const [width, left, row] = [860, 260, 34];
  const height = 96 + candidates.length * row;
  const x = (share: number) => left + share * (width - left - 260);
  const title = `Which partition key? ${counted(records, 'record')}, at ${whole(recordsPerSecond)} a second`;
  const rows = candidates.map(({ name, spread, order, shareAtATime }, index) => {
    const y = 84 + index * row;
    const label = `${roughPercent(shareAtATime)}: ${order.keeps.length === 0 ? 'no order' : `order of ${listed(order.keeps)}`}`;
    return [
      text(24, y + 14, name, spread.evenly ? 'strong' : ''),
      rectangle(left, y, x(shareAtATime) - left, 18, spread.evenly ? 'even' : 'hot', spread.reason),
      text(x(shareAtATime) + 8, y + 14, label, spread.evenly ? 'small' : 'small hot'),
    ].join('');
  });
  const limit = 750 / recordsPerSecond;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>${PLOT_STYLE}</style>
<rect width="${width}" height="${height}" fill="var(--card)"/>
<text x="24" y="34" style="font-size:18px" class="strong">${escaped(title)}</text>
${text(24, 58, 'The share of the busiest value at a time. Beyond the dashed line, it uses three quarters of a shard or a partition.', 'soft')}
${rows.join('\n')}
${limit <= 1 ? line(x(limit), 72, x(limit), height - 10, 'mean') : ''}
</svg>
`;
}

function spreadOf({ spread }: KeyCandidate): string {
  return spread.evenly ? 'evenly' : 'unevenly';
}

function orderOf({ order: { keeps, breaks } }: KeyCandidate): string {
  const named = (names: readonly string[]) =>
    names
      .slice(0, MAX_NAMES)
      .map((name) => `of one ${name}`)
      .join(', ');
  const kept =
    keeps.length === 0 ? 'keeps no order, because no two records share a value' : `keeps the order ${named(keeps)}`;
  return breaks.length === 0 ? kept : `${kept}; loses the order ${named(breaks)}`;
}

/** The maximum number of field names in a line. */
const MAX_NAMES = 3;

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'nothing';
  const more = names.length - MAX_NAMES;
  return names.slice(0, MAX_NAMES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function bar(share: number): string {
  const length = Math.max(1, Math.round(share * BAR));
  return '#'.repeat(length) + '.'.repeat(BAR - length);
}

/** In thousands, millions and so on. */
function compact(count: number): string {
  return count.toLocaleString('en', { notation: 'compact', maximumSignificantDigits: 2 });
}

function whole(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 });
}
