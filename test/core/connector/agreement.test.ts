/** Columns that two relations share, where a connector has the rows: compared as databases compare them. */
import { expect, it } from 'vitest'
import type { Step } from '../../../src/core/plan/plan.ts'
import { all, none } from '../../../src/core/query/filter.ts'
import { unbound } from '../../../src/core/query/placeholder.ts'
import { runProgram } from '../../../src/sources/connector/program.ts'
import { build } from '../../support/data/build.ts'
import { column } from '../plan/blog.ts'

const model = build.model({ docs: { id: 'int64', price: 'decimal?' } })
const docs = model.byName.get('docs')
if (docs === undefined) throw new Error('there are no docs')
const slot = { number: 0, collection: docs }
const field = column(docs, 'price')

it.each([
  { kept: '1.0', given: '1.00', agrees: true },
  { kept: '1.0', given: '1.01', agrees: false },
  { kept: null, given: '1.0', agrees: false },
  { kept: '1.0', given: null, agrees: false },
  { kept: null, given: null, agrees: false },
])('$kept agrees with $given: $agrees', async ({ kept, given, agrees }) => {
  const sending = {
    reads: { byKey: async () => [({ dbName }: { readonly dbName: string }) => (dbName === 'id' ? '1' : kept)] },
  } as unknown as Parameters<typeof runProgram>[0]['sending']
  const find = { into: slot, matches: [], where: all, order: [], cut: undefined, assertion: undefined, count: 1 }
  const steps: readonly Step[] = [
    {
      kind: 'find',
      ...find,
      most: undefined,
      index: undefined,
      provided: undefined,
      absent: undefined,
      lock: 'change',
    },
    {
      ...{ kind: 'agree', slot, cells: [{ field, value: { kind: 'text', text: given } }], where: none },
      ...{ provided: undefined, number: 1, path: 'author', reason: 'sets price to another value' },
    },
  ]

  const plan = { kind: 'program', steps, selection: [] } as const
  const written = runProgram({ sending, plan, bindings: unbound, selection: [] })

  if (agrees) expect(await written).toEqual([])
  else await expect(written).rejects.toThrow('Failed to execute query')
})
