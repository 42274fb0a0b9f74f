/** docs/contract.md#the-model-as-a-file over random models: the file of one, applied to any other, makes it the same file. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { errorBody, ServiceError } from '../../../src/core/error.ts'
import { exportModel } from '../../../src/core/file/export/model.ts'
import { operationsBetween } from '../../../src/core/file/operations.ts'
import { printModelFile } from '../../../src/core/file/print.ts'
import { readModelFile } from '../../../src/core/file/read.ts'
import { resolveFile } from '../../../src/core/file/resolve.ts'
import { applyOperations, type MigrationContext } from '../../../src/core/migration/apply.ts'
import { parseMigration } from '../../../src/core/migration/operation.ts'
import { buildModel, type ModelRecords } from '../../../src/core/model/model.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { mariadb } from '../../../src/core/sql/mysql/dialect.ts'
import { postgres } from '../../../src/core/sql/postgres/dialect.ts'
import { build } from '../../support/data/build.ts'
import { anyThrows, applyThrows, type RandomOptions } from '../../support/data/random-operations.ts'
import { casesOr } from '../../support/run/cases.ts'
import { id, context as own, workspace } from '../migration/build.ts'

const numRuns = casesOr(100)
const seed = Number(process.env.SERVICE_TEST_SEED)

let count = 0

/** The ids of a run, one after the other. */
function newId(): string {
  count += 1
  return `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`
}

const texts: Readonly<Record<string, readonly string[]>> = {
  flag: ['boolean'],
  at: ['date', 'dateTime'],
  doc: ['json'],
}

function optionsOf(context: MigrationContext, length: number): RandomOptions {
  return {
    sourceId: id('_system'),
    context,
    namespaceNames: ['service_shop_x', 'service_shop_y'],
    typesOf(column) {
      const isNumber = column === 'id' || column.startsWith('n')
      const types = isNumber ? ['int32', 'int64'] : (texts[column] ?? [`string(${length})`, 'string(9)'])
      return types.map((text) => ({ type: build.type(text), isList: false }))
    },
  }
}

function isRefused(apply: () => unknown, reason: string): boolean {
  try {
    apply()
    return false
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return JSON.stringify(errorBody(error)).includes(reason)
  }
}

function print(records: ModelRecords, hasIds: boolean): string {
  const file = atOnce(exportModel(buildModel(1, records), 'shop'))
  return atOnce(printModelFile(hasIds ? file : { ...file, ids: new Map() }))
}

it.each([
  ['PostgreSQL', postgres],
  ['MariaDB', mariadb],
])('is the file of the other model, and then nothing is left to do, on %s', (_, dialect) => {
  const context = { ...own, dialectOf: () => dialect }
  const options = optionsOf(context, 40)
  const anyModel = anyThrows({ minLength: 3, maxLength: 40 }).map(
    (throws) => applyThrows(workspace, throws, options).records,
  )
  const plan = (text: string, records: ModelRecords) =>
    atOnce(
      operationsBetween(
        records,
        atOnce(resolveFile(atOnce(readModelFile(JSON.parse(text))), records, { workspace: 'shop', newId })).records,
      ),
    )

  fc.assert(
    fc.property(anyModel, anyModel, fc.boolean(), (wanted, before, hasIds) => {
      const text = print(wanted, hasIds)

      const operations = parseMigration(JSON.stringify({ operations: plan(text, before) })).operations
      const apply = () => atOnce(applyOperations(before, operations, context))
      // Where a new column cannot come before the last old one goes, MariaDB has no way.
      if (dialect === mariadb && isRefused(apply, 'no tables without columns')) return
      // No name of the database goes from one to another at once.
      if (isRefused(apply, 'is given up by')) return
      const { records } = apply()

      expect(print(records, false)).toBe(print(wanted, false))
      expect(plan(text, records)).toEqual([])
      expect(plan(print(wanted, true), wanted)).toEqual([])
    }),
    { numRuns, ...(Number.isNaN(seed) ? {} : { seed }) },
  )
})
