/**
 * A page as a game, of decision 0048: a query asks shards, and the service gives the answers that are worst for the query. An
 * item is a block, so a read costs a block for each item, and one at least. This searches all moves of both, for
 * few shards and small pages. It knows nothing of the engine.
 */

/** A read: at most so many items of a shard, and none behind the known item of this rank. */
interface Ask {
  most: number;
  until: number;
}

/** A shard while the answers of a wave are put in order. */
interface Shard {
  /** The rank of the known item that the shard was read to. None: 0. */
  frontier: number;
  ask: Ask | undefined;
  returned: number;
  /** Whether the read ended at its bound. */
  ended: boolean;
  /** The rank of the frontier among the known items and the new ones. */
  place: number | undefined;
}

/** What a query knows: how many items, up to the page, and the ranks that the open shards were read to. */
interface Known {
  items: number;
  frontiers: readonly number[];
}

const NEVER = Number.POSITIVE_INFINITY;

/** The least number of blocks with which a query can surely fill a page of `places` from so many shards in so many waves. */
export function leastBlocks(shards: number, places: number, waves: number): number {
  const solved = new Map<string, number>();
  const least = (known: Known, left: number): number => {
    if (known.frontiers.length === 0) return 0;
    if (left === 0) return NEVER;
    const state = [left, known.items, ...known.frontiers].join();
    const before = solved.get(state);
    if (before !== undefined) return before;
    let best = NEVER;
    for (const asks of movesFrom(known, places, left === 1)) best = Math.min(best, worst(known, asks, left, best));
    solved.set(state, best);
    return best;
  };
  /** What the worst answers cost, with all further waves; or more than enough for nobody to ask so. */
  const worst = (known: Known, asks: readonly (Ask | undefined)[], left: number, enough: number): number => {
    let most = 0;
    for (const answer of answersTo(known, asks, places)) {
      most = Math.max(most, blocksOf(answer) + least(afterwards(answer, places), left - 1));
      if (most >= enough) break;
    }
    return most;
  };
  return least({ items: 0, frontiers: Array<number>(shards).fill(0) }, waves);
}

/** Every way to ask. Shards with one frontier are alike, so only one order of their reads counts. */
function* movesFrom(
  { items, frontiers }: Known,
  places: number,
  last: boolean,
  asks: (Ask | undefined)[] = [],
): Generator<(Ask | undefined)[]> {
  const frontier = frontiers[asks.length];
  if (frontier === undefined) {
    yield asks;
    return;
  }
  const most = places - frontier;
  const untils = [...Array.from({ length: items - frontier }, (_, behind) => frontier + 1 + behind), NEVER];
  const reads = untils.flatMap((until) => Array.from({ length: most }, (_, less) => ({ most: most - less, until })));
  // Only a read of everything that the page can take is sure to leave nothing open.
  const choices = last ? [{ most, until: NEVER }] : [...reads, undefined];
  const isTwin = asks.length > 0 && frontiers[asks.length - 1] === frontier;
  const from = isTwin ? choices.findIndex((choice) => isSameAsk(choice, asks.at(-1))) : 0;
  for (const ask of choices.slice(from)) yield* movesFrom({ items, frontiers }, places, last, [...asks, ask]);
}

/** The shards after a wave, and how many items the query knows then. */
interface Answer {
  shards: readonly Shard[];
  items: number;
}

/** Every order of the known items and the new ones, up to the end of the page. */
function* answersTo(
  { items, frontiers }: Known,
  asks: readonly (Ask | undefined)[],
  places: number,
): Generator<Answer> {
  function* go(shards: readonly Shard[], known: number, rank: number): Generator<Answer> {
    const next = [...shards.keys()].filter((index) => canReturn(shards, index, known));
    if (rank === places || (known === items && next.length === 0)) yield { shards, items: rank };
    if (rank === places) return;
    if (known < items)
      yield* go(
        shards.map((shard) => passing(shard, known + 1, rank + 1)),
        known + 1,
        rank + 1,
      );
    for (const index of next) {
      const shard = shards[index]!;
      yield* go(shards.with(index, { ...shard, returned: shard.returned + 1, place: rank + 1 }), known, rank + 1);
    }
  }
  const shards = frontiers.map((frontier, index): Shard => {
    return { frontier, ask: asks[index], returned: 0, ended: false, place: frontier === 0 ? 0 : undefined };
  });
  yield* go(shards, 0, 0);
}

/** The shard after the known item of this rank, which now has another. */
function passing(shard: Shard, known: number, rank: number): Shard {
  const { frontier, ask, returned } = shard;
  if (ask?.until === known && returned < ask.most) return { ...shard, ended: true, place: rank };
  return frontier === known ? { ...shard, place: rank } : shard;
}

/** Whether the next item can be of this shard. Of two shards that are alike, the first returns items first. */
function canReturn(shards: readonly Shard[], index: number, known: number): boolean {
  const { frontier, ask, returned, ended } = shards[index]!;
  if (ask === undefined || ended || returned === ask.most || frontier > known) return false;
  const before = shards[index - 1];
  return !(returned === 0 && before?.returned === 0 && before.frontier === frontier && isSameAsk(before.ask, ask));
}

/** A read that neither ended nor returned all that it asked for has returned the rest from behind the page. */
function isBehindPage({ ask, returned, ended }: Shard): boolean {
  return ask !== undefined && !ended && returned < ask.most;
}

function blocksOf({ shards }: Answer): number {
  const blocks = shards.map((shard) => {
    if (shard.ask === undefined) return 0;
    return Math.max(1, isBehindPage(shard) ? shard.ask.most : shard.returned);
  });
  return blocks.reduce((sum, each) => sum + each, 0);
}

/** A shard is open as long as the page has places behind its frontier. */
function afterwards({ shards, items }: Answer, places: number): Known {
  const frontiers = shards.filter((shard) => !isBehindPage(shard)).map(({ place = places }) => place);
  return { items, frontiers: frontiers.filter((place) => place < places).sort((a, b) => a - b) };
}

function isSameAsk(a: Ask | undefined, b: Ask | undefined): boolean {
  return a?.most === b?.most && a?.until === b?.until;
}
