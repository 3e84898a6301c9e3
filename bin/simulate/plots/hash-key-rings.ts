import { uniformRanges } from '../../../lib/core/stream-format/hash-key-ranges';
import { HASH_KEY_SPACE } from '../../../lib/core/stream-format/hash-key-space';
import type { SimulationReport } from '../simulation-report';
import { ALLOCATOR_BY_WEIGHT, busiestFirst, type HashKeyStrategy, PARTITION_KEY } from '../strategies';
import { circle, PLOT_WIDTH, type Plot, round, text } from './plot';

const RADIUS = 96;
const CENTRES = [PLOT_WIDTH * 0.25, PLOT_WIDTH * 0.75];
const CENTRE_Y = 150;
const MAX_KEYS = 300;

/** The hash keys on a ring, clockwise from 0 at the top to 2^128. */
export function hashKeyRings(report: SimulationReport): Plot {
  const shown = Math.min(report.keys.length, MAX_KEYS);
  return {
    title: 'The hash key space as a ring',
    caption:
      `${shown < report.keys.length ? `The ${shown} busiest keys` : 'The keys'} on the ranges of the shards. A busier key has ` +
      'a larger dot. Left: keys placed by the hash of the partition key. Right: balanced explicit hash keys.',
    width: PLOT_WIDTH,
    height: 300,
    body: [PARTITION_KEY, ALLOCATOR_BY_WEIGHT]
      .map((strategy, index) => ring(report, strategy, CENTRES[index]!))
      .join(''),
  };
}

function ring({ keys, records, shardCounts }: SimulationReport, strategy: HashKeyStrategy, centre: number): string {
  const [shards] = shardCounts as [number];
  const busiest = busiestFirst(keys).slice(0, MAX_KEYS);
  const hashKeyOf = strategy.assigner(shards);
  const at = (hashKey: bigint, radius: number) => {
    const angle = (Number(hashKey) / Number(HASH_KEY_SPACE)) * 2 * Math.PI;
    return [centre + radius * Math.sin(angle), CENTRE_Y - radius * Math.cos(angle)] as const;
  };
  const borders =
    shards > 128
      ? []
      : uniformRanges(shards).map(({ startingHashKey }) => {
          const [x1, y1] = at(startingHashKey, RADIUS - 14);
          const [x2, y2] = at(startingHashKey, RADIUS + 14);
          return `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" class="axis"/>`;
        });
  const dots = busiest.map(([key, count], n) => {
    const [x, y] = at(hashKeyOf(key, count, n), RADIUS);
    const radius = Math.max(1.6, Math.min(30, 60 * Math.sqrt(count / records)));
    return circle(
      x,
      y,
      radius,
      'class="even" fill-opacity="0.55" stroke="var(--card)" stroke-width="0.7"',
      `${key}: ${count} records`,
    );
  });
  return [
    `<circle cx="${centre}" cy="${CENTRE_Y}" r="${RADIUS}" fill="none" stroke="var(--fill)" stroke-width="28"/>`,
    ...borders,
    ...dots,
    text(centre, CENTRE_Y - 2, strategy === PARTITION_KEY ? 'partition key' : 'balanced', 'strong middle'),
    text(centre, CENTRE_Y + 16, strategy === PARTITION_KEY ? 'MD5' : 'explicit hash keys', 'soft small middle'),
  ].join('');
}
