import { createRequire } from 'node:module';
import { join } from 'node:path';
import { EvenShardsError } from '../../../lib/core/kernel/errors';

/** An emulator is not installed, either in the user's project or next to this package. */
class EmulatorMissingError extends EvenShardsError {
  constructor(readonly packageName: string) {
    super(
      'EMULATOR_MISSING',
      `a local run needs ${packageName}, which is not installed: run \`npm install --save-dev kinesis-local dynalite\``,
    );
  }
}

/** The entry file of an emulator. Searches the project first, then the packages next to this package. */
export function emulatorEntry(packageName: string): string {
  for (const origin of [join(process.cwd(), 'package.json'), __filename]) {
    try {
      return createRequire(origin).resolve(packageName);
    } catch {
      // The emulator is not installed here. Try the next folder.
    }
  }
  throw new EmulatorMissingError(packageName);
}
