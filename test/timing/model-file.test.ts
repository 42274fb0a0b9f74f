/**
 * Model files: planning one, applying it in memory and writing it again grow as the model does, whatever it has many of, in parts
 * that are short.
 */
import { expect, it } from 'vitest'
import { changesBetween } from '../../src/core/file/changes.ts'
import { exportModel } from '../../src/core/file/export/model.ts'
import type { ModelFile } from '../../src/core/file/file.ts'
import { operationsBetween } from '../../src/core/file/operations.ts'
import { printModelFile } from '../../src/core/file/print.ts'
import { readModelFile } from '../../src/core/file/read.ts'
import { resolveFile } from '../../src/core/file/resolve.ts'
import { compileManifest } from '../../src/core/manifest.ts'
import { applyOperations } from '../../src/core/migration/apply.ts'
import { buildModel, type ModelRecords, modelOf, noRecords } from '../../src/core/model/model.ts'
import { atOnce, type Parts } from '../../src/core/parts.ts'
import { context, workspace } from '../core/migration/build.ts'
import { growth, LINEAR, repeatUntilCalm } from '../support/run/work.ts'

type Fields = Record<string, unknown>

const many = (count: number, make: (at: number) => readonly [string, unknown]): Fields =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => make(at)))
const two = (fields: Fields, indexes: readonly string[] = []) => ({
  one: { fields: { id: 'int64', ...fields }, indexes },
  other: { fields: { id: 'int64' } },
})
const plan = (file: ModelFile, records: ModelRecords, newId: () => string) => {
  const resolved = atOnce(resolveFile(file, records, { workspace: 'shop', newId }))
  return atOnce(operationsBetween(records, resolved.records))
}
const columns = (count: number) => many(count, (at) => [`f${at}`, 'string?'])

it.each<readonly [string, number, (count: number) => Fields]>([
  ['collections', 250, (count) => many(count, (at) => [`c${at}`, { fields: { id: 'int64 auto', name: 'string' } }])],
  ['namespaces', 250, (count) => many(count, (at) => [`c${at}`, { fields: { id: 'int64' }, namespace: `n${at}` }])],
  [
    'collections in a row',
    250,
    (count) =>
      many(count, (at) => [`c${at}`, { fields: { id: 'int64', ...(at > 0 && { up: { to: `c${at - 1}` } }) } }]),
  ],
  ['columns of a collection', 390, (count) => two(columns(count))],
  ['indexes of a collection', 250, (count) => two(columns(count), Object.keys(columns(count)))],
  [
    'relations of a collection',
    250,
    (count) => two(many(count, (at) => [`r${at}`, { to: 'other?', opposite: `o${at}` }])),
  ],
  [
    'junctions of a collection',
    200,
    (count) => two(many(count, (at) => [`r${at}`, { many: 'other', opposite: `o${at}`, through: `t${at}` }])),
  ],
])('%s', async (_, size, collectionsOf) => {
  const times = await growth((count) => {
    const file = { version: 1, collections: collectionsOf(count) }
    return () => {
      let ids = 0
      const newId = () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`
      const read = atOnce(readModelFile(file))
      const planned = plan(read, workspace, newId)
      const { records } = atOnce(applyOperations(workspace, planned, context))
      const written = atOnce(exportModel(buildModel(1, records), 'shop'))
      atOnce(changesBetween(read, written))
      expect(plan({ ...read, ids: written.ids }, records, newId)).toEqual([])
      atOnce(applyOperations(records, atOnce(operationsBetween(records, workspace)), context))
    }
  }, size)

  expect(times).toBeLessThan(LINEAR)
})

/** The part of all the work that a step may be. */
const ONE_GO = 0.08

it('is never long in one go, nor is the manifest', async () => {
  const collections = many(1_600, (at) => [
    `c${at}`,
    { fields: { id: 'int64 auto', name: 'string', up: { to: `c${Math.max(0, at - 1)}`, opposite: `down${at}` } } },
  ])
  const longestShare = () => {
    let ids = 0
    const newId = () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`
    const begin = performance.now()
    const read = timed(readModelFile({ version: 1, collections }))
    const resolved = timed(resolveFile(read.result, workspace, { workspace: 'shop', newId }))
    const operations = timed(operationsBetween(workspace, resolved.result.records))
    const applied = timed(applyOperations(workspace, operations.result, context))
    const model = timed(modelOf(1, applied.result.records, noRecords))
    const written = timed(exportModel(model.result, 'shop'))
    const steps = [read, resolved, operations, applied, model, written]
    const others = [timed(printModelFile(written.result)), timed(compileManifest(model.result))]
    return Math.max(...[...steps, ...others].map(({ longest }) => longest)) / (performance.now() - begin)
  }

  expect(await repeatUntilCalm(longestShare, (share) => share < ONE_GO)).toBeLessThan(ONE_GO)
})

function timed<Result>(parts: Parts<Result>): { readonly result: Result; readonly longest: number } {
  let longest = 0
  for (let start = performance.now(); ; ) {
    const { done, value } = parts.next()
    const end = performance.now()
    longest = Math.max(longest, end - start)
    if (done === true) return { result: value, longest }
    start = end
  }
}
