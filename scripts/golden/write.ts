import { writeFileSync } from 'node:fs';
import { toText } from '../../test/support/golden/json';
import type { Written } from './written';

/** Collects the output of the installed package, and writes it as JSON to the file in the first command-line argument. */
export async function write(makers: readonly (() => Promise<Written>)[]): Promise<void> {
  const written: Written = {};
  try {
    for (const make of makers) {
      // The seeded random numbers start again, so that the bytes of a format do not depend on the formats before it.
      (globalThis as unknown as { startAgain(): void }).startAgain();
      for (const [format, values] of Object.entries(await make())) written[format] = { ...written[format], ...values };
    }
    writeFileSync(process.argv[2]!, toText(written));
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
  // Requests whose response never comes must not keep the process alive.
  process.exit();
}
