/** docs/contract.md#idempotency: a source is given a ledger of writes once, and loses it again; the system database has its own. */
import { expect, it } from 'vitest'
import { withApplied } from '../../../src/core/migration/renames.ts'
import { isLedger, ledgerColumns, ledgerOf } from '../../../src/core/sql/write/ledger-table.ts'
import { blog, createCollection, id, migrate, refusal, toDbName, updateCollection, workspace } from './build.ts'

const create = (source: string) => ({ kind: 'createIdempotencyLedger', data: { sourceId: id(source) } })
const remove = (source: string) => ({ kind: 'deleteIdempotencyLedger', data: { sourceId: id(source) } })

it('is a table of the source, which an introspection passes over', () => {
  const { records, changes } = migrate(workspace, create('crm'))

  const [table] = changes.map(({ change }) => change)
  expect(changes.map(({ sourceId, change }) => [sourceId, change.kind])).toEqual([
    [id('crm'), 'createTable'],
    [id('crm'), 'createIndex'],
  ])
  expect(records.sources.find((source) => source.id === id('crm'))).toMatchObject({ ledgerSchema: '' })
  expect(table?.kind === 'createTable' && isLedger({ ...table.table, columns: table.columns })).toBe(true)
})

it('is gone with its table', () => {
  const { records, changes } = migrate(workspace, create('crm'), remove('crm'))

  expect(records).toEqual(workspace)
  expect(changes.at(-1)?.change).toEqual({ kind: 'dropTable', table: ledgerOf({ id: id('crm'), ledgerSchema: '' }) })
})

it.each([
  ['a second one', [create('crm'), create('crm')], 'operations[1] > the source crm has a ledger'],
  ['none to delete', [remove('crm')], 'operations[0] > the source crm has no ledger'],
  ['the system database', [create('_system')], 'operations[0] > the system database has a ledger, which stays'],
  ['a connector', [create('search')], 'operations[0] > the source search does not support migrations'],
  ['an unknown source', [create('?')], `operations[0] > unknown source ${id('?')}`],
])('is refused: %s', (_, operations, reason) => {
  expect(refusal(workspace, ...operations)).toBe(reason)
})

it.each([
  ['a new table', createCollection('service_ledger_12345678')],
  ['a table that is renamed', updateCollection('articles', toDbName('Service_Ledger_x'))],
])('gives no name to a collection: %s', (_, operation) => {
  expect(refusal(blog, operation)).toMatch(/^operations\[0\] > the table service_ledger_\w+ has a name of ledgers$/i)
})

it('is what it is now where a migration did not come to its end', () => {
  const made = migrate(workspace, create('crm'))
  const { changes } = migrate(made.records, remove('crm'))

  const half = withApplied(workspace, { applied: made.changes, touched: made.changes })
  const whole = withApplied(made.records, { applied: changes, touched: changes })
  const unknown = withApplied(made.records, { applied: [], touched: changes })

  expect([half, whole, unknown]).toEqual([made.records, workspace, made.records])
})

it.each([
  ['another name', 'service_log', ledgerColumns],
  ['other columns', 'service_ledger_of_others', [{ dbName: 'scope' }]],
])('is no table of %s', (_, dbName, columns) => {
  expect(isLedger({ dbName, columns })).toBe(false)
})
