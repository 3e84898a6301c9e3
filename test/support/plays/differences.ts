/** A request to which a fake and a service responded differently. */
export interface Difference {
  about: unknown;
  fake: string;
  service: string;
}

/** Called for each difference: records the difference, or throws an error, which ends the test. */
export type OnDifference = (difference: Difference) => void;

export const endPlay: OnDifference = (difference) => {
  throw new Error(textOf(difference));
};

export function textOf({ about, fake, service }: Difference): string {
  return `${JSON.stringify(about)}\nthe fake:    ${fake}\nthe service: ${service}`;
}

/** Whether both responses are equal. */
export function expectSame(got: unknown, expected: unknown, about: unknown, onDifference = endPlay): boolean {
  const [fake, service] = [JSON.stringify(got), JSON.stringify(expected)];
  if (fake !== service) onDifference({ about, fake, service });
  return fake === service;
}
