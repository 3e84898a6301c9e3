import { AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment } from 'jest-environment-node';

/**
 * Node's environment for one test file, which turns off every AsyncLocalStorage that the file has used.
 *
 * jest-circus makes one for each test file and never turns it off. Before Node.js 24 every promise pays for each storage that
 * is on, so that a test that awaits much took four times as long behind a hundred other files.
 */
// biome-ignore lint/style/noDefaultExport: jest takes the default export
export default class StorageEnvironment extends TestEnvironment {
  private readonly used = new Set<AsyncLocalStorage<unknown>>();
  private readonly run = AsyncLocalStorage.prototype.run;

  override async setup(): Promise<void> {
    const { used, run } = this;
    AsyncLocalStorage.prototype.run = function (this: AsyncLocalStorage<unknown>, ...args: unknown[]) {
      used.add(this);
      return Reflect.apply(run, this, args);
    } as typeof run;
    await super.setup();
  }

  override async teardown(): Promise<void> {
    await super.teardown();
    AsyncLocalStorage.prototype.run = this.run;
    for (const storage of this.used) storage.disable();
  }
}
