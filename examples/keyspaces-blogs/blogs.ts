import type { Client } from 'cassandra-driver';
import {
  type FanOutSelectPage,
  fanOutSelect,
  KEYSPACES_WRITE_OPTIONS,
  type ShardedKeyspacesConfig,
  selectRow,
  shardColumns,
} from 'cdk-even-shards/keyspaces';

export interface Blog {
  publish_date: string;
  title: string;
  description: number;
}

/**
 * Writes and reads blogs with the Cassandra driver, as an application does:
 *
 *     const blogs = new Blogs(new Client({ ... }), JSON.parse(process.env.BLOGS!));
 */
export class Blogs {
  constructor(
    private readonly client: Client,
    private readonly table: ShardedKeyspacesConfig,
  ) {}

  /** Writes a blog into the shard of its title, so that a second write of the same title replaces the blog. */
  async publish(blog: Blog): Promise<void> {
    const { shard } = shardColumns(this.table, blog);
    const statement = 'INSERT INTO tracker.blogs (publish_date, shard, title, description) VALUES (?, ?, ?, ?)';
    await this.client.execute(
      statement,
      [blog.publish_date, shard, blog.title, blog.description],
      KEYSPACES_WRITE_OPTIONS,
    );
  }

  /** Reads one blog with one SELECT. */
  async find(publish_date: string, title: string): Promise<Blog | undefined> {
    const row = await selectRow(this.client, this.table, { publish_date, title });
    return row && { publish_date, title, description: row.description };
  }

  /** The blogs of a day by title, a page at a time. */
  ofDay(publish_date: string, cursor?: string): Promise<FanOutSelectPage> {
    return fanOutSelect(this.client, this.table, { value: { publish_date }, limit: 25, cursor });
  }
}
