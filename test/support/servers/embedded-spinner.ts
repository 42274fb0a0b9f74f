/** Opens the embedded database in argv[2], writes a row, prints `spinning` and runs a statement that takes hours. */
import { openPostgres } from '../../../src/platform/drivers/postgres/driver.ts'
import { openEmbeddedPostgres } from '../../../src/platform/node/embedded/postgres.ts'

const [, , directory = ''] = process.argv
const { connect } = await openEmbeddedPostgres({ directory })
const driver = openPostgres({ stream: connect })
const statement = (text: string) => ({ text, params: [] })
await driver.batch([
  statement('create table if not exists note (text text)'),
  statement(`insert into note values ('kept')`),
])
process.stdout.write('spinning\n')
await driver.query(statement('select count(*) from generate_series(1, 100000) a, generate_series(1, 1000000) b'))
