import { StatisticsCounter } from '../../../../lib/core/producer/statistics-counter';

test.each(['constructor', '__proto__', 'toString', 'InternalFailure'])(
  'attempts that failed with the code %s are counted',
  (code) => {
    const counter = new StatisticsCounter();
    for (let attempt = 0; attempt < 3; attempt++) counter.failed(code);
    const { errorsByCode, allErrors } = counter.snapshot();
    expect(Object.entries(errorsByCode)).toEqual([[code, 3]]);
    expect(allErrors).toBe(3);
  },
);
