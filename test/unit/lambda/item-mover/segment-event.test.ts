import { totalsWith } from '../../../../lambda/item-mover/segment-event';
import type { StrayReport } from '../../../../lib/core/sharded-index/strays/stray-report';

const strays = { misplaced: 1, unmarked: 2 };
const report = { itemsScanned: 5, strays, hidden: 3, consumedReadUnits: 2.5 } as unknown as StrayReport;

test('totalsWith – if another release wrote the earlier totals – keeps the fields that only one report has', () => {
  const earlier = { ...totalsWith(undefined, report), skipped: 7, strays: { ...strays, ofLater: 4 } };
  const { hidden: _, ...withoutHidden } = earlier;
  expect(totalsWith(withoutHidden as never, report)).toEqual({
    ...totalsWith(undefined, report),
    itemsScanned: 10,
    strays: { misplaced: 2, unmarked: 4, ofLater: 4 },
    hidden: 3,
    consumedReadUnits: 5,
    skipped: 7,
  });
});
