/** A message as Lambda delivers it. */
export interface QueueMessage {
  readonly messageId: string;
  readonly body: string;
  readonly messageGroupId: string;
}

interface WaitingMessage extends QueueMessage {
  receives: number;
}

/**
 * A FIFO queue of SQS with a dead-letter queue, as an event source of Lambda: a batch of one group at a time; what failed
 * comes again before what is behind it, until it was received too often.
 * Source: the Amazon SQS developer guide, dead-letter queues; the Lambda developer guide, using Lambda with Amazon SQS.
 */
export class FifoQueue {
  readonly deadLetters: WaitingMessage[] = [];
  private waiting: WaitingMessage[] = [];
  private sent = 0;

  constructor(private readonly maxReceiveCount: number) {}

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  send(messageGroupId: string, body: string): string {
    const messageId = `message-${this.sent++}`;
    this.waiting.push({ messageId, messageGroupId, body, receives: 0 });
    return messageId;
  }

  /** Delivers the first messages of each group once. `deliver` answers which of them failed. */
  async deliverOnce(deliver: (batch: readonly QueueMessage[]) => Promise<ReadonlySet<string>>): Promise<void> {
    for (const group of new Set(this.waiting.map(({ messageGroupId }) => messageGroupId))) {
      const batch = this.waiting.filter(({ messageGroupId }) => messageGroupId === group).slice(0, 10);
      for (const message of batch) message.receives += 1;
      const failed = await deliver(batch);
      const isOver = (message: WaitingMessage) =>
        batch.includes(message) && (!failed.has(message.messageId) || message.receives >= this.maxReceiveCount);
      this.deadLetters.push(...batch.filter((message) => failed.has(message.messageId) && isOver(message)));
      this.waiting = this.waiting.filter((message) => !isOver(message));
    }
  }

  /** StartMessageMoveTask: the dead letters go behind what is in the queue, in their order. */
  redrive(): void {
    for (const { messageGroupId, body } of this.deadLetters.splice(0)) this.send(messageGroupId, body);
  }
}
