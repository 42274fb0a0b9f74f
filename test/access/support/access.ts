/** The access tests of one real database. */
import { afterAll, beforeAll, describe } from 'vitest'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import type { SqlDriver } from '../../../src/ports/database.ts'
import type { Database } from '../../property/support/database.ts'
import { announce } from '../../property/support/seed.ts'
import { createTables } from '../../support/data/items.ts'
import { describeActing } from './acting.ts'
import { describeAggregates, describeListAggregates } from './aggregates.ts'
import { describeAgreement } from './agreement.ts'
import { createLedger } from './batch.ts'
import { describeBatches } from './batches.ts'
import { describeExplanations } from './explanations.ts'
import { describeFaults } from './faults.ts'
import { describeForgedCursors } from './forged.ts'
import { model } from './library.ts'
import { describeNonInterference } from './non-interference.ts'
import { describeRegressions } from './regressions.ts'
import { describeWalks } from './walks.ts'

export type Opened = { readonly driver: SqlDriver; readonly dialect: Dialect }

export function describeAccess({ dialect, start }: Database): void {
  let driver: SqlDriver
  let close: () => Promise<void>
  const opened = (): Opened => ({ driver, dialect })

  describe(`access on ${dialect.title}`, () => {
    beforeAll(async () => {
      announce(`access on ${dialect.title}`)
      ;({ driver, close } = await start())
      await createTables(model, driver, dialect)
      await createLedger({ driver, dialect })
    })

    afterAll(() => close?.())

    describeAgreement(opened)
    describeExplanations(opened)
    describeActing(opened)
    describeAggregates(opened)
    describeListAggregates(opened)
    describeWalks(opened)
    describeNonInterference(opened)
    describeRegressions(opened)
    describeBatches(opened)
    describeFaults(opened)
    describeForgedCursors(opened)
  })
}
