/** Writes rows to the embedded database in argv[2] for ever and prints each id when its commit is acknowledged. */
import { openPostgres } from '../../../src/platform/drivers/postgres/driver.ts'
import { openEmbeddedPostgres } from '../../../src/platform/node/embedded/postgres.ts'

const [, , directory = '', first = '1'] = process.argv
const { connect } = await openEmbeddedPostgres({ directory })
const driver = openPostgres({ stream: connect })
await driver.query({ text: 'create table if not exists written (id int primary key, filler text)', params: [] })
for (let id = Number(first); ; id += 1) {
  const insert = { text: `insert into written values ($1, repeat('x', 500))`, params: [String(id)] }
  await (id % 2 === 0 ? driver.query(insert) : driver.batch([insert]))
  process.stdout.write(`${id}\n`)
}
