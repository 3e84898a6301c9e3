import type { Language } from '../plan/cdk-snippet';

/** How to print keys and code. */
export interface AdviceOptions {
  readonly showKeys: boolean;
  readonly language: Language;
}
