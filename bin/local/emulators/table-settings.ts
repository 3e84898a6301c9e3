import type { JsonItem } from '../json-item';
import { type Call, invalid, ok, type ServiceAnswer } from './gated-service';

/** The operations on settings of tables and of the account that dynalite does not have. */
export class TableSettings {
  /** The time to live of each table, by its name. */
  private readonly timeToLive = new Map<string, JsonItem>();

  constructor(private readonly call: Call) {}

  /** Undefined for another operation. */
  answer(operation: string, input: JsonItem): Promise<ServiceAnswer> | undefined {
    if (operation === 'DescribeLimits') return Promise.resolve(ok(DEFAULT_QUOTAS));
    if (operation === 'DescribeContinuousBackups') return this.ofTable(input, () => NO_BACKUPS);
    if (operation === 'DescribeTimeToLive') return this.ofTable(input, () => this.described(input.TableName));
    if (operation === 'UpdateTimeToLive') return this.updateTimeToLive(input);
    return undefined;
  }

  /** Stores the setting. A local run deletes no items, as the guide says. */
  private async updateTimeToLive({ TableName, TimeToLiveSpecification: setting }: JsonItem): Promise<ServiceAnswer> {
    if (typeof setting?.Enabled !== 'boolean' || !setting.AttributeName) {
      return invalid('TimeToLiveSpecification must have Enabled and AttributeName');
    }
    const isEnabled = this.timeToLive.has(TableName);
    if (setting.Enabled === isEnabled) return invalid(`TimeToLive is already ${isEnabled ? 'enabled' : 'disabled'}`);
    return this.ofTable({ TableName }, () => {
      if (setting.Enabled) this.timeToLive.set(TableName, setting);
      else this.timeToLive.delete(TableName);
      return { TimeToLiveSpecification: setting };
    });
  }

  private described(tableName: string): object {
    const AttributeName = this.timeToLive.get(tableName)?.AttributeName;
    const status = { TimeToLiveStatus: AttributeName === undefined ? 'DISABLED' : 'ENABLED' };
    return { TimeToLiveDescription: { ...status, ...(AttributeName !== undefined && { AttributeName }) } };
  }

  private async ofTable({ TableName }: JsonItem, output: () => object): Promise<ServiceAnswer> {
    const described = await this.call('DescribeTable', { TableName });
    return described.status === 200 ? ok(output()) : described;
  }
}

/** The default quotas of an account. Source: the developer guide, "Quotas". */
const DEFAULT_QUOTAS = {
  AccountMaxReadCapacityUnits: 80_000,
  AccountMaxWriteCapacityUnits: 80_000,
  TableMaxReadCapacityUnits: 40_000,
  TableMaxWriteCapacityUnits: 40_000,
};

const NO_BACKUPS = {
  ContinuousBackupsDescription: {
    ContinuousBackupsStatus: 'ENABLED',
    PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'DISABLED' },
  },
};
