import fc from 'fast-check'
import { expect, it } from 'vitest'
import { applyOperations } from '../../../src/core/migration/apply.ts'
import { parseMigration } from '../../../src/core/migration/operation.ts'
import type { ModelRecords } from '../../../src/core/model/model.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { build } from '../../support/data/build.ts'
import { anyThrows, applyThrows, type RandomOptions, shapeOf } from '../../support/data/random-operations.ts'
import { context, id, workspace } from './build.ts'
import { diff, schemaOf } from './schema.ts'

/** Two models may give a column different types where a migration can change one into the other. */
const options: RandomOptions = {
  sourceId: id('_system'),
  context,
  namespaceNames: ['service_shop_x', 'service_shop_y'],
  typesOf(column) {
    const texts =
      column === 'id' || column.startsWith('n') ? ['int32', 'int64'] : (fixed[column] ?? ['string', 'string(9)'])
    return texts.map((text) => ({ type: build.type(text.replace('[]', '')), isList: text.endsWith('[]') }))
  },
}
const fixed: Readonly<Record<string, readonly string[]>> = {
  flag: ['boolean'],
  at: ['date'],
  doc: ['json'],
  tags: ['string[]'],
}

const anyModel = anyThrows({ minLength: 5, maxLength: 30 }).map(
  (throws) => applyThrows(workspace, throws, options).records,
)

it('leads to the model that the schema came from, in one step', () => {
  fc.assert(
    fc.property(anyModel.map(withoutOwnDefaults), anyModel, (before, wanted) => {
      const found = schemaOf(wanted)

      const { records } = diff(before, found)

      expect(shapeOf(records, id('_system'))).toEqual(shapeOf(wanted, id('_system')))
      expect(diff(records, found)).toEqual({ records, operations: [] })
    }),
  )
})

it('answers operations that a migration takes, and that lead to the same model', () => {
  fc.assert(
    fc.property(anyModel, anyModel, (before, wanted) => {
      const { records, operations } = diff(before, schemaOf(wanted))

      const applied = atOnce(
        applyOperations(before, parseMigration(JSON.stringify({ operations })).operations, context),
      )

      expect(byId(applied.records)).toEqual(byId(records))
    }),
  )
})

it('keeps every record that has not changed', () => {
  fc.assert(
    fc.property(anyModel, anyThrows({ minLength: 1, maxLength: 3 }), (before, throws) => {
      const wanted = applyThrows(before, throws, options).records
      const { records } = diff(before, schemaOf(wanted))

      const changed = records.primitiveFields.filter((field) => !before.primitiveFields.includes(field))
      const known = new Set(before.primitiveFields.map((field) => JSON.stringify(field)))
      expect(changed.filter((field) => known.has(JSON.stringify(field)))).toEqual([])
    }),
  )
})

/** What the service fills in stays, even where the database now counts. */
function withoutOwnDefaults(records: ModelRecords): ModelRecords {
  const primitiveFields = records.primitiveFields.map((field) =>
    field.defaultValue?.source === 'engineManaged' ? { ...field, defaultValue: null } : field,
  )
  return { ...records, primitiveFields }
}

function byId(records: ModelRecords) {
  return Object.fromEntries(
    Object.entries(records).map(([kind, list]: [string, readonly { readonly id: string }[]]) => [
      kind,
      [...list].sort((one, other) => (one.id < other.id ? -1 : 1)),
    ]),
  )
}
