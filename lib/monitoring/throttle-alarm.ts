import type { IConstruct } from 'constructs';
import { type AlarmDefinition, checkThreshold, THREE_OF_FIVE_MINUTES } from './alarm-definition';

/**
 * An alarm that is raised when more is refused than an option allows, in three minutes of five.
 *
 * @param most what the option says. By default, nothing may be refused
 * @throws an error with the code `INVALID_ARGUMENT` unless the option is a number of at least 0
 */
export function throttleAlarm(
  monitoring: IConstruct,
  option: 'maxWriteThrottles' | 'maxReadThrottles',
  most = 0,
  alarm: Pick<AlarmDefinition, 'metric' | 'description'>,
): AlarmDefinition {
  checkThreshold(monitoring, option, most, 0);
  return { ...alarm, ...THREE_OF_FIVE_MINUTES, threshold: most };
}
