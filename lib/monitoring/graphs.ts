import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';

/** Rows of the dashboard, with at most three graphs each. */
export type Rows = cloudwatch.IWidget[][];

const WIDTH = 8;

const HEIGHT = 6;

export function graph(
  title: string,
  left: cloudwatch.IMetric[],
  props: cloudwatch.GraphWidgetProps = {},
): cloudwatch.IWidget {
  return new cloudwatch.GraphWidget({ title, left, width: WIDTH, height: HEIGHT, ...props });
}

/** The threshold of an alarm as a horizontal line. Empty if the alarm is switched off. */
export function lines(alarm?: cloudwatch.Alarm, label = 'alarm'): cloudwatch.HorizontalAnnotation[] {
  return alarm === undefined ? [] : [{ ...alarm.toAnnotation(), label }];
}
