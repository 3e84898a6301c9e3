import { AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment } from 'jest-environment-node';

/**
 * The Node.js environment of one test file. At its end it disables every AsyncLocalStorage that the file has used.
 *
 * jest-circus creates an AsyncLocalStorage for each test file and never disables it. Before Node.js 24, each enabled
 * storage makes every promise slower. After 100 other test files, a test with many promises took four times as long.
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
